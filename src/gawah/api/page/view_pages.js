// Pages of a PDF, and images: drawn by the server, the cited boxes over them, the words over those so that they can be selected.

import { clear, h, iconButton, s, trouble } from "./dom.js";
import { address, documentPrefix, get } from "./http.js";

const ZOOMS = [50, 75, 100, 125, 150, 200, 300, 400]; // percent of the room there is
const DPIS = [72, 110, 150, 200, 300];
const RTL = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

export async function pagesView(body, found) {
  const { record, locator } = found;
  const prefix = documentPrefix(record.id);
  const isImage = record.media_type.startsWith("image/");
  let number = locator?.first_page || locator?.page || 1;
  let zoom = 100;
  let layout = null;
  let drawnFor = 0; // the width of the room that the picture was drawn for
  let turn = 0; // of the newest request: answers to older ones are not shown

  const where = h("span", { class: "page-number", "aria-live": "polite" });
  const level = h("span", { class: "zoom-level" });
  const before = iconButton("left", "Previous page", () => go(number - 1));
  const after = iconButton("right", "Next page", () => go(number + 1));
  const tools = h("div", { class: "page-tools", role: "toolbar", "aria-label": "Page" }, before, where, after, h("span", { class: "gap" }),
    iconButton("minus", "Smaller", () => scale(-1)), level, iconButton("plus", "Larger", () => scale(1)));
  const sheet = h("figure", { class: "page" });
  const room = h("div", { class: "page-room", tabindex: "0", role: "region", "aria-label": "Page image" }, sheet);
  clear(body, tools, room);
  room.addEventListener("keydown", (event) => {
    const steps = { PageDown: 1, PageUp: -1, ArrowRight: 1, ArrowLeft: -1 };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "+" || event.key === "=") scale(1);
    else if (event.key === "-") scale(-1);
    else if (steps[event.key] && room.scrollWidth <= room.clientWidth + 1) go(number + steps[event.key]);
    else return;
    event.preventDefault();
  });

  function scale(step) {
    zoom = ZOOMS[Math.max(0, Math.min(ZOOMS.length - 1, ZOOMS.indexOf(zoom) + step))];
    draw(false);
  }

  async function go(to) {
    if (layout && (to < 1 || to > layout.n_pages)) return;
    const own = (turn += 1);
    const asked = found.from === undefined ? {} : { from: found.from, to: found.to };
    const next = await get(`${prefix}pages/${to}/layout`, asked);
    if (own !== turn) return;
    number = to;
    layout = next;
    await draw(true);
  }

  /** The picture as sharp as the screen shows it, and what lies over it. */
  async function draw(isNew) {
    const own = isNew ? turn : (turn += 1);
    level.textContent = `${zoom} %`;
    drawnFor = room.clientWidth;
    const width = Math.round((Math.max(240, drawnFor - 32) * zoom) / 100);
    const wanted = (width * window.devicePixelRatio * 72) / layout.width;
    const dpi = DPIS.find((one) => one >= wanted - 8) || DPIS.at(-1);
    const src = await address(prefix, `pages/${number}`, isImage ? {} : { dpi });
    const picture = h("img", { alt: isImage ? record.name : `Page ${number} of ${record.name}`, width: String(Math.round(layout.width)), height: String(Math.round(layout.height)) });
    try {
      picture.src = src;
      await picture.decode();
    } catch {
      if (own === turn) clear(sheet, trouble({ detail: "The page cannot be drawn." }));
      return;
    }
    if (own !== turn) return;
    before.disabled = number <= 1;
    after.disabled = number >= layout.n_pages;
    const printed = layout.label && layout.label !== String(number) ? ` (${layout.label})` : "";
    where.textContent = isImage && layout.n_pages === 1 ? "Image" : `Page ${number}${printed} of ${layout.n_pages}`;
    sheet.style.width = `${width}px`;
    clear(sheet, picture, overlay());
    if (isNew) intoView();
  }

  function overlay() {
    const x = (percent) => (percent * layout.width) / 100;
    const y = (percent) => (percent * layout.height) / 100;
    const whole = found.from === undefined ? [] : [found];
    const soft = isImage ? boxesOf(whole) : layout.boxes; // of an image the server has one box around all of it
    const strong = boxesOf(found.highlights);
    const rectangle = (name) => ([x0, y0, x1, y1]) => s("rect", { class: name, x: x(x0), y: y(y0), width: Math.max(0.5, x(x1 - x0)), height: Math.max(0.5, y(y1 - y0)) });
    return s("svg", { class: "over", viewBox: `0 0 ${layout.width} ${layout.height}` },
      s("g", { class: "boxes", "aria-hidden": "true" }, soft.map(rectangle("box")), strong.map(rectangle("box strong"))),
      s("g", { class: "words" }, linesOf(layout.words).map((line) => lineOf(line, x, y))));
  }

  /** Boxes of ranges of the text: those of their words, joined where they follow each other on a line. */
  function boxesOf(ranges) {
    const boxes = [];
    for (const word of layout.words) {
      if (!ranges.some((range) => range.from < word.to && range.to > word.from)) continue;
      const last = boxes.at(-1);
      if (last && isBeside(last, word.box)) {
        last[0] = Math.min(last[0], word.box[0]);
        last[1] = Math.min(last[1], word.box[1]);
        last[2] = Math.max(last[2], word.box[2]);
        last[3] = Math.max(last[3], word.box[3]);
      } else boxes.push([...word.box]);
    }
    return boxes;
  }

  function intoView() {
    const target = sheet.querySelector(".boxes .strong") || sheet.querySelector(".boxes rect");
    if (!target) {
      room.scrollTo(0, 0);
      return;
    }
    const box = target.getBoundingClientRect();
    const around = room.getBoundingClientRect();
    room.scrollBy(box.left < around.left || box.right > around.right ? box.left - around.left - 24 : 0, box.top - around.top - around.height / 3);
  }

  let timer = 0;
  const resized = new ResizeObserver(() => {
    clearTimeout(timer);
    timer = setTimeout(() => room.clientWidth !== drawnFor && draw(false), 150);
  });
  await go(number);
  resized.observe(room);
  return { leave: () => resized.disconnect() };
}

function isBeside(a, b) {
  const overlap = Math.min(a[3], b[3]) - Math.max(a[1], b[1]);
  const gap = Math.max(b[0] - a[2], a[0] - b[2]);
  return overlap > 0.5 * Math.min(a[3] - a[1], b[3] - b[1]) && gap < 3;
}

/** Words that follow each other on one line together, so that copying gives them with blanks between. */
function linesOf(words) {
  const lines = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last && isBeside(last.at(-1).box, word.box)) last.push(word);
    else lines.push([word]);
  }
  return lines;
}

function lineOf(words, x, y) {
  const text = s("text", { "xml:space": "preserve" });
  words.forEach((word, index) => {
    const [x0, y0, x1, y1] = word.box;
    const isTurned = y(y1 - y0) > 2.5 * x(x1 - x0) && word.text.length > 2;
    const isBackwards = RTL.test(word.text);
    const size = isTurned ? x(x1 - x0) : y(y1 - y0);
    const attributes = isTurned
      ? { x: x(x0), y: y(y1), "font-size": size }
      : { x: x(isBackwards ? x1 : x0), y: y(y1) - 0.18 * size, "font-size": size, textLength: x(x1 - x0), lengthAdjust: "spacingAndGlyphs" };
    if (isBackwards) text.setAttribute("direction", "rtl");
    text.append(s("tspan", attributes, word.text), index + 1 < words.length ? " " : "\n");
  });
  return text;
}
