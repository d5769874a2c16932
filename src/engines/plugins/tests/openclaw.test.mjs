import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";

import plugin from "../openclaw/index.mjs";
import { PREFIX, makeLaunch } from "./launch.mjs";

const LAUNCH_STATE = Symbol.for("omni-run.openclaw");
const KEY = "agent:main:explicit:u1";

/// An OpenClaw with a transcript: just what the plugin sees of it.
class FakeOpenClaw {
  constructor() {
    this.hooks = {};
    this.stored = [];
    plugin.register({
      on: (name, handler) => (this.hooks[name] = handler),
      registerContextEngine: (id, make) => (this.engine = make()),
    });
  }

  /// A turn; returns what is added to the system prompt and the messages of the request.
  async turn(prompt, { key = KEY, images = [], stored = this.stored } = {}) {
    const history = structuredClone(stored);
    const assembled = (await this.engine?.assemble({ messages: stored, sessionKey: key, sessionId: "u1" })) ?? {};
    assert.deepEqual(stored, history, "the transcript is left alone");
    const messages = assembled.messages ?? stored;
    const ctx = { sessionKey: key, sessionId: "u1" };
    const built = this.hooks.before_prompt_build?.({ prompt, messages }, ctx);
    const content = images.length ? [{ type: "text", text: prompt }, ...images] : prompt;
    const message = { role: "user", content };
    const wire = texts([...messages, message]);
    stored.push(this.hooks.before_message_write?.({ message }, ctx)?.message ?? message);
    stored.push({ role: "assistant", content: [{ type: "text", text: "yes" }] });
    return { system: built?.appendSystemContext, wire };
  }
}

const texts = (messages) =>
  messages.map(({ content }) =>
    typeof content === "string" ? content : content.map((part) => part.text ?? part.type).join("|"),
  );

function start(t, launch) {
  delete globalThis[LAUNCH_STATE];
  t.after(() => delete globalThis[LAUNCH_STATE]);
  return [makeLaunch(t, launch), new FakeOpenClaw()];
}

test("the block is in every request and not in the transcript", async (t) => {
  const [launch, engine] = start(t);
  assert.deepEqual((await engine.turn(`${PREFIX}hello\n`)).wire, [`${PREFIX}hello\n`]);
  assert.deepEqual(texts(engine.stored), ["hello\n", "yes"]);
  assert.deepEqual((await engine.turn("again")).wire, [`${PREFIX}hello\n`, "yes", "again"]);
  assert.equal(launch.event("raw").text, "hello\n");
  assert.deepEqual(launch.event("acted"), {
    event: "acted",
    session: "u1",
    bytes: Buffer.byteLength(PREFIX),
    attachments: 0,
  });
  assert.equal(launch.receipt().length, 2);
});

test("images that OpenClaw attached stay and are counted", async (t) => {
  const [launch, engine] = start(t);
  await engine.turn(`${PREFIX}look`, { images: [{ type: "image", data: "x" }] });
  assert.deepEqual(texts(engine.stored), ["look|image", "yes"]);
  assert.equal(launch.event("acted").attachments, 1);
  assert.deepEqual((await engine.turn("again")).wire[0], `${PREFIX}look|image`);
});

test("where another context engine is in use the transcript keeps the block", async (t) => {
  const [, engine] = start(t);
  engine.engine = null;
  await engine.turn(`${PREFIX}hello`);
  assert.deepEqual((await engine.turn("again")).wire, [`${PREFIX}hello`, "yes", "again"]);
});

test("on resume the session's first message has the block", async (t) => {
  const [launch, engine] = start(t, { resume: true });
  engine.stored = [{ role: "user", content: "first" }, { role: "assistant", content: [] }];
  assert.deepEqual((await engine.turn("second")).wire, [`${PREFIX}first`, "", "second"]);
  assert.equal(launch.event("acted").bytes, Buffer.byteLength(PREFIX));
});

test("a block that a first launch left in the transcript is not doubled", async (t) => {
  const [, engine] = start(t, { resume: true });
  engine.stored = [{ role: "user", content: `${PREFIX}first` }];
  assert.deepEqual((await engine.turn("second")).wire, [`${PREFIX}first`, "second"]);
});

test("after a compaction nothing carries the block", async (t) => {
  const [, engine] = start(t, { resume: true, first_message: "sha256:other" });
  engine.stored = [{ role: "user", content: "second" }];
  assert.deepEqual((await engine.turn("third")).wire, ["second", "third"]);
  const [, other] = start(t, { resume: true });
  other.stored = [{ role: "compactionSummary", content: "…" }, { role: "user", content: "second" }];
  assert.deepEqual((await other.turn("third")).wire, ["…", "second", "third"]);
});

test("instructions go to the launch's session alone", async (t) => {
  const [launch] = start(t);
  delete globalThis[LAUNCH_STATE];
  const [, engine] = start(t, { instructions_file: join(launch.folder, "prefix.txt") });
  assert.equal((await engine.turn(`${PREFIX}hello`)).system, PREFIX);
  const child = await engine.turn("task", { key: "agent:main:subagent:c1", stored: [] });
  assert.deepEqual(child, { system: undefined, wire: ["task"] });
  const other = await engine.turn("second", { key: "agent:main:other", stored: [{ role: "user", content: "old" }] });
  assert.deepEqual(other, { system: undefined, wire: ["old", "second"] });
});

test("a failure costs the block in the transcript, not the run", async (t) => {
  const [launch, engine] = start(t, { prefix_file: "/nonexistent/prefix.txt" });
  assert.deepEqual((await engine.turn("hello")).wire, ["hello"]);
  assert.equal(launch.errors().length, 1);

  delete globalThis[LAUNCH_STATE];
  process.env.OMNI_RUN_PLUGIN = join(launch.folder, "nothing.json");
  const bare = new FakeOpenClaw();
  assert.deepEqual((await bare.turn(`${PREFIX}hello`)).wire, [`${PREFIX}hello`]);
});

test("manifest, package and code agree on the id", () => {
  const read = (name) => JSON.parse(readFileSync(new URL(`../openclaw/${name}`, import.meta.url), "utf8"));
  assert.equal(read("openclaw.plugin.json").id, plugin.id);
  assert.deepEqual(read("package.json").openclaw.extensions, ["./index.mjs"]);
});
