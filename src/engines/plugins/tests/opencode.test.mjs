import assert from "node:assert/strict";
import test from "node:test";

import * as plugin from "../opencode.js";
import { PREFIX, base64, makeLaunch } from "./launch.mjs";

/// An OpenCode with a database: just what the plugin sees of it.
class FakeOpenCode {
  constructor({ input = { text: true, image: true, pdf: true } } = {}) {
    this.sessions = { ses_1: { title: "T" } };
    this.messages = { ses_1: [] };
    this.count = 0;
    const one = (value) => Promise.resolve({ data: value });
    this.client = {
      session: {
        get: ({ path }) => one(this.sessions[path.id]),
        messages: ({ path }) => one(this.messages[path.id]),
      },
      config: {
        providers: () => one({ providers: [{ id: "p", models: { m: { capabilities: { input } } } }] }),
        get: () => one(this.config ?? {}),
      },
    };
  }

  async load() {
    this.hooks = await plugin.OmniRun({ client: this.client });
    return this;
  }

  async type(text, { session = "ses_1", parts = [{ type: "text", text }], command = false } = {}) {
    if (command) await this.hooks["command.execute.before"]({ sessionID: session, command: "x" });
    const info = {
      id: `msg_${(this.count += 1)}`,
      role: "user",
      sessionID: session,
      model: { providerID: "p", modelID: "m" },
    };
    await this.hooks["chat.message"]?.({ sessionID: session }, { message: info, parts });
    this.messages[session].push({ info, parts });
    return info.id;
  }

  answer(session = "ses_1") {
    const info = { id: `msg_${(this.count += 1)}`, role: "assistant", sessionID: session };
    this.messages[session].push({ info, parts: [{ type: "text", text: "yes" }] });
  }

  async send({ session = "ses_1", list = this.messages[session] } = {}) {
    const stored = structuredClone(list);
    const messages = list.slice();
    await this.hooks["experimental.chat.messages.transform"]?.({}, { messages });
    assert.deepEqual(list, stored, "what is stored is left alone");
    return messages;
  }
}

async function start(t, launch, options) {
  const made = makeLaunch(t, launch);
  return [made, await new FakeOpenCode(options).load()];
}

const texts = (messages) => messages.map(({ parts }) => parts.map((part) => part.text ?? part.mime).join("|"));

test("there is one export: OpenCode calls each of them", () => {
  assert.deepEqual(Object.keys(plugin), ["OmniRun"]);
});

test("the block stands in front of the first message in every request", async (t) => {
  const [launch, engine] = await start(t);
  await engine.type("hello\n");
  assert.deepEqual(texts(await engine.send()), [`${PREFIX}hello\n`]);
  engine.answer();
  await engine.type("again");
  assert.deepEqual(texts(await engine.send()), [`${PREFIX}hello\n`, "yes", "again"]);
  assert.deepEqual(launch.event("raw"), { event: "raw", text: "hello\n", session: "ses_1", message: "msg_1" });
  assert.equal(launch.event("acted").bytes, Buffer.byteLength(PREFIX));
});

test("the display text is restored, synthetic parts and files stay", async (t) => {
  const [, engine] = await start(t, { display: "--x\n" });
  const synthetic = { type: "text", text: "note", synthetic: true };
  await engine.type("", { parts: [synthetic, { type: "text", text: "--x" }, { type: "file", mime: "image/png" }] });
  assert.deepEqual(texts(await engine.send()), [`note|${PREFIX}--x\n|image/png`]);
});

test("on resume the session's first message has the block", async (t) => {
  const [launch, engine] = await start(t, { resume: true });
  engine.messages.ses_1 = [
    { info: { id: "msg_a", role: "user", sessionID: "ses_1" }, parts: [{ type: "text", text: "first" }] },
  ];
  await engine.type("second");
  assert.deepEqual(texts(await engine.send()), [`${PREFIX}first`, "second"]);
  assert.equal(launch.event("raw").message, "msg_a");
});

test("on resume the message that the first launch named has the block", async (t) => {
  const [, engine] = await start(t, { resume: true, first_message: "msg_2" });
  await engine.type("text of /init");
  await engine.type("first");
  assert.deepEqual(texts(await engine.send()), ["text of /init", `${PREFIX}first`]);
});

test("slash commands do not use up the first message", async (t) => {
  const [, engine] = await start(t);
  await engine.type("text of /init", { command: true });
  assert.deepEqual(texts(await engine.send()), ["text of /init"]);
  await engine.type("first");
  assert.deepEqual(texts(await engine.send()), ["text of /init", `${PREFIX}first`]);
});

test("child sessions and later sessions get nothing", async (t) => {
  const [launch, engine] = await start(t);
  engine.sessions.ses_child = { parentID: "ses_1", title: "T" };
  engine.sessions.ses_2 = { title: "T" };
  Object.assign(engine.messages, { ses_child: [], ses_2: [] });
  await engine.type("child's task", { session: "ses_child" });
  assert.deepEqual(texts(await engine.send({ session: "ses_child" })), ["child's task"]);
  assert.deepEqual(launch.receipt(), []);
  await engine.type("first");
  await engine.type("other", { session: "ses_2" });
  assert.deepEqual(texts(await engine.send({ session: "ses_2" })), ["other"]);
  assert.deepEqual(texts(await engine.send()), [`${PREFIX}first`]);
});

test("an old session opened inside OpenCode gets nothing", async (t) => {
  const [launch, engine] = await start(t);
  engine.messages.ses_1 = [
    { info: { id: "msg_a", role: "user", sessionID: "ses_1" }, parts: [{ type: "text", text: "old" }] },
  ];
  await engine.type("more");
  assert.deepEqual(texts(await engine.send()), ["old", "more"]);
  assert.deepEqual(launch.receipt(), []);
});

test("after a compaction nothing carries the block", async (t) => {
  const [, engine] = await start(t);
  await engine.type("first");
  await engine.send();
  await engine.type("second");
  assert.deepEqual(texts(await engine.send({ list: engine.messages.ses_1.slice(1) })), ["second"]);
});

test("attachments are parts of the request, not of the database", async (t) => {
  const [launch, engine] = await start(t, { files: ["x.png", "y.pdf"] });
  await engine.type("look");
  const [{ parts }] = await engine.send();
  assert.equal(parts[1].url, `data:image/png;base64,${base64("bytes of x.png")}`);
  assert.equal(parts[2].mime, "application/pdf");
  assert.equal(launch.event("acted").attachments, 2);
});

test("what the model does not declare goes by path", async (t) => {
  const [launch, engine] = await start(t, { files: ["x.png", "y.pdf"] }, { input: { image: true, pdf: false } });
  await engine.type("look");
  const [text] = texts(await engine.send());
  assert.equal(text, `Please examine the following file(s):\n${launch.paths[1]}\n\n${PREFIX}look|image/png`);
  assert.equal(launch.event("by_path").path, launch.paths[1]);
});

test("the block comes into the list only when the title has been read off it", async (t) => {
  const [, engine] = await start(t);
  engine.sessions.ses_1.title = "New session - 2026-11-30";
  await engine.type("first");
  const list = engine.messages.ses_1.slice();
  const sending = engine.hooks["experimental.chat.messages.transform"]({}, { messages: list });
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.deepEqual(texts(list), ["first"]);
  await engine.hooks["chat.params"]({ sessionID: "ses_1", agent: "title" }, {});
  await sending;
  assert.deepEqual(texts(list), [`${PREFIX}first`]);
});

test("no title is waited for when the person switched them off", async (t) => {
  const [, engine] = await start(t);
  engine.sessions.ses_1.title = "New session - 2026-11-30";
  engine.config = { agent: { title: { disable: true } } };
  await engine.type("first");
  assert.deepEqual(texts(await engine.send()), [`${PREFIX}first`]);
});

test("a failure costs the block, not the run", async (t) => {
  const [launch, engine] = await start(t, { prefix_file: "/nonexistent/prefix.txt" });
  engine.client.session.get = () => Promise.reject(new Error("no server"));
  await engine.type("hello");
  assert.deepEqual(texts(await engine.send()), ["hello"]);
  assert.deepEqual(launch.errors().map(({ message }) => message.split(",")[0]), [
    "ENOENT: no such file or directory",
    "no server",
  ]);
});
