import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import test from "node:test";

import omniRun from "../pi.js";
import { PREFIX, base64, makeLaunch } from "./launch.mjs";

const LAUNCH_STATE = Symbol.for("omni-run.pi");
const MODELS = {
  chat: { id: "gpt", api: "openai-completions", input: ["text", "image"] },
  text: { id: "small", api: "openai-completions", input: ["text"] },
  claude: { id: "claude-sonnet", api: "anthropic-messages", input: ["text", "image"] },
  otherAnthropic: { id: "kimi", api: "anthropic-messages", input: ["text", "image"] },
  gemini: { id: "gemini-pro", api: "google-generative-ai", input: ["text", "image"] },
};

/// A Pi with a transcript: just what the extension sees of it.
class FakePi {
  constructor({ session = "s1", model = MODELS.chat } = {}) {
    Object.assign(this, { session, model, entries: [], handlers: {} });
    this.load();
    // What is typed is typed after the start, which may take its time.
    this.clock = Date.now();
  }

  load() {
    this.handlers = {};
    omniRun({ on: (name, handler) => (this.handlers[name] = handler) });
  }

  async type(text, { becomes = text, source = "interactive" } = {}) {
    await this.handlers.input?.({ text, source });
    this.clock += 1;
    const message = { role: "user", content: [{ type: "text", text: becomes }], timestamp: this.clock };
    this.entries.push({ type: "message", message });
    return message;
  }

  answer() {
    this.entries.push({ type: "message", message: { role: "assistant", content: [{ type: "text", text: "yes" }] } });
  }

  async send(messages = this.entries.map((entry) => entry.message)) {
    const sessionManager = { getSessionId: () => this.session, getBranch: () => this.entries };
    const before = structuredClone(messages);
    const result = await this.handlers.context?.({ messages }, { model: this.model, sessionManager });
    assert.deepEqual(messages, before, "Pi's own messages are left alone");
    const wire = (result?.messages ?? messages).map(({ role, content }) => ({ role, content }));
    const payload = this.model.api.startsWith("google-")
      ? { contents: wire.map(({ role, content }) => ({ role, parts: content.filter((part) => part.text) })) }
      : { messages: wire };
    return (await this.handlers.before_provider_request?.({ payload })) ?? payload;
  }
}

function start(t, launch, pi) {
  delete globalThis[LAUNCH_STATE];
  t.after(() => delete globalThis[LAUNCH_STATE]);
  return [makeLaunch(t, launch), new FakePi(pi)];
}

const texts = (payload) => payload.messages.map(({ content }) => content.map((part) => part.text ?? part.type).join("|"));

test("the block stands in front of the first message in every request", async (t) => {
  const [launch, pi] = start(t);
  await pi.type("hello\n  world");
  assert.deepEqual(texts(await pi.send()), [`${PREFIX}hello\n  world`]);
  pi.answer();
  await pi.type("again");
  assert.deepEqual(texts(await pi.send()), [`${PREFIX}hello\n  world`, "yes", "again"]);
  assert.equal(launch.event("raw").text, "hello\n  world");
  assert.equal(launch.event("acted").bytes, Buffer.byteLength(PREFIX));
  assert.equal(launch.receipt().length, 2);
});

test("the message is found when Pi has not stored it yet", async (t) => {
  const [, pi] = start(t);
  const message = await pi.type("hello");
  pi.entries = [];
  assert.deepEqual(texts(await pi.send([message])), [`${PREFIX}hello`]);
});

test("the display text is restored byte for byte", async (t) => {
  const display = "--dash /x 👩‍👩‍👧\n\n";
  const [, pi] = start(t, { display });
  await pi.type(display.trim());
  assert.deepEqual(texts(await pi.send()), [PREFIX + display]);
});

test("on resume the session's first message has the block, the new one has not", async (t) => {
  const [launch, pi] = start(t, { resume: true });
  pi.clock -= 1_000_000;
  await pi.type("first");
  pi.answer();
  await pi.type("second");
  assert.deepEqual(texts(await pi.send()), [`${PREFIX}first`, "yes", "second"]);
  assert.equal(launch.event("raw").text, "first");
});

test("on resume the message that the first launch named has the block", async (t) => {
  const probe = Date.now() - 500;
  const [, pi] = start(t, { resume: true, first_message: String(probe + 2) });
  pi.clock = probe;
  await pi.type("text of a template");
  await pi.type("first");
  assert.deepEqual(texts(await pi.send()), ["text of a template", `${PREFIX}first`]);
});

test("an old conversation opened inside Pi gets nothing", async (t) => {
  const [launch, pi] = start(t);
  pi.clock -= 1_000_000;
  await pi.type("old");
  assert.deepEqual(texts(await pi.send()), ["old"]);
  assert.deepEqual(launch.receipt(), []);
});

test("templates and other extensions' messages do not count, an unknown /word does", async (t) => {
  const [, pi] = start(t);
  await pi.type("/review x", { becomes: "Please review x" });
  await pi.type("by an extension", { source: "extension" });
  await pi.type("/nonsense here");
  assert.deepEqual(texts(await pi.send()), ["Please review x", "by an extension", `${PREFIX}/nonsense here`]);
});

test("after a compaction without the first message nothing carries the block", async (t) => {
  const [launch, pi] = start(t);
  await pi.type("first");
  await pi.send();
  const kept = await pi.type("second");
  const summary = { role: "user", content: [{ type: "text", text: "summary" }], timestamp: pi.clock + 5 };
  assert.deepEqual(texts(await pi.send([summary, kept])), ["summary", "second"]);
  assert.deepEqual(launch.errors(), []);
});

test("/new gets no second block, a fork keeps it, a rewound start gets it anew", async (t) => {
  const [, pi] = start(t);
  await pi.type("first");
  await pi.send();
  const first = pi.entries;
  pi.load();
  Object.assign(pi, { session: "s2", entries: [] });
  await pi.type("other");
  assert.deepEqual(texts(await pi.send()), ["other"]);
  pi.load();
  Object.assign(pi, { session: "s3", entries: first.slice() });
  await pi.type("more");
  assert.deepEqual(texts(await pi.send()), [`${PREFIX}first`, "more"]);
  Object.assign(pi, { session: "s1", entries: [] });
  await pi.type("first, better");
  assert.deepEqual(texts(await pi.send()), [`${PREFIX}first, better`]);
});

test("images are parts; a PDF is a document only where the provider reads it", async (t) => {
  for (const [name, kinds] of [
    ["claude", ["document", "text", "image"]],
    ["chat", ["text", "image"]],
    ["otherAnthropic", ["text", "image"]],
  ]) {
    const [launch, pi] = start(t, { files: ["x.png", "y.pdf"] }, { model: MODELS[name] });
    await pi.type("look");
    const [{ content }] = (await pi.send()).messages;
    assert.deepEqual(content.map(({ type }) => type), kinds, name);
    assert.equal(content.at(-1).data, base64("bytes of x.png"));
    const text = content.find(({ type }) => type === "text").text;
    if (name === "claude") {
      assert.equal(content[0].source.data, base64("bytes of y.pdf"));
      assert.equal(text, `${PREFIX}look`);
      assert.equal(launch.event("acted").attachments, 2);
    } else {
      assert.equal(text, `Please examine the following file(s):\n${launch.paths[1]}\n\n${PREFIX}look`);
      assert.equal(launch.event("by_path").path, launch.paths[1]);
    }
  }
});

test("Gemini gets the PDF as inline data", async (t) => {
  const [, pi] = start(t, { files: ["y.pdf"] }, { model: MODELS.gemini });
  await pi.type("look");
  const [{ parts }] = (await pi.send()).contents;
  assert.deepEqual(parts[0], { inlineData: { mimeType: "application/pdf", data: base64("bytes of y.pdf") } });
  assert.equal(parts[1].text, `${PREFIX}look`);
});

test("a path that the block names already is not named twice", async (t) => {
  const [launch, pi] = start(t, { files: ["x.png"] }, { model: MODELS.text });
  await pi.type("look");
  const [withHeader] = texts(await pi.send());
  assert.equal(withHeader.split(launch.paths[0]).length, 2);
});

test("attachments go without a block too", async (t) => {
  const [, pi] = start(t, { prefix: null, files: ["x.png"] });
  await pi.type("look");
  assert.deepEqual(texts(await pi.send()), ["look|image"]);
});

test("a missing block or launch file costs the block, not the run", async (t) => {
  const [launch, pi] = start(t, { prefix_file: "/nonexistent/prefix.txt" });
  await pi.type("hello");
  assert.deepEqual(texts(await pi.send()), ["hello"]);
  assert.equal(launch.errors().length, 1);

  delete globalThis[LAUNCH_STATE];
  rmSync(launch.folder, { recursive: true });
  const bare = new FakePi();
  await bare.type("hello");
  assert.deepEqual(texts(await bare.send()), ["hello"]);
});
