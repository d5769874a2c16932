// omni-run's request plugin for Pi, loaded for one launch by `pi -e FILE`.
//
// For: the block in front of the session's first operator message and that message's attachments,
// on every request, on the wire only. Pi rebuilds each request from its transcript, which holds just
// the typed text, so the `context` event puts the block back each time, with the same bytes.
//
// Leaves out: instructions (`--append-system-prompt FILE`), and whatever is not the launch's own
// session: a later /new, summaries, other extensions' messages. The file that OMNI_RUN_PLUGIN names
// says what to do. A failure here costs the block, never the run: it is reported in the receipt.

import { appendFileSync, readFileSync } from "node:fs";

// Pi loads an extension anew for /new, /fork and /resume, with no module cache: what belongs to the
// launch has to live outside the module.
const LAUNCH_STATE = Symbol.for("omni-run.pi");

export default function omniRun(pi) {
  if (!process.env.OMNI_RUN_PLUGIN) return;
  const state = (globalThis[LAUNCH_STATE] ??= newState(process.env.OMNI_RUN_PLUGIN));
  if (!state.launch) return;
  pi.on("input", guarded(state, (event) => noteInput(state, event)));
  pi.on("context", guarded(state, (event, ctx) => onContext(state, event, ctx)));
  pi.on("before_provider_request", guarded(state, (event) => onRequest(state, event)));
}

function newState(launchFile) {
  const state = {
    launch: null,
    startedAt: Date.now(),
    typed: [], // texts from the person, as submitted
    foreign: [], // texts that other extensions submitted
    first: null, // {session, timestamp}: the one message that carries the block
    wire: null, // what the last `context` made: {text, documents, images}
    reported: new Set(),
  };
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
  const text = (path) => (path ? readFileSync(path, "utf8") : null);
  const launch = {
    receipt: spec.receipt_file ?? null,
    resume: spec.resume === true,
    firstMessage: spec.first_message ?? null,
    prefix: "",
    display: null,
    attachments: [],
    errors: [],
  };
  const phase = (run) => {
    try {
      run();
    } catch (error) {
      launch.errors.push(error);
    }
  };
  phase(() => (launch.prefix = text(spec.prefix_file) ?? ""));
  phase(() => (launch.display = text(spec.display_file)));
  for (const { path, mime, kind, name } of spec.attachments ?? []) {
    phase(() => launch.attachments.push({ path, mime, kind, name, data: readFileSync(path, "base64") }));
  }
  return launch;
}

function guarded(state, handler) {
  return async (event, ctx) => {
    try {
      for (const error of state.launch.errors.splice(0)) reportError(state, error);
      return handler(event, ctx);
    } catch (error) {
      reportError(state, error);
      return undefined;
    }
  };
}

function noteInput(state, event) {
  (event.source === "extension" ? state.foreign : state.typed).push(event.text);
}

function onContext(state, event, ctx) {
  state.wire = null;
  const index = firstMessageIndex(state, event.messages, ctx.sessionManager);
  if (index < 0) return undefined;
  const message = event.messages[index];
  const { images, documents, byPath } = sortAttachments(state.launch.attachments, ctx.model);
  for (const { path } of byPath) report(state, { event: "by_path", path }, path);
  const typed = textOf(message);
  const text = byPathHeader(byPath, state.launch.prefix) + state.launch.prefix + (state.launch.display ?? typed);
  state.wire = { text, documents, images: images.length };
  const rest = typeof message.content === "string" ? [] : message.content.filter((part) => part.type !== "text");
  const content = [
    { type: "text", text },
    ...rest,
    ...images.map(({ data, mime }) => ({ type: "image", data, mimeType: mime })),
  ];
  const messages = event.messages.slice();
  messages[index] = { ...message, content };
  return { messages };
}

/// Pi's messages have no id; the time of a message is kept in the transcript and by forks.
function firstMessageIndex(state, messages, sessionManager) {
  const session = sessionManager.getSessionId();
  const stored = sessionManager
    .getBranch()
    .filter((entry) => entry.type === "message" && entry.message.role === "user")
    .map((entry) => entry.message);
  if (state.first) {
    // Rewound to before the first message and typed anew: the new first message takes its place.
    const rewound = state.first.session === session && !stored.some((m) => m.timestamp === state.first.timestamp);
    const unsaved = messages.some((m) => m.role === "user" && m.timestamp === state.first.timestamp);
    if (rewound && !unsaved) state.first = null;
  }
  if (!state.first) {
    // The newest message may not be in the transcript yet. After a compaction the messages no longer
    // start at the session's start, the transcript's branch does.
    const users = messages.filter((m) => m.role === "user");
    const first = chooseFirst(state, [...stored, ...users]);
    if (!first) return -1;
    state.first = { session, timestamp: first.timestamp };
    const typed = textOf(first);
    const asTyped = state.launch.resume || state.typed.length === 0 || state.typed.includes(typed);
    const raw = asTyped ? typed : state.typed.at(-1);
    report(state, { event: "raw", text: raw, session, message: String(first.timestamp) }, "raw");
  }
  return messages.findIndex((m) => m.role === "user" && m.timestamp === state.first.timestamp);
}

function chooseFirst(state, users) {
  const { launch } = state;
  if (launch.resume) {
    if (!launch.firstMessage) return users[0];
    return users.find((m) => String(m.timestamp) === launch.firstMessage);
  }
  // A conversation that was there before this launch (/resume inside Pi) is not ours.
  if (users.some((m) => m.timestamp < state.startedAt)) return undefined;
  return users.find((m) => !isCommand(state, textOf(m)));
}

/// A skill or template reaches the model as other text than was typed; an unknown /word is a message.
function isCommand(state, text) {
  if (state.launch.display !== null) return false;
  if (state.foreign.includes(text)) return true;
  if (state.typed.includes(text)) return false;
  return state.typed.some((typed) => typed.startsWith("/"));
}

function textOf(message) {
  if (typeof message.content === "string") return message.content;
  return message.content.filter((part) => part.type === "text").map((part) => part.text).join("");
}

/// Pi itself knows no documents: they are put into the provider's own request, and only where the
/// provider is known to read them. Other services speak these formats too and refuse such a request.
function sortAttachments(attachments, model) {
  const images = [];
  const documents = [];
  const byPath = [];
  for (const attachment of attachments) {
    if (attachment.mime.startsWith("image/") && model?.input?.includes("image")) images.push(attachment);
    else if (attachment.kind === "pdf" && documentMaker(model)) documents.push(documentMaker(model)(attachment));
    else byPath.push(attachment);
  }
  return { images, documents, byPath };
}

function documentMaker(model) {
  if (model?.api === "anthropic-messages" && /claude/i.test(model.id)) {
    return ({ data, mime, name }) => ({
      type: "document",
      source: { type: "base64", media_type: mime, data },
      title: name,
    });
  }
  if (model?.api?.startsWith("google-") && /gemini/i.test(model.id)) {
    return ({ data, mime }) => ({ inlineData: { mimeType: mime, data } });
  }
  return null;
}

/// What cannot go as bytes is named, unless the block's own header does so already.
function byPathHeader(byPath, prefix) {
  const missing = byPath.filter(({ path }) => !prefix.includes(`${path}\n`));
  if (missing.length === 0) return "";
  return `Please examine the following file(s):\n${missing.map(({ path }) => `${path}\n`).join("")}\n`;
}

/// The last place before the wire: adds the documents, and sees whether the block is really there.
function onRequest(state, event) {
  const { wire, launch } = state;
  if (!wire) return undefined;
  const { payload } = event;
  for (const list of ["messages", "input", "contents"]) {
    const messages = payload?.[list];
    if (!Array.isArray(messages)) continue;
    const index = messages.findIndex((message) => partsOf(message).some((part) => part.text === wire.text));
    if (index < 0) continue;
    const acted = {
      event: "acted",
      session: state.first.session,
      bytes: Buffer.byteLength(launch.prefix),
      attachments: wire.images + wire.documents.length,
    };
    report(state, acted, "acted");
    if (wire.documents.length === 0) return undefined;
    const message = messages[index];
    const parts = [...wire.documents, ...partsOf(message)];
    const copy = messages.slice();
    copy[index] = list === "contents" ? { ...message, parts } : { ...message, content: parts };
    return { ...payload, [list]: copy };
  }
  reportError(state, new Error("the first message with its block is not in the request"));
  return undefined;
}

function partsOf(message) {
  const content = message.content ?? message.parts;
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content : [];
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
