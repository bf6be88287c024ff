// Values to elements. Text only ever becomes a text node: nothing here, or anywhere in the page, parses markup.

const SVG = "http://www.w3.org/2000/svg";

/** An element with attributes (`onclick` and the like are listeners; false and null leave one out) and children. */
export function h(name, attributes = {}, ...children) {
  return dressed(document.createElement(name), attributes, children);
}

/** The same for drawings. */
export function s(name, attributes = {}, ...children) {
  return dressed(document.createElementNS(SVG, name), attributes, children);
}

function dressed(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function clear(element, ...children) {
  element.replaceChildren(...children.flat().filter(Boolean));
  return element;
}

/** Words of a document or a question: their own direction and, for the fonts, the language their script speaks of. */
export function told(name, text, attributes = {}) {
  return spoken(h(name, { dir: "auto", ...attributes }, text), text);
}

export function spoken(element, text) {
  const language = languageOf(text);
  if (language) element.setAttribute("lang", language);
  return element;
}

export function languageOf(text) {
  const sample = text.slice(0, 400);
  const arabic = (sample.match(/[\u0600-\u06ff]/g) || []).length;
  const nagari = (sample.match(/[\u0900-\u097f]/g) || []).length;
  if (Math.max(arabic, nagari) < 0.3 * sample.replace(/[\s\d\p{P}]/gu, "").length) return "";
  if (nagari >= arabic) return nagari ? "hi" : "";
  return /[\u0679\u0688\u0691\u06ba\u06be\u06c1\u06cc\u06d2\u06a9]/.test(sample) ? "ur" : "ar";
}

/** Offsets of the server count code points, JavaScript's count half of some of them. */
export class Text {
  constructor(text, start = 0) {
    this.points = Array.from(text);
    this.start = start;
    this.end = start + this.points.length;
  }

  slice(from, to) {
    return this.points.slice(Math.max(0, from - this.start), Math.max(0, to - this.start)).join("");
  }
}

/** Appends a range of a text, with what lies in `ranges` (each {from, to, name}) in marks; the first has the id `cited`. */
export function appendMarked(element, text, from, to, ranges) {
  const inside = ranges.filter((range) => range.from < to && range.to > from);
  const cuts = new Set([from, to]);
  for (const range of inside) {
    cuts.add(Math.max(from, range.from));
    cuts.add(Math.min(to, range.to));
  }
  const edges = [...cuts].sort((a, b) => a - b);
  for (let i = 0; i + 1 < edges.length; i += 1) {
    const piece = text.slice(edges[i], edges[i + 1]);
    const names = inside.filter((range) => range.from <= edges[i] && range.to >= edges[i + 1]).map((range) => range.name);
    if (names.length) element.append(h("mark", { class: names.includes("strong") ? "strong" : "soft" }, piece));
    else element.append(piece);
  }
  return inside.length > 0;
}

export function announce(message) {
  const live = document.getElementById("live");
  live.textContent = "";
  requestAnimationFrame(() => {
    live.textContent = message;
  });
}

export function plural(n, one, many = `${one}s`) {
  return `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
}

export function bytes(n) {
  if (n < 1000) return `${n} B`;
  const [value, unit] = n < 1e6 ? [n / 1e3, "kB"] : n < 1e9 ? [n / 1e6, "MB"] : [n / 1e9, "GB"];
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${unit}`;
}

/** A time in seconds since 1970 as people say it; the whole date stands in the title. */
export function when(seconds) {
  const date = new Date(seconds * 1000);
  const ago = (Date.now() - date) / 1000;
  const words = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
  let shown = date.toLocaleDateString("en", { day: "numeric", month: "short", year: "numeric" });
  if (ago < 60) shown = "just now";
  else if (ago < 3600) shown = words.format(-Math.round(ago / 60), "minute");
  else if (ago < 86400) shown = words.format(-Math.round(ago / 3600), "hour");
  else if (ago < 6 * 86400) shown = words.format(-Math.round(ago / 86400), "day");
  return h("time", { datetime: date.toISOString(), title: date.toLocaleString("en") }, shown);
}

export function clock(seconds) {
  const whole = Math.floor(seconds);
  const pair = (n) => String(n).padStart(2, "0");
  const minutes = Math.floor(whole / 60) % 60;
  return whole >= 3600 ? `${Math.floor(whole / 3600)}:${pair(minutes)}:${pair(whole % 60)}` : `${minutes}:${pair(whole % 60)}`;
}

const ICONS = {
  ok: "M4 10.5 8.2 14.5 16 6",
  weak: "M4 11c2-3 4-3 6-1s4 2 6-1",
  bad: "M5.5 5.5l9 9m0-9l-9 9",
  none: "M5 10h10",
  close: "M5.5 5.5l9 9m0-9l-9 9",
  left: "M12 4.5 6.5 10l5.5 5.5",
  right: "M8 4.5 13.5 10 8 15.5",
  plus: "M10 4.5v11M4.5 10h11",
  minus: "M4.5 10h11",
  file: "M6 2.5h5.5L15 6v11.5H6zM11.5 2.5V6H15",
};

export function icon(name) {
  return s("svg", { class: "icon", viewBox: "0 0 20 20", "aria-hidden": "true" }, s("path", { d: ICONS[name] }));
}

export function iconButton(name, label, onclick, attributes = {}) {
  return h("button", { type: "button", class: "icon-button", "aria-label": label, title: label, onclick, ...attributes }, icon(name));
}

/** A failure as a card: what happened, and how to go on. */
export function trouble(error) {
  const detail = error && error.detail ? error.detail : "The server cannot be reached. Is it running?";
  const id = error && error.requestId ? h("small", {}, ` Request ${error.requestId}.`) : null;
  return h("p", { class: "notice bad", role: "alert" }, detail, id);
}
