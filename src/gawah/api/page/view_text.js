// The canonical text as it was read, block by block, in windows, with the cited range marked.

import { appendMarked, clear, h, spoken, Text, trouble } from "./dom.js";
import { get } from "./http.js";

const HEADING_LEVELS = [3, 6];

export async function textView(body, found) {
  const { record } = found;
  const column = h("div", { class: "text-column" });
  const room = h("div", { class: "text-room", tabindex: "0", role: "region", "aria-label": "Text of the source" }, column);
  clear(body, room);
  const ranges = rangesOf(found);

  async function load(asked) {
    const window_ = await get(`/v1/documents/${encodeURIComponent(record.id)}/blocks`, asked);
    const size = window_.to - window_.from;
    clear(column,
      window_.from > 0 ? h("button", { type: "button", class: "quiet", onclick: () => turn({ from: Math.max(0, window_.from - size) }) }, "Earlier text") : null,
      blockElements(window_, ranges),
      window_.to < window_.n_chars ? h("button", { type: "button", class: "quiet", onclick: () => turn({ from: window_.to }) }, "Later text") : null);
  }

  async function turn(asked) {
    try {
      await load(asked);
      room.scrollTo(0, 0);
      room.focus();
    } catch (error) {
      clear(column, trouble(error));
    }
  }

  await load(found.from === undefined ? {} : { around: found.from });
  (column.querySelector("mark.strong") || column.querySelector("mark"))?.scrollIntoView({ block: "center" });
}

/** The cited range, and the statements in it that carry the claims. */
export function rangesOf(found) {
  if (found.from === undefined) return [];
  return [{ from: found.from, to: found.to, name: "soft" }, ...found.highlights.map((range) => ({ from: range.from, to: range.to, name: "strong" }))];
}

/** Blocks as elements; where a part of the original begins (a slide, a message, a chapter), its name stands above. */
export function blockElements(window_, ranges) {
  const text = new Text(window_.text, window_.from);
  const parts = [...window_.parts];
  const made = [];
  let at = window_.from;
  const rest = (to) => {
    if (text.slice(at, to).trim()) made.push(element({ kind: "paragraph", from: at, to }));
  };
  const element = (block) => {
    const words = text.slice(block.from, block.to);
    const level = Math.min(HEADING_LEVELS[1], Math.max(HEADING_LEVELS[0], block.level + 2));
    const name = block.kind === "heading" ? `h${level}` : block.kind === "code" || block.kind === "table" ? "pre" : "p";
    const made_ = spoken(h(name, { class: `block block-${block.kind}`, dir: block.kind === "code" ? "ltr" : "auto" }), words);
    appendMarked(made_, text, block.from, block.to, ranges);
    return made_;
  };
  for (const block of tablesJoined(window_.blocks, text)) {
    if (block.to <= block.from) continue;
    while (parts.length && parts[0].from < block.to && window_.part_kind !== "time") made.push(h("p", { class: "part" }, parts.shift().label));
    rest(block.from);
    const own = { ...block, from: Math.max(at, block.from) };
    made.push((block.kind === "table" && tableElement(own, text, ranges)) || element(own));
    at = Math.max(at, block.to);
  }
  rest(window_.to);
  return made;
}

/** Tables are blocks of one row each in some formats: rows that follow each other are one table. */
function tablesJoined(blocks, text) {
  const joined = [];
  for (const block of blocks) {
    const last = joined.at(-1);
    if (last?.kind === "table" && block.kind === "table" && text.slice(last.to, block.from) === "\n") last.to = block.to;
    else joined.push({ ...block });
  }
  return joined;
}

const RULE = /^[\s|:+-]+$/;

/** Lines of cells between pipes as a table; null for what is none. A line of dashes parts the head from the rest. */
function tableElement(block, text, ranges) {
  const lines = [];
  let at = block.from;
  for (const line of text.slice(block.from, block.to).split("\n")) {
    lines.push({ line, at });
    at += Array.from(line).length + 1;
  }
  const shown = lines.filter(({ line }) => line.trim());
  if (!shown.length || shown.some(({ line }) => !line.includes("|"))) return null;
  const nHead = RULE.test(shown[1]?.line || "") ? 1 : 0;
  const rows = shown.filter(({ line }) => !RULE.test(line)).map(({ line, at: start }, index) =>
    h("tr", {}, cellsOf(line, start).map(({ from, to }) => {
      const cell = spoken(h(index < nHead ? "th" : "td", { dir: "auto", scope: index < nHead ? "col" : null }), text.slice(from, to));
      appendMarked(cell, text, from, to, ranges);
      return cell;
    })));
  return h("table", { class: "text-table", tabindex: "0" }, nHead ? h("thead", {}, rows.slice(0, 1)) : null, h("tbody", {}, rows.slice(nHead)));
}

/** Where the cells of a line stand, without the blanks around them; a pipe behind a backslash is a pipe. */
function cellsOf(line, start) {
  const points = Array.from(line);
  const edges = [-1];
  points.forEach((point, index) => point === "|" && points[index - 1] !== "\\" && edges.push(index));
  edges.push(points.length);
  const cells = [];
  for (let i = 0; i + 1 < edges.length; i += 1) {
    let [from, to] = [edges[i] + 1, edges[i + 1]];
    while (from < to && points[from].trim() === "") from += 1;
    while (to > from && points[to - 1].trim() === "") to -= 1;
    const isOutside = from === to && ((i === 0 && line.trimStart().startsWith("|")) || (i + 2 === edges.length && line.trimEnd().endsWith("|")));
    if (!isOutside) cells.push({ from: start + from, to: start + to });
  }
  return cells;
}
