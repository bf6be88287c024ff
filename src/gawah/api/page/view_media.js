// A recording at the cited time, with what was heard: a click on a line goes to its time.

import { appendMarked, clear, clock, h, spoken, Text } from "./dom.js";
import { address, documentPrefix, get } from "./http.js";
import { rangesOf } from "./view_text.js";

export async function mediaView(body, found) {
  const { record, locator } = found;
  const isFilm = record.media_type.startsWith("video/");
  const window_ = await get(`/v1/documents/${encodeURIComponent(record.id)}/blocks`, found.from === undefined ? {} : { around: found.from });
  const src = await address(documentPrefix(record.id), "original", { sha256: record.indexed_sha256 });
  const start = locator?.start_s ?? 0;
  const player = h(isFilm ? "video" : "audio", { controls: true, preload: "metadata", class: "player", "aria-label": record.name, src });
  const lines = h("ol", { class: "transcript" });
  const room = h("div", { class: "text-room", tabindex: "0", role: "region", "aria-label": "Transcript" }, lines);
  clear(body, player, room);
  player.addEventListener("loadedmetadata", () => {
    if (start) player.currentTime = start;
  }, { once: true });

  const text = new Text(window_.text, window_.from);
  const ranges = rangesOf(found);
  const rows = window_.parts.map((part) => {
    const words = spoken(h("span", { dir: "auto" }), text.slice(part.from, part.to));
    const isCited = appendMarked(words, text, Math.max(part.from, window_.from), Math.min(part.to, window_.to), ranges);
    const button = h("button", { type: "button", class: "quiet", "aria-label": `Play from ${clock(part.start_s)}`, onclick: () => {
      player.currentTime = part.start_s;
      player.play();
    } }, clock(part.start_s));
    const line = h("li", { class: isCited ? "cited" : null }, button, words);
    return { part, line };
  });
  clear(lines, rows.map((row) => row.line));
  (lines.querySelector("mark.strong") || lines.querySelector(".cited"))?.scrollIntoView({ block: "center" });
  const follow = () => {
    for (const { part, line } of rows) line.classList.toggle("playing", !player.paused && player.currentTime >= part.start_s && player.currentTime < part.end_s);
  };
  player.addEventListener("timeupdate", follow);
  player.addEventListener("pause", follow);
  return {
    leave: () => {
      player.pause();
      player.removeAttribute("src");
    },
  };
}
