// Requests to the server that the page came from. Each carries the session's token, which this
// origin's storage keeps; an error becomes an exception with the server's own words.

import { KEPT } from "/inbox/kept.js";

/** An answer of the server that is no success. `gone`: the session has ended. */
export class Refused extends Error {
  constructor(status, error) {
    super(error?.hint ? `${error.message}. ${error.hint}` : error?.message ?? `HTTP ${status}`);
    this.gone = status === 401;
    this.code = error?.code;
  }
}

async function request(method, path, body, blob = false) {
  const headers = { "X-CSRF-Token": localStorage.getItem(KEPT) ?? "" };
  if (method !== "GET") headers["Content-Type"] = "application/json";
  let answer;
  try {
    answer = await fetch(`/inbox/api/${path}`, {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch {
    throw new Refused(0, { message: "omni-run serve does not answer", hint: "Is it running?" });
  }
  if (answer.ok && blob) return answer.blob();
  const value = await answer.json().catch(() => null);
  if (!answer.ok) throw new Refused(answer.status, value?.error);
  return value;
}

/** Everything that the page shows of the queue. */
export const state = () => request("GET", "state");

const part = encodeURIComponent;

/** One action with its preview. */
export const action = (id) => request("GET", `actions/${part(id)}`);
/** Its picture, as a blob. */
export const picture = (id) => request("GET", `actions/${part(id)}/image`, undefined, true);
/** Says yes or no to an action: `approve`, `reject`. */
export const decide = (id, word) => request("POST", `actions/${part(id)}/${word}`, {});
/** The docs of a project, as they are for an engine. */
export const docs = (project, engine) =>
  request("GET", `projects/${part(project)}/docs${engine ? `?engine=${part(engine)}` : ""}`);
/** A change of a person's own: `order`, `instruction`, `move`. */
export const change = (project, what, body) =>
  request("POST", `projects/${part(project)}/${what}`, body);
