"""What the Hermes plugin makes of Hermes' requests."""

import base64
import copy
import json
import os
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "hermes"))
import omni_run_hermes  # noqa: E402

PREFIX = "## Injected Project Docs\n\n### a.md\n```\n\ttabs, é, 世界, 👩‍👩‍👧\r\n```\n\n"
MIME = {"png": "image/png", "pdf": "application/pdf"}


class FakeHermes:
    """A Hermes with a transcript: just what the plugin sees of it."""

    def __init__(self, session="s1", platform="cli", **context):
        self.session, self.platform = session, platform
        self.context = {"api_mode": "chat_completions", "provider": "p", "model": "m", **context}
        self.messages = []
        self.hooks = {}
        omni_run_hermes.register(self)

    def register_hook(self, name, callback):
        self.hooks[name] = callback

    register_middleware = register_hook

    def call(self, name, **arguments):
        callback = self.hooks.get(name)
        return callback(**arguments) if callback else None

    def say(self, text, session=None, platform=None, messages=None):
        """A turn: the hook before it, and the request that Hermes would send."""
        messages = self.messages if messages is None else messages
        session, platform = session or self.session, platform or self.platform
        messages.append({"role": "user", "content": text})
        self.call("pre_llm_call", session_id=session, user_message=text, conversation_history=list(messages),
                  is_first_turn=len(messages) == 1, platform=platform)
        return self.send(session, platform, messages)

    def answer(self):
        self.messages.append({"role": "assistant", "content": "yes"})

    def send(self, session=None, platform=None, messages=None):
        messages = self.messages if messages is None else messages
        return self.middleware({"messages": [{"role": "system", "content": "SYS"}, *messages]}, session, platform)

    def middleware(self, request, session=None, platform=None):
        before = copy.deepcopy(request)
        result = self.call("llm_request", request=request, session_id=session or self.session,
                           platform=platform or self.platform, **self.context)
        assert request == before, "Hermes' own request is left alone"
        return result["request"] if result else request


class HermesPlugin(unittest.TestCase):
    def launch(self, prefix=PREFIX, display=None, instructions=None, files=(), takes=("image", "pdf"), **rest):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        attachments = []
        for name in files:
            kind = name.rsplit(".", 1)[1]
            path = self.write(name, f"bytes of {name}")
            attachments.append({"path": path, "mime": MIME[kind], "kind": kind, "name": name})
        spec = {
            "version": 1,
            "prefix_file": self.write("prefix.txt", prefix),
            "display_file": self.write("display.txt", display),
            "instructions_file": self.write("instructions.md", instructions),
            "attachments": attachments,
            "receipt_file": str(self.folder / "receipt.jsonl"),
            "resume": False,
            **rest,
        }
        environment = mock.patch.dict(os.environ, OMNI_RUN_PLUGIN=self.write("plugin.json", json.dumps(spec)))
        environment.start()
        self.addCleanup(environment.stop)
        judgement = mock.patch.object(omni_run_hermes, "modalities", lambda *_: set(takes))
        judgement.start()
        self.addCleanup(judgement.stop)

    def write(self, name, text):
        if text is None:
            return None
        path = self.folder / name
        path.write_bytes(text.encode())
        return str(path)

    def receipt(self):
        path = self.folder / "receipt.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def event(self, name):
        return next(line for line in self.receipt() if line["event"] == name)

    def contents(self, request):
        return [message["content"] for message in request["messages"]]

    def test_the_block_stands_in_front_of_the_first_message_in_every_request(self):
        self.launch()
        hermes = FakeHermes()
        self.assertEqual(self.contents(hermes.say("hello\n")), ["SYS", PREFIX + "hello\n"])
        hermes.answer()
        self.assertEqual(self.contents(hermes.say("again")), ["SYS", PREFIX + "hello\n", "yes", "again"])
        self.assertEqual(self.event("raw")["text"], "hello\n")
        self.assertEqual(self.event("acted")["bytes"], len(PREFIX.encode()))
        self.assertEqual(len(self.receipt()), 2)

    def test_the_display_text_replaces_a_stub_or_a_stripped_text(self):
        for typed, sent in [("(stub)", "(stub)"), ("--dash x\n\n", "--dash x")]:
            self.launch(display="--dash x\n\n")
            hermes = FakeHermes()
            hermes.say(typed)
            hermes.messages[0]["content"] = sent
            self.assertEqual(self.contents(hermes.send()), ["SYS", PREFIX + "--dash x\n\n"])

    def test_context_that_other_plugins_added_stays(self):
        self.launch(display="shown")
        hermes = FakeHermes()
        hermes.say("stub")
        hermes.messages[0]["content"] = "stub\n\nmemory"
        self.assertEqual(self.contents(hermes.send()), ["SYS", PREFIX + "shown\n\nmemory"])

    def test_on_resume_the_first_message_has_the_block(self):
        self.launch(resume=True, first_message=omni_run_hermes.fingerprint("first\n"))
        hermes = FakeHermes()
        hermes.messages = [{"role": "user", "content": "first"}, {"role": "assistant", "content": "yes"}]
        self.assertEqual(self.contents(hermes.say("second")), ["SYS", PREFIX + "first", "yes", "second"])

    def test_on_resume_of_a_compacted_session_nothing_carries_the_block(self):
        for launch in [{}, {"first_message": omni_run_hermes.fingerprint("first")}]:
            self.launch(resume=True, instructions="RULES", **launch)
            hermes = FakeHermes()
            hermes.messages = [{"role": "user", "content": "[CONTEXT COMPACTION — REFERENCE ONLY] …"}]
            request = hermes.say("second")
            self.assertEqual(self.contents(request)[0], "SYS\n\nRULES")
            self.assertNotIn(PREFIX, json.dumps(request, ensure_ascii=False))
            self.assertEqual(self.receipt(), [])

    def test_after_a_compaction_only_a_kept_first_message_carries_the_block(self):
        self.launch(instructions="RULES")
        hermes = FakeHermes()
        hermes.say("first")
        kept = [{"role": "user", "content": "first"}, {"role": "user", "content": "[CONTEXT COMPACTION …"}]
        carried = self.contents(hermes.send("s2", messages=kept))
        self.assertEqual(carried[1:], [PREFIX + "first", kept[1]["content"]])
        gone = [{"role": "user", "content": "[CONTEXT COMPACTION …"}, {"role": "user", "content": "second"}]
        self.assertEqual(self.contents(hermes.send("s2", messages=gone)), ["SYS\n\nRULES", gone[0]["content"], "second"])

    def test_subagents_get_nothing_and_later_sessions_no_block(self):
        self.launch(instructions="RULES")
        hermes = FakeHermes()
        child = hermes.say("child's task", session="c", platform="subagent", messages=[])
        self.assertEqual(self.contents(child), ["SYS", "child's task"])
        hermes.call("subagent_start", child_session_id="d", parent_session_id="s1")
        self.assertEqual(self.contents(hermes.say("task", session="d", messages=[])), ["SYS", "task"])
        self.assertEqual(self.receipt(), [])
        hermes.say("first")
        other = hermes.say("other", session="s2", messages=[])
        self.assertEqual(self.contents(other), ["SYS\n\nRULES", "other"])

    def test_an_old_conversation_opened_inside_hermes_gets_nothing(self):
        self.launch()
        hermes = FakeHermes()
        hermes.messages = [{"role": "user", "content": "old"}, {"role": "assistant", "content": "yes"}]
        self.assertEqual(self.contents(hermes.say("more")), ["SYS", "old", "yes", "more"])

    def test_instructions_end_the_system_prompt_of_each_format(self):
        self.launch(instructions="RULES")
        hermes = FakeHermes()
        self.assertEqual(self.contents(hermes.say("x"))[0], "SYS\n\nRULES")
        user = [{"role": "user", "content": "x"}]
        cached = [{"type": "text", "text": "SYS", "cache_control": {"type": "ephemeral"}}]
        self.assertEqual(hermes.middleware({"messages": user, "system": cached})["system"],
                         [{**cached[0], "text": "SYS\n\nRULES"}])
        self.assertEqual(hermes.middleware({"messages": user, "system": "SYS"})["system"], "SYS\n\nRULES")
        self.assertEqual(hermes.middleware({"input": user, "instructions": "SYS"})["instructions"], "SYS\n\nRULES")
        self.assertEqual(hermes.middleware({"messages": user})["messages"][0], {"role": "system", "content": "RULES"})

    def test_attachments_in_each_format(self):
        formats = {
            "chat_completions": ["text", "image_url", "file"],
            "anthropic_messages": ["text", "image", "document"],
            "codex_responses": ["input_text", "input_image", "input_file"],
        }
        for api_mode, kinds in formats.items():
            self.launch(files=["x.png", "y.pdf"])
            hermes = FakeHermes(api_mode=api_mode)
            key = "input" if api_mode == "codex_responses" else "messages"
            hermes.say("look")
            request = hermes.middleware({key: [{"role": "user", "content": "look"}]})
            parts = request[key][0]["content"]
            self.assertEqual([part["type"] for part in parts], kinds)
            self.assertEqual(parts[0]["text"], PREFIX + "look")
            self.assertIn(base64.b64encode(b"bytes of x.png").decode(), json.dumps(parts[1]))
            self.assertEqual(self.event("acted")["attachments"], 2)

    def test_parts_that_are_there_stay(self):
        self.launch(files=["x.png"])
        hermes = FakeHermes()
        hermes.say("look")
        cached = {"type": "text", "text": "look", "cache_control": {"type": "ephemeral"}}
        request = hermes.middleware({"messages": [{"role": "user", "content": [cached]}]})
        parts = request["messages"][0]["content"]
        self.assertEqual(parts[0], {**cached, "text": PREFIX + "look"})
        self.assertEqual(parts[1]["type"], "image_url")

    def test_what_hermes_writes_for_a_pasted_image_was_not_typed(self):
        self.launch()
        hermes = FakeHermes()
        text = {"type": "text", "text": "look\n\n[Image attached at: /a b.png]\n[Image attached: http://x/y.png]"}
        image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
        request = hermes.say([text, image])
        self.assertEqual(self.contents(request)[1][0]["text"], PREFIX + text["text"])
        self.assertEqual(self.event("raw")["text"], "look")
        self.launch()
        FakeHermes().say("a\n\n[Image attached at: typed by hand]")
        self.assertEqual(self.event("raw")["text"], "a\n\n[Image attached at: typed by hand]")

    def test_what_the_model_does_not_take_goes_by_path(self):
        self.launch(files=["x.png"], takes=())
        path = str(self.folder / "x.png")
        header = f"Please examine the following file(s):\n{path}\n\n"
        self.assertEqual(self.contents(FakeHermes().say("look"))[1], header + PREFIX + "look")
        self.assertEqual(self.event("by_path")["path"], path)

    def test_a_path_that_the_block_names_already_is_not_named_twice(self):
        self.assertEqual(omni_run_hermes.by_path_header(["/a/x.png"], "head:\n/a/x.png\n\n"), "")

    def test_a_failure_costs_the_block_not_the_run(self):
        self.launch(prefix_file="/nonexistent/prefix.txt")
        self.assertEqual(self.contents(FakeHermes().say("hello")), ["SYS", "hello"])
        self.assertIn("FileNotFoundError", self.event("error")["message"])
        self.launch()
        os.environ["OMNI_RUN_PLUGIN"] = "/nonexistent/plugin.json"
        self.assertEqual(self.contents(FakeHermes().say("hello")), ["SYS", "hello"])
        self.launch()
        hermes = FakeHermes()
        hermes.say("hello")
        self.assertIsNone(hermes.call("llm_request", request={"messages": 5}, session_id="s1", platform="cli"))
        self.assertIn("TypeError", self.event("error")["message"])


if __name__ == "__main__":
    unittest.main()
