// Small tools for building the page. Text always becomes a text node: what comes from files and
// programs can never be markup.

/** An element with properties, data and children (elements, strings, or nothing). */
export function el(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "class") node.className = value;
    else if (name === "on") for (const [type, f] of Object.entries(value)) node.addEventListener(type, f);
    else if (name === "data") Object.assign(node.dataset, value);
    else if (name.startsWith("aria-") || name === "role") node.setAttribute(name, value);
    else node[name] = value;
  }
  node.append(...present(children));
  return node;
}

const present = (children) => children.flat().filter((child) => child !== null && child !== undefined && child !== false);

/** Puts these children (as for `el`) in the place of those that a node has. */
export function fill(node, ...children) {
  node.replaceChildren(...present(children));
}

// Controls, bidirectional marks, zero-width characters: they make text look like what it is not.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]|[\u{e0000}-\u{e007f}]/gu;

/** A foreign text, with what can't be seen in it shown as its code point. */
export function visible(text) {
  const parts = [];
  let from = 0;
  for (const match of text.matchAll(HIDDEN)) {
    parts.push(text.slice(from, match.index));
    const code = match[0].codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
    parts.push(el("span", { class: "hidden-char", title: "a character that can't be seen" }, `U+${code}`));
    from = match.index + match[0].length;
  }
  parts.push(text.slice(from));
  return parts;
}

/** Bytes for people, as the terminal says them. */
export function size(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  let value = bytes;
  let unit = "B";
  for (unit of ["KB", "MB", "GB", "TB"]) {
    value /= 1000;
    // 999.5 would be rounded to 1000 of this unit.
    if (value < 999.5) break;
  }
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)} ${unit}`;
}

/** A stretch of time in ms for people. */
export function span(ms) {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172800) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86400)} days`;
}

/** Says something for a while at the edge of the page. */
export function toast(text, kind = "ok") {
  const node = el("p", { class: `toast ${kind}` }, text);
  const box = document.getElementById("toasts");
  box.append(node);
  while (box.children.length > 4) box.firstChild.remove();
  setTimeout(() => node.remove(), kind === "ok" ? 5000 : 15000);
}
