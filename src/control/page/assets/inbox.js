// Puts the page together: what it shows, its keys, and the stream that tells it to look again.

import * as api from "/inbox/api.js";
import { Queue } from "/inbox/cards.js";
import { el } from "/inbox/dom.js";
import { Panel } from "/inbox/panel.js";

const live = document.getElementById("live");
const queue = new Queue(refresh);
// What an approval would do depends on the docs.
const panel = new Panel(() => queue.look());
let running = null;
let again = false;

/** Looks at everything again. Calls that come meanwhile make it look once more, not many times. */
async function refresh() {
  if (running) {
    again = true;
    return running;
  }
  running = (async () => {
    do {
      again = false;
      try {
        const state = await api.state();
        queue.show(state);
        queue.look();
        await panel.projects(state.projects);
      } catch (error) {
        if (error.gone) closed();
        else live.textContent = error.message;
      }
    } while (again);
    running = null;
  })();
  return running;
}

/** The session is over: the page must not look as if it still worked. */
function closed() {
  over = true;
  stream?.close();
  document.querySelector("main").replaceChildren(
    el("p", { class: "obstacle" }, "This page's session has ended. ", el("code", {}, "omni-run inbox open"), " in your terminal gives a new link."));
  live.textContent = "closed";
}

/** How long the page waits before it asks again for a stream that was refused, in ms. */
const AGAIN = 5000;
let stream = null;
let over = false;

/** Opens the stream, and again where it is refused: the browser itself gives up then. */
function listen() {
  if (over) return;
  stream = new EventSource("/inbox/api/events");
  stream.onopen = () => {
    live.textContent = "live";
    refresh();
  };
  stream.onerror = () => {
    live.textContent = "not connected, trying again …";
    if (stream.readyState !== EventSource.CLOSED) return;
    // The state says why.
    refresh();
    setTimeout(listen, AGAIN);
  };
  for (const kind of ["ready", "action", "session", "docs"]) stream.addEventListener(kind, refresh);
}
listen();
// Files change without an event; who comes back to the page wants them as they are.
document.addEventListener("visibilitychange", () => document.hidden || refresh());

const help = document.getElementById("help");
document.getElementById("help-open").addEventListener("click", () => help.showModal());

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("select, input, textarea, dialog");
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  const card = queue.current();
  switch (event.key) {
    case "j": queue.step(1); break;
    case "k": queue.step(-1); break;
    case "a": if (!card || event.repeat) return; queue.decide(card, "approve"); break;
    case "r": if (!card || event.repeat) return; queue.decide(card, "reject"); break;
    case "o": if (!card) return; card.querySelector("button.fold")?.click(); break;
    case "?": help.showModal(); break;
    default: return;
  }
  event.preventDefault();
});

refresh();
