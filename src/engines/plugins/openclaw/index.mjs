// omni-run's request plugin for OpenClaw (`openclaw agent --local`), loaded for one launch by
// `plugins.load.paths` in a config overlay that also selects it as the context engine.
//
// For: the block in front of the session's first operator message and the instructions at the end of
// the system prompt, on every request, but not in OpenClaw's transcript. The first message comes in by
// `--message-file` with its block already (so that OpenClaw attaches the images that the header names,
// and so that nothing is missing if this plugin does not load). `before_message_write` cuts the block
// off what is stored; in later turns, where OpenClaw builds the request from the store, the context
// engine's `assemble` puts it back. Everything else of the context engine is as OpenClaw's own:
// messages pass as they are, compaction is the host's.
//
// Leaves out: subagents and all sessions but the launch's. OpenClaw puts a time in front of each user
// message and lines about the runtime behind it: block and message stay together between the two.
// The file that OMNI_RUN_PLUGIN names says what to do. A failure here costs the block in later turns,
// never the run: it is reported in the receipt.

import { createHash } from "node:crypto";
import { appendFileSync, readFileSync } from "node:fs";

const PLUGIN_ID = "omni-run";
// OpenClaw registers a plugin several times in one process.
const LAUNCH_STATE = Symbol.for("omni-run.openclaw");

export default {
  id: PLUGIN_ID,
  name: PLUGIN_ID,
  description: "Puts the project's docs in front of the session's first message, on the wire only",
  register(api) {
    if (!process.env.OMNI_RUN_PLUGIN) return;
    const state = (globalThis[LAUNCH_STATE] ??= newState(process.env.OMNI_RUN_PLUGIN));
    if (!state.launch) return;
    api.on("before_prompt_build", (event, ctx) => guarded(state, () => onPrompt(state, event, ctx)));
    // Must answer at once: OpenClaw ignores a promise here.
    api.on("before_message_write", (event, ctx) => guarded(state, () => onStore(state, event, ctx)));
    api.registerContextEngine(PLUGIN_ID, () => contextEngine(state));
  },
};

function newState(launchFile) {
  const state = { launch: null, key: null, session: null, assembling: false, reported: new Set() };
  try {
    state.launch = readLaunch(launchFile);
  } catch (error) {
    reportError(state, error);
  }
  return state;
}

/// Everything is read once, at the start: the same bytes on every request, whatever happens to the
/// files meanwhile.
function readLaunch(launchFile) {
  const spec = JSON.parse(readFileSync(launchFile, "utf8"));
  const launch = {
    receipt: spec.receipt_file ?? null,
    resume: spec.resume === true,
    firstMessage: spec.first_message ?? null,
    errors: [],
  };
  const text = (path) => {
    try {
      return path ? readFileSync(path, "utf8") : "";
    } catch (error) {
      launch.errors.push(error);
      return "";
    }
  };
  launch.prefix = text(spec.prefix_file);
  launch.instructions = text(spec.instructions_file);
  return launch;
}

function guarded(state, run) {
  try {
    for (const error of state.launch.errors.splice(0)) reportError(state, error);
    return run();
  } catch (error) {
    reportError(state, error);
    return undefined;
  }
}

/// The launch's session is the first one that asks.
function isOurs(state, key) {
  if (!key || key.includes(":subagent:")) return false;
  state.key ??= key;
  return state.key === key;
}

function onPrompt(state, event, ctx) {
  if (!isOurs(state, ctx.sessionKey)) return undefined;
  const { launch } = state;
  state.session = ctx.sessionId;
  if (!launch.resume && event.prompt.startsWith(launch.prefix)) {
    const text = event.prompt.slice(launch.prefix.length);
    report(state, { event: "raw", text, session: state.session, message: fingerprint(text) }, "raw");
  }
  return launch.instructions ? { appendSystemContext: launch.instructions } : undefined;
}

function onStore(state, { message }, { sessionKey }) {
  const { launch } = state;
  if (message.role !== "user" || !isOurs(state, sessionKey)) return undefined;
  const place = firstText(message);
  if (launch.resume || !textAt(message, place).startsWith(launch.prefix)) return undefined;
  const images = Array.isArray(message.content) ? message.content.filter(({ type }) => type === "image") : [];
  reportActed(state, images.length);
  // With another context engine nobody would put the block back.
  if (!state.assembling) return undefined;
  return { message: withText(message, place, textAt(message, place).slice(launch.prefix.length)) };
}

function contextEngine(state) {
  return {
    info: {
      id: PLUGIN_ID,
      name: PLUGIN_ID,
      ownsCompaction: false,
      acceptedHostParams: ["sessionKey"],
      // Without these two OpenClaw does not ask a context engine at all.
      transcriptSemantics: {
        currentTurnFence: "before-current-turn-entry-v1",
        turnAdvancementIdempotency: "atomic-idempotent-v1",
      },
    },
    // Nothing is kept here, so that nothing can be stored twice.
    ingest: async () => ({ ingested: true }),
    commitTurn: async () => ({ status: "committed" }),
    assemble: async ({ messages, sessionKey, sessionId }) => ({
      messages: guarded(state, () => withBlock(state, messages, sessionKey, sessionId)) ?? messages,
      estimatedTokens: 0, // as OpenClaw's own engine: the host counts
    }),
    async compact(params) {
      const { delegateCompactionToRuntime } = await import("openclaw/plugin-sdk/core");
      return delegateCompactionToRuntime(params);
    },
  };
}

/// The history with the block at the first operator message. After a compaction that message is gone:
/// then nothing carries the block.
function withBlock(state, messages, sessionKey, sessionId) {
  const { launch } = state;
  state.assembling = true;
  if (!launch.prefix || !isOurs(state, sessionKey)) return undefined;
  if (messages.some(({ role }) => role === "compactionSummary")) return undefined;
  const index = messages.findIndex(({ role }) => role === "user");
  if (index < 0) return undefined;
  const message = messages[index];
  const place = firstText(message);
  const text = textAt(message, place);
  // It is there where a first launch could not cut it off.
  if (!text || text.startsWith(launch.prefix)) return undefined;
  if (launch.firstMessage && fingerprint(text) !== launch.firstMessage) return undefined;
  const copy = messages.slice();
  copy[index] = withText(message, place, launch.prefix + text);
  state.session ??= sessionId;
  reportActed(state, 0);
  return copy;
}

/// The place of the first text among the parts; -1 where the content is a text itself.
function firstText({ content }) {
  return typeof content === "string" ? -1 : content.findIndex(({ type }) => type === "text");
}

function textAt({ content }, place) {
  return typeof content === "string" ? content : (content[place]?.text ?? "");
}

function withText(message, place, text) {
  if (place < 0) return { ...message, content: text };
  const content = message.content.slice();
  content[place] = { ...content[place], text };
  return { ...message, content };
}

/// The stored messages have no id that a plugin sees in both places; their text stands for them.
function fingerprint(text) {
  return `sha256:${createHash("sha256").update(text.trim()).digest("hex")}`;
}

function reportActed(state, attachments) {
  const bytes = Buffer.byteLength(state.launch.prefix);
  report(state, { event: "acted", session: state.session, bytes, attachments }, "acted");
}

function reportError(state, error) {
  const message = error instanceof Error ? error.message : String(error);
  report(state, { event: "error", message }, message);
}

/// One line per event and key. The receipt is worth nothing to the engine: if it cannot be written,
/// the run goes on.
function report(state, line, key) {
  if (state.reported.has(key)) return;
  state.reported.add(key);
  try {
    if (state.launch?.receipt) appendFileSync(state.launch.receipt, `${JSON.stringify(line)}\n`, { mode: 0o600 });
  } catch {
    // nobody to tell
  }
}
