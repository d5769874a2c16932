// omni-run's request plugin for OpenClaw (`openclaw agent --local`), loaded for one launch by
// `plugins.load.paths` in a config overlay that also selects it as the context engine.
//
// For: the block in front of the session's first operator message and the instructions at the end of
// the system prompt, on every request, on the wire only. In the first turn the block comes by the hook
// `before_prompt_build`; in later ones the first message is part of the history, which holds just the
// typed text, and the context engine's `assemble` puts the block back. Everything else of the context
// engine is what OpenClaw's own does: messages pass as they are, compaction is the host's.
//
// Leaves out: attachments (OpenClaw attaches images that the text names by path, and takes nothing
// else), subagents and all sessions but the launch's. OpenClaw puts a time in front of each user
// message and a line about the runtime behind it: block and message stay together between the two.
// The file that OMNI_RUN_PLUGIN names says what to do. A failure here costs the block, never the run:
// it is reported in the receipt.

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
    api.registerContextEngine(PLUGIN_ID, () => contextEngine(state));
  },
};

function newState(launchFile) {
  const state = { launch: null, session: null, reported: new Set() };
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
  state.session ??= key;
  return state.session === key;
}

function onPrompt(state, event, ctx) {
  if (!isOurs(state, ctx.sessionKey)) return undefined;
  const { launch } = state;
  const result = {};
  if (launch.instructions) result.appendSystemContext = launch.instructions;
  const isFirst = !launch.resume && !event.messages.some(({ role }) => role === "user");
  if (isFirst) {
    const typed = event.prompt;
    report(state, { event: "raw", text: typed, session: ctx.sessionId, message: fingerprint(typed) }, "raw");
    if (launch.prefix) {
      // OpenClaw joins the two by a blank line, which the block has at its end already.
      result.prependContext = launch.prefix.replace(/\n\n$/, "");
      reportActed(state, ctx.sessionId);
    }
  }
  return result;
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
  if (!launch.prefix || !isOurs(state, sessionKey)) return undefined;
  if (messages.some(({ role }) => role === "compactionSummary")) return undefined;
  const index = messages.findIndex(({ role }) => role === "user");
  if (index < 0) return undefined;
  const message = messages[index];
  const parts = typeof message.content === "string" ? [{ type: "text", text: message.content }] : message.content;
  const place = parts.findIndex(({ type }) => type === "text");
  if (place < 0) return undefined;
  const { text } = parts[place];
  if (launch.firstMessage && fingerprint(text) !== launch.firstMessage) return undefined;
  const content = parts.slice();
  content[place] = { ...parts[place], text: launch.prefix + text };
  const copy = messages.slice();
  copy[index] = { ...message, content: typeof message.content === "string" ? content[0].text : content };
  reportActed(state, sessionId);
  return copy;
}

/// The stored messages have no id that a plugin sees in both places; their text stands for them.
function fingerprint(text) {
  return `sha256:${createHash("sha256").update(text.trim()).digest("hex")}`;
}

function reportActed(state, session) {
  const bytes = Buffer.byteLength(state.launch.prefix);
  report(state, { event: "acted", session, bytes, attachments: 0 }, "acted");
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
