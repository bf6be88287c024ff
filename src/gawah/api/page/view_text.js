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
  for (const block of window_.blocks) {
    if (block.to <= block.from) continue;
    while (parts.length && parts[0].from < block.to && window_.part_kind !== "time") made.push(h("p", { class: "part" }, parts.shift().label));
    rest(block.from);
    made.push(element({ ...block, from: Math.max(at, block.from) }));
    at = Math.max(at, block.to);
  }
  rest(window_.to);
  return made;
}
