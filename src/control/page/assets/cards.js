// The queue: a card for each action that waits, with what an approval would do, and a line for each
// that is decided. What a card shows is what the server's preview says; nothing is guessed here.

import * as api from "/inbox/api.js";
import { el, fill, size, span, toast, visible } from "/inbox/dom.js";

// A text longer than this is folded until somebody opens it, in lines.
const FOLDED_LINES = 18;

const BUCKETS = {
  always: "in front of every session's first message",
  rag: "listed, read by the engine when it wants to",
};
const WORDS = {
  applied: "done", rejected: "rejected", failed: "failed", expired: "expired", applying: "under way",
};

/** What is asked for, in a few words. */
export function title(action) {
  const p = action.payload;
  switch (action.kind) {
    case "add_doc": return [p.replace ? "Add or replace " : "Add ", name(p.filename)];
    case "delete_doc": return ["Delete ", name(p.filename)];
    case "launch": return ["Start ", name(p.engine)];
    case "settings": return ["Change settings"];
    default: return [action.kind];
  }
}

const name = (text) => el("code", {}, visible(text ?? "?"));

function facts(action, now) {
  const p = action.payload;
  const rows = [];
  const row = (term, ...value) => rows.push(el("dt", {}, term), el("dd", {}, ...value));
  if (action.project) row("project", name(action.project), action.projectFolder ? el("span", { class: "quiet" }, " ", visible(action.projectFolder)) : "");
  if (p.path) row("from", name(p.path));
  if (p.bucket) row("bucket", el("span", { class: `badge ${p.bucket}` }, p.bucket), el("span", { class: "quiet" }, " ", BUCKETS[p.bucket] ?? ""));
  if (p.engine) row("engine", name(p.engine), p.model ? [", model ", name(p.model)] : ", its own choice of model", ", one-shot, without options of its own");
  if (action.sizeBytes !== null && action.sizeBytes !== undefined) row("size", size(action.sizeBytes));
  if (action.contentHash) row("SHA-256", el("code", { class: "hash" }, action.contentHash));
  row("asked by", visible(action.askedBy), el("span", { class: "quiet age", data: { at: action.askedAt } }, ` ${span(now - action.askedAt)} ago`));
  row("expires", el("span", { class: "quiet" }, `in ${span(action.expiresAt - now)}`));
  return el("dl", { class: "facts" }, rows);
}

/** Lines of a unified diff, coloured by their first character. */
function diffLines(diff) {
  return diff.replace(/\n$/, "").split("\n").map((line, at) => {
    // The first two lines name the sides.
    const kind = at < 2 ? "place" : { "+": "added", "-": "removed", "@": "place" }[line[0]] ?? "same";
    return el("span", { class: `line ${kind}` }, visible(line), "\n");
  });
}

function body(action, preview) {
  const parts = preview.warnings.map((text) => el("p", { class: "warning" }, "⚠ ", visible(text)));
  if (preview.obstacle) {
    parts.push(el("p", { class: "obstacle" }, "As it is now, an approval fails: ", visible(preview.obstacle)));
  }
  if (preview.replaces) {
    parts.push(el("p", { class: "quiet" }, `takes the place of a doc of ${size(preview.replaces.size)}`));
  }
  const content = preview.content;
  if (preview.diff !== null) {
    const text = preview.diff === "" ? "no difference to the doc that is there now" : diffLines(preview.diff);
    parts.push(folding(el("pre", { class: "diff", tabIndex: 0, "aria-label": "difference" }, text), lineCount(preview.diff)));
  } else if (content.kind === "image") {
    parts.push(picture(action.id));
  } else if (content.kind === "text") {
    const label = action.kind === "launch" ? "prompt" : "text";
    parts.push(folding(el("pre", { tabIndex: 0, "aria-label": label }, visible(content.text)), lineCount(content.text)));
  } else if (content.kind === "binary") {
    parts.push(el("p", { class: "quiet" }, "no text: ", visible(content.about)));
  } else if (content.kind === "settings") {
    parts.push(el("table", {}, el("tbody", {}, content.settings.map((s) => el("tr", {},
      el("th", { scope: "row" }, el("code", {}, s.key)),
      el("td", {}, s.now === null ? "not set" : JSON.stringify(s.now)), el("td", {}, "→"),
      el("td", {}, JSON.stringify(s.then)))))));
  }
  if (preview.truncated) parts.push(el("p", { class: "quiet" }, "only the beginning is shown; `omni-run inbox show ID --full` shows all"));
  return parts.flat();
}

/** The picture, once it is here. */
function picture(id) {
  const image = el("img", { class: "picture", alt: "the picture that is to be added" });
  image.addEventListener("load", () => URL.revokeObjectURL(image.src));
  api.picture(id).then((blob) => { image.src = URL.createObjectURL(blob); }, (error) => image.replaceWith(el("p", { class: "obstacle" }, error.message)));
  return image;
}

const lineCount = (text) => text.split("\n").length;

function folding(pre, lines) {
  if (lines <= FOLDED_LINES) return pre;
  pre.classList.add("folded");
  const button = el("button", { type: "button", class: "fold plain", "aria-expanded": "false" }, `Show all ${lines} lines`);
  button.addEventListener("click", () => {
    const folded = pre.classList.toggle("folded");
    button.textContent = folded ? `Show all ${lines} lines` : "Show less";
    button.setAttribute("aria-expanded", String(!folded));
  });
  return [pre, button];
}

/** The queue on the page. */
export class Queue {
  #cards = new Map();
  #done;

  /** `done` is called after a decision. */
  constructor(done) {
    this.#done = done;
    this.box = document.getElementById("cards");
    this.past = document.getElementById("decided");
  }

  /** Shows this state: new cards come, decided ones go, the others stay as they are, with the focus. */
  show({ actions, decided, now, waiting }) {
    const open = new Set(actions.map((action) => action.id));
    const focused = document.activeElement?.closest?.(".card");
    const next = focused && !open.has(focused.dataset.id) ? this.#neighbour(focused, open) : null;
    for (const [id, card] of this.#cards) {
      if (!open.has(id)) {
        card.remove();
        this.#cards.delete(id);
      }
    }
    for (const action of actions) {
      if (!this.#cards.has(action.id)) {
        const card = this.#card(action, now);
        this.#cards.set(action.id, card);
        this.box.append(card);
      }
    }
    this.box.querySelector(".empty")?.remove();
    if (actions.length === 0) this.box.append(el("p", { class: "empty" }, "Nothing waits. What programs ask for shows up here by itself."));
    for (const age of this.box.querySelectorAll(".age")) age.textContent = ` ${span(now - Number(age.dataset.at))} ago`;
    document.getElementById("count").textContent = waiting || "";
    document.getElementById("more").hidden = waiting <= actions.length;
    document.title = waiting ? `(${waiting}) omni-run inbox` : "omni-run inbox";
    this.past.replaceChildren(...decided.map((action) => this.#line(action, now)));
    document.getElementById("past").hidden = decided.length === 0;
    if (next) next.focus();
  }

  #neighbour(card, open) {
    const is = (node) => node?.classList?.contains("card") && open.has(node.dataset.id);
    for (let node = card.nextElementSibling; node; node = node.nextElementSibling) if (is(node)) return node;
    for (let node = card.previousElementSibling; node; node = node.previousElementSibling) if (is(node)) return node;
    return document.getElementById("queue");
  }

  #line(action, now) {
    const when = action.appliedAt ?? action.decidedAt ?? action.expiresAt;
    return el("p", { class: "past" },
      el("span", { class: `badge ${action.status}` }, WORDS[action.status] ?? action.status), " ", title(action),
      el("span", { class: "quiet" }, ` ${span(now - when)} ago`,
        action.decidedBy ? [", by ", visible(action.decidedBy)] : "",
        action.outcome ? [" · ", visible(action.outcome.message)] : ""));
  }

  #card(action, now) {
    const buttons = ["approve", "reject"].map((word) => el("button", {
      type: "button", class: word, on: { click: () => this.decide(card, word) },
    }, word === "approve" ? "Approve" : "Reject"));
    const preview = el("div", { class: "preview", "aria-busy": "true" }, el("p", { class: "quiet" }, "looking …"));
    const heading = `card-${action.id}`;
    const card = el("article", { class: "card", tabIndex: 0, data: { id: action.id }, "aria-labelledby": heading },
      el("h3", { id: heading }, title(action)), facts(action, now), preview, el("div", { class: "row" }, buttons));
    // A card that nobody has come to yet asks for nothing.
    const seen = new IntersectionObserver((entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      seen.disconnect();
      card.look = () => this.#preview(action, preview);
      card.look();
    }, { rootMargin: "600px" });
    seen.observe(card);
    return card;
  }

  /** Looks at the previews again that somebody has come to: the files may have changed. */
  look() {
    for (const card of this.#cards.values()) card.look?.();
  }

  async #preview(action, box) {
    let seen = "";
    try {
      const { preview } = await api.action(action.id);
      seen = JSON.stringify(preview);
      // What is unfolded stays so.
      if (seen !== box.seen) fill(box, body(action, preview));
    } catch (error) {
      fill(box, el("p", { class: "obstacle" }, error.message));
    }
    box.seen = seen;
    box.setAttribute("aria-busy", "false");
  }

  /** Carries a person's word out; the buttons rest meanwhile. */
  async decide(card, word) {
    const buttons = [...card.querySelectorAll("button.approve, button.reject")];
    if (buttons.some((button) => button.disabled)) return;
    // A button that is disabled loses the focus; the card keeps it, and hands it on when it goes.
    if (card.contains(document.activeElement)) card.focus();
    for (const button of buttons) button.disabled = true;
    try {
      const action = await api.decide(card.dataset.id, word);
      const bad = action.status === "failed" || (word === "approve" && action.status === "expired");
      toast(action.outcome?.message ?? WORDS[action.status] ?? action.status, bad ? "bad" : "ok");
    } catch (error) {
      toast(error.message, "bad");
      for (const button of buttons) button.disabled = false;
    }
    await this.#done();
  }

  /** The card that has the focus, or the first. */
  current() {
    return document.activeElement?.closest?.(".card") ?? null;
  }

  /** Moves the focus by so many cards. */
  step(by) {
    const cards = [...this.box.querySelectorAll(".card")];
    if (cards.length === 0) return;
    const at = cards.indexOf(this.current());
    const next = at < 0 ? (by > 0 ? 0 : cards.length - 1) : Math.min(cards.length - 1, Math.max(0, at + by));
    cards[next].focus();
    cards[next].scrollIntoView({ block: "nearest" });
  }
}
