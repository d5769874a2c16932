"""omni-run's request plugin for Hermes, loaded for one launch as an entry-point package on PYTHONPATH.

For: the block in front of the session's first operator message, that message's attachments, and the
project's instructions at the end of the system prompt, on every request, on the wire only. Hermes
rebuilds each request from its transcript, which holds just the typed text, so the `llm_request`
middleware puts them back each time, with the same bytes.

Leaves out: subagents, side requests (titles, image descriptions: they do not pass the middleware), and
for the block all sessions but the launch's own (/new). The background review replays the session's own messages and keeps the
block, or it would miss the provider's cache. The file that OMNI_RUN_PLUGIN names says what to do. A
failure here costs the block, never the run: it is reported in the receipt.
"""

import base64
import hashlib
import json
import os
import re

# What Hermes itself writes behind the operator's text where images go along.
IMAGE_NOTES = re.compile(r"\n\n(?:\[Image attached(?: at)?: [^\n]*\]\n?)+\Z")
# Hermes starts the summary of a compacted session with this, in a user message.
SUMMARY_MARKS = ("[CONTEXT COMPACTION", "[CONTEXT SUMMARY]")


def register(ctx):
    launch_file = os.environ.get("OMNI_RUN_PLUGIN")
    if not launch_file:
        return
    plugin = Plugin(launch_file)
    ctx.register_hook("pre_llm_call", plugin.on_turn)
    ctx.register_hook("subagent_start", plugin.on_subagent)
    ctx.register_middleware("llm_request", plugin.on_request)


class Plugin:
    def __init__(self, launch_file):
        self.receipt_file = None
        self.reported = set()
        self.subagents = set()  # their session ids
        self.raw = None  # the first operator message, stripped as Hermes does on some paths
        self.prefix = self.instructions = ""
        self.display = None
        self.attachments = []
        self.modalities = {}  # (provider, model) -> set of "image", "pdf"
        self.resume = False
        self.first_message = None
        try:
            self.read_launch(launch_file)
        except Exception as error:
            self.report_error(error)

    def read_launch(self, launch_file):
        """Everything is read once, at the start: the same bytes on every request, whatever happens to
        the files meanwhile."""
        with open(launch_file, encoding="utf-8") as file:
            spec = json.load(file)
        self.receipt_file = spec.get("receipt_file")
        self.resume = spec.get("resume") is True
        self.first_message = spec.get("first_message")
        self.prefix = self.read_text(spec.get("prefix_file")) or ""
        self.display = self.read_text(spec.get("display_file"))
        self.instructions = self.read_text(spec.get("instructions_file")) or ""
        for attachment in spec.get("attachments") or []:
            try:
                with open(attachment["path"], "rb") as file:
                    data = base64.b64encode(file.read()).decode("ascii")
                self.attachments.append({**attachment, "data": data})
            except Exception as error:
                self.report_error(error)

    def read_text(self, path):
        if not path:
            return None
        try:
            with open(path, encoding="utf-8", newline="") as file:
                return file.read()
        except Exception as error:
            self.report_error(error)
            return None

    # What Hermes calls. It catches what callbacks raise, but only logs it.

    def on_turn(self, session_id="", user_message=None, conversation_history=None, platform="", **_):
        try:
            self.note_turn(session_id, user_message, conversation_history or [], platform)
        except Exception as error:
            self.report_error(error)

    def on_subagent(self, child_session_id=None, **_):
        self.subagents.add(child_session_id)

    def on_request(self, request=None, session_id="", platform="", **context):
        try:
            return self.change_request(request, session_id, platform, context)
        except Exception as error:
            self.report_error(error)
            return None

    def is_subagent(self, session_id, platform):
        return platform == "subagent" or session_id in self.subagents

    def note_turn(self, session_id, user_message, history, platform):
        """Finds the launch's session and its first operator message, once."""
        if self.raw is not None or self.is_subagent(session_id, platform):
            return
        # The history has the current message already.
        first = next((m for m in history if m.get("role") == "user"), None)
        first_text = text_of(first.get("content")) if first else ""
        if self.resume:
            if self.first_message and fingerprint(first_text) != self.first_message:
                return
            if first_text.startswith(SUMMARY_MARKS):
                return
            raw = first_text
        else:
            # A conversation that was there before this launch (/resume inside Hermes) is not ours.
            if sum(m.get("role") == "user" for m in history) > 1:
                return
            raw = first_text or text_of(user_message)
        self.raw = raw.strip()
        typed = IMAGE_NOTES.sub("", raw) if first and not isinstance(first.get("content"), str) else raw
        self.report({"event": "raw", "text": typed, "session": session_id, "message": fingerprint(raw)}, "raw")

    def change_request(self, request, session_id, platform, context):
        if self.is_subagent(session_id, platform):
            return None
        changed = request
        # A compaction gives the session a new id and may keep the first message: so it is known by
        # its text, not by the session.
        key = "input" if isinstance(request.get("input"), list) else "messages"
        messages = list(request.get(key) or [])
        place = self.first_place(messages)
        if place is not None:
            messages[place] = self.with_block(messages[place], session_id, context)
            changed = {**changed, key: messages}
        if self.instructions:
            changed = with_instructions(changed, self.instructions)
        return None if changed is request else {"request": changed}

    def first_place(self, messages):
        """The first user message, if it is the one we know: after a compaction another one may be first.
        Hermes may add context of other plugins behind the text."""
        if self.raw is None:
            return None
        for place, message in enumerate(messages):
            if isinstance(message, dict) and message.get("role") == "user":
                return place if text_of(message.get("content")).lstrip().startswith(self.raw) else None
        return None

    def with_block(self, message, session_id, context):
        api_mode = context.get("api_mode") or "chat_completions"
        parts, by_path = [], []
        for attachment in self.attachments:
            part = None
            if self.takes(attachment, context, api_mode):
                part = attachment_part(attachment, api_mode)
            if part:
                parts.append(part)
            else:
                by_path.append(attachment["path"])
        for path in by_path:
            self.report({"event": "by_path", "path": path}, path)
        front = by_path_header(by_path, self.prefix) + self.prefix
        content = with_text(message.get("content"), self.raw, front, self.display)
        if parts:
            text_type = "input_text" if api_mode == "codex_responses" else "text"
            content = [{"type": text_type, "text": content}] if isinstance(content, str) else content
            content = content + parts
        acted = {"event": "acted", "session": session_id, "bytes": len(self.prefix.encode()), "attachments": len(parts)}
        self.report(acted, "acted")
        return {**message, "content": content}

    def takes(self, attachment, context, api_mode):
        kind = "image" if attachment["mime"].startswith("image/") else attachment["kind"]
        key = (context.get("provider") or "", context.get("model") or "")
        if key not in self.modalities:
            try:
                self.modalities[key] = modalities(*key, api_mode)
            except Exception as error:
                self.report_error(error)
                self.modalities[key] = set()
        return kind in self.modalities[key]

    def report_error(self, error):
        message = f"{type(error).__name__}: {error}"
        self.report({"event": "error", "message": message}, message)

    def report(self, line, key):
        """One line per event and key. The receipt is worth nothing to the engine: if it cannot be
        written, the run goes on."""
        if key in self.reported:
            return
        self.reported.add(key)
        if not self.receipt_file:
            return
        try:
            with open(self.receipt_file, "a", encoding="utf-8", errors="backslashreplace") as file:
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
        except OSError:
            pass


def modalities(provider, model, api_mode):
    """What the model takes as bytes, by Hermes' own judgement. A model that it does not know gets
    paths: a part that the provider refuses would end the run."""
    from agent.image_routing import decide_image_input_mode
    from hermes_cli.config import load_config

    takes = set()
    if decide_image_input_mode(provider, model, load_config()) == "native":
        takes.add("image")
    if api_mode == "anthropic_messages" and "image" in takes and "claude" in model.lower():
        takes.add("pdf")
    elif api_mode in ("chat_completions", "codex_responses"):
        from agent.models_dev import get_model_info

        info = get_model_info(provider, model)
        if info and info.supports_pdf():
            takes.add("pdf")
    return takes


def attachment_part(attachment, api_mode):
    mime, data, name = attachment["mime"], attachment["data"], attachment["name"]
    url = f"data:{mime};base64,{data}"
    image = mime.startswith("image/")
    if api_mode == "anthropic_messages":
        source = {"type": "base64", "media_type": mime, "data": data}
        return {"type": "image", "source": source} if image else {"type": "document", "source": source, "title": name}
    if api_mode == "codex_responses":
        if image:
            return {"type": "input_image", "image_url": url}
        return {"type": "input_file", "filename": name, "file_data": url}
    if api_mode == "chat_completions":
        if image:
            return {"type": "image_url", "image_url": {"url": url}}
        return {"type": "file", "file": {"filename": name, "file_data": url}}
    return None


def with_text(content, raw, front, display):
    """The content with `front` before its first text. What follows the operator's text stays."""
    if isinstance(content, str):
        if display is None:
            return front + content
        rest = content[content.index(raw) + len(raw):]
        return front + display + (rest if rest.strip() else "")
    content = list(content)
    for place, part in enumerate(content):
        if is_text(part):
            content[place] = {**part, "text": with_text(part["text"], raw, front, display)}
            break
    return content


def with_instructions(request, instructions):
    """Appended to the system prompt, wherever the wire format has it."""
    if isinstance(request.get("instructions"), str):
        return {**request, "instructions": appended(request["instructions"], instructions)}
    if request.get("system"):
        return {**request, "system": appended(request["system"], instructions)}
    messages = list(request.get("messages") or [])
    if messages and messages[0].get("role") in ("system", "developer"):
        messages[0] = {**messages[0], "content": appended(messages[0].get("content") or "", instructions)}
    else:
        messages.insert(0, {"role": "system", "content": instructions})
    return {**request, "messages": messages}


def appended(content, text):
    if isinstance(content, str):
        return f"{content}\n\n{text}" if content else text
    content = list(content)
    for place in reversed(range(len(content))):
        if is_text(content[place]):
            content[place] = {**content[place], "text": f"{content[place]['text']}\n\n{text}"}
            return content
    return content + [{"type": "text", "text": text}]


def is_text(part):
    return isinstance(part, dict) and isinstance(part.get("text"), str)


def text_of(content):
    """The first text: Hermes puts the operator's text there, images and notes behind it."""
    if isinstance(content, str):
        return content
    return next((part["text"] for part in content or [] if is_text(part)), "")


def fingerprint(text):
    """Hermes' messages have no id; their text stands for them. Some paths of Hermes strip it."""
    return "sha256:" + hashlib.sha256(text.strip().encode("utf-8", "surrogatepass")).hexdigest()


def by_path_header(paths, prefix):
    """What cannot go as bytes is named, unless the block's own header does so already."""
    missing = [path for path in paths if f"{path}\n" not in prefix]
    if not missing:
        return ""
    return "Please examine the following file(s):\n" + "".join(f"{path}\n" for path in missing) + "\n"
