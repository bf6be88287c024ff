// The source of a citation, opened at its place: which kind of view shows it, what stands above it, and what has changed since.

import { clear, h, iconButton, told, trouble } from "./dom.js";
import { address, documentPrefix, get } from "./http.js";
import { frameView } from "./view_frame.js";
import { mediaView } from "./view_media.js";
import { pagesView } from "./view_pages.js";
import { sheetView } from "./view_sheet.js";
import { textView } from "./view_text.js";

const SHEETS = new Set([
  "text/csv", "text/tab-separated-values", "application/vnd.ms-excel", "application/vnd.oasis.opendocument.spreadsheet",
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
]);
const NARROW = window.matchMedia("(max-width: 62rem)");
const pane = document.getElementById("viewer");
let open = null; // {target, leave}
let opener = null;

export function isOpenFor(target) {
  return open !== null && open.target.documentId === target.documentId && open.target.id === target.id && open.target.back === target.back;
}

export function closeViewer() {
  if (!open) return;
  const isHere = pane.contains(document.activeElement) || document.activeElement === document.body;
  open.leave();
  open = null;
  pane.hidden = true;
  pane.replaceChildren();
  document.body.classList.remove("with-viewer");
  const cited = document.querySelector("[data-open]");
  for (const link of document.querySelectorAll("[data-open]")) link.removeAttribute("data-open");
  setBehind();
  // Opened by its address, it has no opener: the focus goes to what would have opened it, and is never lost.
  if (isHere) [opener, cited, document.querySelector("#main h1, #main")].find((one) => one?.isConnected)?.focus();
  opener = null;
}

export async function openViewer(target) {
  if (!open) opener = document.activeElement instanceof HTMLElement && document.activeElement !== document.body ? document.activeElement : null;
  open?.leave();
  const own = { target, leave: () => {} };
  open = own;
  pane.hidden = false;
  document.body.classList.add("with-viewer");
  setBehind();
  const heading = h("h2", { tabindex: "-1", class: "viewer-title" }, target.title);
  const place = h("p", { class: "viewer-place" });
  const notices = h("div", { class: "viewer-notices" });
  const tabs = h("div", { class: "viewer-tabs", role: "group", "aria-label": "Show as" });
  let body = h("div", { class: "viewer-body", "aria-busy": "true" });
  const close = iconButton("close", "Close the source", () => {
    location.hash = target.back;
  });
  clear(pane, h("header", { class: "viewer-head" },
    h("div", { class: "viewer-words" }, heading, place),
    h("div", { class: "viewer-buttons" },
      step("left", "Previous source", target.previous), step("right", "Next source", target.next), close)),
  notices, tabs, body);
  heading.focus({ preventScroll: true });
  try {
    const found = await resolve(target, notices);
    if (open !== own) return;
    const record = found.record;
    clear(heading, told("bdi", record.name));
    const original = h("a", { target: "_blank", rel: "noopener" }, "Original");
    original.href = await address(documentPrefix(record.id), "original", { sha256: target.fileSha256 || "" });
    clear(place, [target.section && target.section !== found.label && told("span", target.section), found.label && h("span", { class: "locator" }, found.label), original].filter(Boolean).flatMap((part, i) => (i ? [" · ", part] : [part])));
    const views = viewsOf(record);
    const show = async (index) => {
      own.leave();
      own.leave = () => {};
      for (const [i, button] of [...tabs.children].entries()) button.setAttribute("aria-pressed", String(i === index));
      // A view has an element of its own: one that comes late writes into what nobody sees any more.
      const place_ = h("div", { class: `viewer-body body-${views[index].name.toLowerCase()}`, "aria-busy": "true" });
      body.replaceWith(place_);
      body = place_;
      try {
        const shown = await views[index].make(place_, found);
        if (open === own && body === place_) own.leave = shown?.leave || (() => {});
        else shown?.leave?.();
      } catch (error) {
        if (body !== place_) return;
        if (index + 1 < views.length && (error.code === "source_changed" || error.status === 404)) {
          notices.append(h("p", { class: "notice warn" }, `${error.detail} Its text is shown as it was read.`));
          await show(index + 1);
          return;
        }
        clear(place_, trouble(error));
      }
      place_.removeAttribute("aria-busy");
    };
    clear(tabs, views.length > 1 ? views.map((view, index) => h("button", { type: "button", "aria-pressed": "false", onclick: () => show(index) }, view.name)) : []);
    tabs.hidden = views.length < 2;
    await show(0);
  } catch (error) {
    clear(body, error.status === 404 ? goneCard(target) : trouble(error));
    body.removeAttribute("aria-busy");
  }
}

function step(drawn, label, hash) {
  return hash ? iconButton(drawn, label, () => {
    location.hash = hash;
  }) : null;
}

/** On a narrow screen the viewer covers the page: what is behind it cannot be reached. */
function setBehind() {
  const isCovered = open !== null && NARROW.matches;
  for (const element of [document.getElementById("main"), document.querySelector(".bar")]) element.toggleAttribute("inert", isCovered);
}

NARROW.addEventListener("change", setBehind);
pane.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && open) {
    event.preventDefault();
    location.hash = open.target.back;
  }
});

/** The document as it is now, and where the cited words stand in it. */
async function resolve(target, notices) {
  const record = await get(`/v1/documents/${encodeURIComponent(target.documentId)}`);
  const found = { record, from: target.from, to: target.to, highlights: target.highlights || [], label: target.locator || "", locator: null };
  if (target.from === undefined) return found;
  if (target.fileSha256 && target.fileSha256 !== record.indexed_sha256) {
    const moved = await nowAt(target);
    const said = moved ? "The cited words stand here now." : "The cited words are not in it any more.";
    notices.append(h("div", { class: "notice warn" }, h("p", {}, h("strong", {}, "Source changed since this answer. "), said),
      moved ? null : told("blockquote", target.quote)));
    [found.from, found.to] = moved || [undefined, undefined];
    const by = moved ? found.from - target.from : 0;
    found.highlights = moved ? found.highlights.map((range) => ({ ...range, from: range.from + by, to: range.to + by })) : [];
    found.label = "";
  }
  if (found.from !== undefined) {
    const place = (range) => get(`/v1/documents/${encodeURIComponent(target.documentId)}/place`, { from: range.from, to: range.to });
    const [whole, first] = await Promise.all([place(found), found.highlights.length ? place(found.highlights[0]) : null]);
    found.locator = (first || whole).locator; // where to begin: at the statement that was meant, if one is known
    found.label ||= whole.label;
  }
  return found;
}

async function nowAt(target) {
  const { now } = await get(`/v1/answers/${encodeURIComponent(target.answerId)}/citations/${target.id}/now`);
  return now;
}

function goneCard(target) {
  return h("div", { class: "notice warn" }, h("p", {}, h("strong", {}, "This source is no longer here. "), target.quote ? "These are the words that were cited." : ""),
    target.quote ? told("blockquote", target.quote) : null);
}

function viewsOf(record) {
  const type = record.media_type;
  const text = { name: "Text", make: textView };
  if (type === "application/pdf") return [{ name: "Pages", make: pagesView }, text];
  if (type.startsWith("image/")) return [{ name: "Image", make: pagesView }, text];
  if (type.startsWith("audio/") || type.startsWith("video/")) return [{ name: "Recording", make: mediaView }, text];
  if (SHEETS.has(type)) return [{ name: "Sheet", make: sheetView }, text];
  if (type === "text/html") return [{ name: "Page", make: frameView }, text];
  return [text];
}
