// The Auto Context panel: a project's docs as an engine would get them, in their order, with what
// becomes of each and why. A person's clicks here take effect at once; they need no approval.

import * as api from "/inbox/api.js";
import { el, fill, size, toast, visible } from "/inbox/dom.js";

const STATES = {
  injected: ["injected", "in the block, whole"],
  instruction: ["instruction", "in the system prompt"],
  skipped: ["skipped", "over the budget: a note with its path goes instead"],
  withheld: ["withheld", "over the budget: a binding notice with its path goes instead"],
  attached: ["attached", "as bytes"],
  by_path: ["by path", "named by its path"],
  ignored: ["ignored", "not used"],
  empty: ["empty", "without content"],
};

/** The panel on the page. */
export class Panel {
  #asked = 0;
  /** What is shown, as text; null: something else than docs. */
  #shown = null;

  /** `changed` is called after a change of the docs. */
  constructor(changed) {
    this.changed = changed;
    this.box = document.getElementById("docs");
    this.project = document.getElementById("project");
    this.engine = document.getElementById("engine");
    this.project.addEventListener("change", () => this.load());
    this.engine.addEventListener("change", () => this.load());
  }

  /** The projects that there are now; the chosen one stays. */
  projects(projects) {
    const now = this.project.value;
    const ids = projects.map((project) => project.id);
    if ([...this.project.options].map((option) => option.value).join("\n") !== ids.join("\n")) {
      this.project.replaceChildren(...projects.map((project) =>
        el("option", { value: project.id, title: project.folder }, project.id)));
      if (ids.includes(now)) this.project.value = now;
    }
    return this.load();
  }

  /** Looks at the docs again. */
  async load() {
    const id = this.project.value;
    if (!id) {
      this.#shown = null;
      this.box.replaceChildren(el("p", { class: "empty" }, "No project is registered. ", el("code", {}, "omni-run project add"), " does that."));
      return;
    }
    // An answer that comes after a newer question is not shown.
    const asked = ++this.#asked;
    try {
      const docs = await api.docs(id, this.engine.value);
      if (asked === this.#asked) this.#show(docs);
    } catch (error) {
      if (error.gone) throw error;
      if (asked !== this.#asked) return;
      this.#shown = null;
      this.box.replaceChildren(el("p", { class: "obstacle" }, error.message));
    }
  }

  async #change(what, body, said) {
    const id = this.project.value;
    const asked = ++this.#asked;
    try {
      const docs = await api.change(id, what, body);
      if (asked === this.#asked) this.#show(docs);
      toast(said);
      this.changed();
    } catch (error) {
      toast(error.message, "bad");
      await this.load();
    }
  }

  #show(docs) {
    // Nothing new: a button that is being pressed is not taken away from under the hand.
    const text = JSON.stringify(docs);
    if (text === this.#shown) return;
    this.#shown = text;
    const focus = document.activeElement?.closest?.("#docs [data-focus]")?.dataset.focus;
    const engines = docs.engines.map((engine) => engine.id);
    if ([...this.engine.options].map((option) => option.value).join("\n") !== engines.join("\n")) {
      this.engine.replaceChildren(...docs.engines.map((engine) => el("option", { value: engine.id }, engine.name)));
    }
    this.engine.value = docs.budget.engine;
    const ordered = docs.files.filter((file) => file.order !== null);
    const rest = docs.files.filter((file) => file.order === null);
    fill(this.box,
      bar(docs),
      el("h3", {}, "always ", el("span", { class: "quiet" }, `${files(ordered.length)}, ${size(docs.totalBytes)}`)),
      ordered.length ? el("ol", { class: "docs" }, ordered.map((file, at) => this.#doc(file, at, ordered))) : el("p", { class: "empty" }, "no docs yet"),
      rest.length ? el("details", {}, el("summary", {}, `${rest.length} not used`), el("ul", { class: "docs" }, rest.map((file) => this.#plain(file)))) : null,
      el("h3", {}, "rag ", el("span", { class: "quiet" }, `${files(docs.ragFiles.length)}, ${size(docs.ragTotalBytes)}`)),
      docs.ragFiles.length ? el("ul", { class: "docs" }, docs.ragFiles.map((file) => this.#rag(file))) : el("p", { class: "empty" }, "no files in rag/"));
    if (focus) [...this.box.querySelectorAll("[data-focus]")].find((node) => node.dataset.focus === focus)?.focus();
  }

  #doc(file, at, all) {
    const text = file.kind === "text";
    const button = (label, title, what, act, more = {}) => el("button", {
      type: "button", class: "plain", title, "aria-label": `${title}: ${file.name}`,
      data: { focus: `${what} ${file.name}` }, on: { click: act }, ...more,
    }, label);
    const item = el("li", {
      class: `doc ${file.state}`, tabIndex: 0, draggable: true, data: { focus: `doc ${file.name}` },
      on: {
        keydown: (event) => {
          if (!event.altKey || !["ArrowUp", "ArrowDown"].includes(event.key)) return;
          event.preventDefault();
          this.#order(all, at, at + (event.key === "ArrowUp" ? -1 : 1));
        },
        dragstart: (event) => {
          event.dataTransfer.setData("text/plain", String(at));
          event.dataTransfer.effectAllowed = "move";
        },
        dragover: (event) => event.preventDefault(),
        drop: (event) => {
          event.preventDefault();
          const from = Number.parseInt(event.dataTransfer.getData("text/plain"), 10);
          if (from >= 0 && from < all.length) this.#order(all, from, at);
        },
      },
    },
      line(file, size(file.size)),
      el("div", { class: "buttons" },
        button("↑", "Move up", "up", () => this.#order(all, at, at - 1), { disabled: at === 0 }),
        button("↓", "Move down", "down", () => this.#order(all, at, at + 1), { disabled: at === all.length - 1 }),
        text ? button(file.instruction ? "not an instruction" : "instruction", file.instruction ? "Clear the instruction flag" : "Make it an instruction", "flag",
          () => this.#change("instruction", { name: file.name, on: !file.instruction }, file.instruction ? "no instruction any more" : "an instruction from the next session on"),
          { "aria-pressed": String(file.instruction) }) : null,
        button("to rag", "Move to rag", "move", () => this.#change("move", { name: file.name, from: "always" }, "moved to rag"))));
    return item;
  }

  #order(all, from, to) {
    if (to < 0 || to >= all.length || from === to) return;
    const names = all.map((file) => file.name);
    names.splice(to, 0, ...names.splice(from, 1));
    this.#change("order", { names }, "the order is kept");
  }

  #plain(file) {
    return el("li", { class: "doc ignored" }, line(file, size(file.size)));
  }

  #rag(file) {
    const about = file.description ?? (file.listed ? "" : "not among the hundred that are listed");
    return el("li", { class: "doc" },
      el("div", { class: "line" }, el("span", { class: "name" }, visible(file.name)), " ", el("span", { class: "quiet" }, size(file.size)),
        about ? el("p", { class: "reason" }, visible(about)) : null),
      el("div", { class: "buttons" }, el("button", {
        type: "button", class: "plain", "aria-label": `Move to always: ${file.name}`, title: "Move to always",
        data: { focus: `move ${file.name}` },
        on: { click: () => this.#change("move", { name: file.name, from: "rag" }, "moved to always") },
      }, "to always")));
  }
}

const files = (count) => (count === 1 ? "1 file" : `${count} files`);

function line(file, bytes) {
  const [word, means] = STATES[file.state] ?? [file.state, ""];
  return el("div", { class: "line" },
    el("span", { class: "name" }, visible(file.name)), " ", el("span", { class: "quiet" }, bytes), " ",
    el("span", { class: `badge ${file.state}`, title: means }, word),
    file.instruction && file.state !== "instruction" ? [" ", el("span", { class: "badge instruction" }, "instruction")] : null,
    file.reason || !["injected", "instruction", "attached"].includes(file.state) ? el("p", { class: "reason" }, visible(file.reason ?? means)) : null);
}

/** How full the engine's budget is. */
function bar(docs) {
  const { bytes, usedBytes } = docs.budget;
  const full = bytes > 0 ? Math.min(100, Math.round((100 * usedBytes) / bytes)) : 100;
  return el("div", { class: "budget" },
    el("meter", { min: 0, max: Math.max(1, bytes), value: usedBytes, high: bytes * 0.9, "aria-label": "budget" }),
    el("span", { class: "quiet" }, ` ${size(usedBytes)} of ${size(bytes)} (${full} %) of the budget of ${docs.budget.engine}`,
      docs.budget.model ? `, ${docs.budget.model}` : ""));
}
