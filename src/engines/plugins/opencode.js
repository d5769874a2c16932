// omni-run's request plugin for OpenCode, loaded for one launch by `plugin: ["file:///…"]` in
// OPENCODE_CONFIG_CONTENT.
//
// For: the block in front of the session's first operator message and that message's attachments,
// on every request, on the wire only. OpenCode rebuilds each request from its database, which holds
// just the typed text, so the messages hook puts the block back each time, with the same bytes.
//
// Leaves out: instructions (config `instructions`), and every session but the launch's own: children
// (subagents, /review) and later sessions. The file that OMNI_RUN_PLUGIN names says what to do. A
// failure here costs the block, never the run: it is reported in the receipt.
//
// OpenCode calls every export of this file as a plugin: there must be only one.

import { appendFileSync, readFileSync } from "node:fs";

export const OmniRun = async ({ client }) => {
  if (!process.env.OMNI_RUN_PLUGIN) return {};
  const state = newState(process.env.OMNI_RUN_PLUGIN, client);
  if (!state.launch) return {};
  return {
    "command.execute.before": guarded(state, (input) => noteCommand(state, input)),
    "chat.message": guarded(state, (input, output) => onMessage(state, input, output)),
    "chat.params": guarded(state, ({ agent, sessionID }) => noteParameters(state, agent, sessionID)),
    "experimental.chat.messages.transform": guarded(state, (_, output) => onRequest(state, output)),
  };
};

function newState(launchFile, client) {
  const state = {
    launch: null,
    client,
    first: null, // {session, message}: the one message that carries the block
    commandPending: new Set(), // sessions whose next message comes from a slash command
    commandMessages: new Set(), // what such commands sent: no first message
    roots: new Map(), // session id → is it no child
    models: new Map(), // provider/model → what it takes as input
    titled: new Set(), // sessions whose title request has been put together
    onTitle: null, // wakes the request that waits for it
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
  return async (input, output) => {
    try {
      for (const error of state.launch.errors.splice(0)) reportError(state, error);
      await handler(input, output);
    } catch (error) {
      reportError(state, error);
    }
  };
}

function noteCommand(state, { sessionID }) {
  state.commandPending.add(sessionID);
}

/// A message has been submitted and is about to be stored.
async function onMessage(state, { sessionID }, { message, parts }) {
  if (state.commandPending.delete(sessionID)) {
    state.commandMessages.add(message.id);
    return;
  }
  if (state.first || state.launch.resume) return;
  const typed = parts.find(isTyped);
  if (!typed || !(await isRoot(state, sessionID))) return;
  // A session picked from the list inside OpenCode had its first message earlier.
  const earlier = await storedMessages(state, sessionID);
  const known = ({ info }) => info.id === message.id || state.commandMessages.has(info.id);
  if (earlier.some((m) => m.info.role === "user" && m.parts.some(isTyped) && !known(m))) return;
  bind(state, sessionID, message.id, typed.text);
}

function bind(state, session, message, raw) {
  state.first = { session, message };
  report(state, { event: "raw", text: raw, session, message }, "raw");
}

/// How long the first request waits for the title request; seen to come within 50 ms.
const TITLE_WAIT_MS = 1000;

function noteParameters(state, agent, session) {
  if ((agent?.name ?? agent) !== "title") return;
  state.titled.add(session);
  state.onTitle?.();
}

/// The title request is made beside the first request from the very same list of messages, and would
/// carry the block to a second model. So the list is left alone until the title has been read off it.
async function letTitlePass(state, session) {
  if (state.titled.has(session)) return;
  state.titled.add(session);
  const { data } = await state.client.session.get({ path: { id: session } });
  if (!/^(New|Child) session - /.test(data?.title ?? "")) return;
  const { data: config } = await state.client.config.get();
  if (config?.agent?.title?.disable) return;
  await new Promise((resolve) => {
    const timer = setTimeout(resolve, TITLE_WAIT_MS);
    state.onTitle = () => {
      clearTimeout(timer);
      resolve();
    };
  });
  state.onTitle = null;
}

/// A request is being built, from a list that is OpenCode's own. Its members are replaced, never
/// changed in place.
async function onRequest(state, { messages }) {
  const session = messages[0]?.info.sessionID;
  if (!session) return;
  if (!state.first && state.launch.resume && (await isRoot(state, session))) await bindResumed(state, session);
  if (state.first?.session !== session) return;
  // Not there any more after a compaction: then nothing carries the block.
  const index = messages.findIndex(({ info }) => info.id === state.first.message);
  if (index < 0) return;
  await letTitlePass(state, session).catch((error) => reportError(state, error));
  const { launch } = state;
  const { asParts, byPath } = await sortAttachments(state, messages);
  for (const { path } of byPath) report(state, { event: "by_path", path }, path);
  const header = byPathHeader(byPath, launch.prefix) + launch.prefix;
  const { info, parts } = messages[index];
  const place = parts.findIndex(isTyped);
  if (place < 0) return;
  const changed = parts.slice();
  changed[place] = { ...parts[place], text: header + (launch.display ?? parts[place].text) };
  changed.push(...asParts.map((attachment, n) => filePart(attachment, info, n)));
  messages[index] = { info, parts: changed };
  const bytes = Buffer.byteLength(launch.prefix);
  report(state, { event: "acted", session, bytes, attachments: asParts.length }, "acted");
}

async function bindResumed(state, session) {
  const stored = await storedMessages(state, session);
  const { firstMessage } = state.launch;
  const first = firstMessage
    ? stored.find((m) => m.info.id === firstMessage)
    : stored.find((m) => m.info.role === "user" && m.parts.some(isTyped));
  if (first) bind(state, session, first.info.id, first.parts.find(isTyped)?.text ?? "");
}

function isTyped(part) {
  return part.type === "text" && !part.synthetic && !part.ignored;
}

function filePart({ mime, name, data }, { sessionID, id }, n) {
  return {
    id: `prt_omnirun${n}`,
    sessionID,
    messageID: id,
    type: "file",
    mime,
    filename: name,
    url: `data:${mime};base64,${data}`,
  };
}

/// OpenCode puts an error text in place of what the model does not declare: that would go to the
/// model as if the person had said it.
async function sortAttachments(state, messages) {
  if (state.launch.attachments.length === 0) return { asParts: [], byPath: [] };
  const model = messages.findLast(({ info }) => info.role === "user" && info.model)?.info.model;
  const takes = model ? await inputOf(state, model) : {};
  const fits = ({ mime, kind }) => (mime.startsWith("image/") ? takes.image : kind === "pdf" && takes.pdf);
  const { attachments } = state.launch;
  return { asParts: attachments.filter(fits), byPath: attachments.filter((attachment) => !fits(attachment)) };
}

async function inputOf(state, { providerID, modelID }) {
  const key = `${providerID}/${modelID}`;
  if (!state.models.has(key)) {
    const { data } = await state.client.config.providers().catch((error) => {
      reportError(state, error);
      return {};
    });
    const provider = data?.providers?.find(({ id }) => id === providerID);
    state.models.set(key, provider?.models?.[modelID]?.capabilities?.input ?? {});
  }
  return state.models.get(key);
}

async function isRoot(state, session) {
  if (!state.roots.has(session)) {
    const { data } = await state.client.session.get({ path: { id: session } });
    if (!data) throw new Error(`OpenCode does not know session ${session}`);
    state.roots.set(session, !data.parentID);
  }
  return state.roots.get(session);
}

async function storedMessages(state, session) {
  const { data } = await state.client.session.messages({ path: { id: session } });
  return data ?? [];
}

/// What cannot go as bytes is named, unless the block's own header does so already.
function byPathHeader(byPath, prefix) {
  const missing = byPath.filter(({ path }) => !prefix.includes(`${path}\n`));
  if (missing.length === 0) return "";
  return `Please examine the following file(s):\n${missing.map(({ path }) => `${path}\n`).join("")}\n`;
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
