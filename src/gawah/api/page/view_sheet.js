// A window of a sheet with the file's own row numbers and column letters, and the cited range marked.

import { appendMarked, clear, h, plural, spoken, Text, trouble } from "./dom.js";
import { get } from "./http.js";
import { rangesOf } from "./view_text.js";

export async function sheetView(body, found) {
  const path = `/v1/documents/${encodeURIComponent(found.record.id)}/cells`;
  const range = found.from === undefined ? {} : { from: found.from, to: found.to };
  const ranges = rangesOf(found);
  const tabs = h("div", { class: "sheet-tabs", role: "group", "aria-label": "Sheets" });
  const words = h("p", { class: "fine sheet-words" });
  const table = h("table", { class: "sheet" });
  const room = h("div", { class: "sheet-room", tabindex: "0", role: "region", "aria-label": "Cells" }, table);
  const earlier = h("button", { type: "button", class: "quiet" }, "Rows above");
  const later = h("button", { type: "button", class: "quiet" }, "Rows below");
  clear(body, tabs, words, room, h("div", { class: "sheet-steps" }, earlier, later));

  async function load(asked) {
    const sheet = await get(path, { ...range, ...asked });
    const last = sheet.first_row + sheet.rows.length - 1;
    clear(tabs, sheet.sheets.map((name) => h("button", { type: "button", "aria-pressed": String(name === sheet.sheet), onclick: () => turn({ sheet: name }) }, h("bdi", {}, name))));
    tabs.hidden = sheet.sheets.length < 2;
    const beyond = sheet.n_columns > sheet.columns.length ? `, the first ${sheet.columns.length} of ${plural(sheet.n_columns, "column")}` : "";
    words.textContent = `Rows ${sheet.first_row} to ${last} of ${sheet.n_rows.toLocaleString("en")}${beyond}${found.label ? `. Cited: ${found.label}` : ""}`;
    earlier.hidden = sheet.first_row <= 1;
    later.hidden = last >= sheet.n_rows;
    earlier.onclick = () => turn({ sheet: sheet.sheet, row: Math.max(1, sheet.first_row - sheet.rows.length) });
    later.onclick = () => turn({ sheet: sheet.sheet, row: last + 1 });
    clear(table, h("caption", { class: "unseen" }, `${found.record.name}${sheet.sheet ? `, sheet ${sheet.sheet}` : ""}`),
      h("thead", {}, h("tr", {}, h("td", { class: "corner" }), sheet.columns.map((column) => h("th", { scope: "col" }, column.name)))),
      h("tbody", {}, rowsOf(sheet, ranges)));
  }

  async function turn(asked) {
    try {
      await load(asked);
      room.scrollTo(0, 0);
    } catch (error) {
      clear(table, h("caption", {}, trouble(error)));
    }
  }

  await load({});
  const cited = table.querySelector("td.strong") || table.querySelector("td.soft");
  if (cited) room.scrollTo(0, cited.offsetTop - room.clientHeight / 3);
}

function rowsOf(sheet, ranges) {
  const covered = new Map(); // row number to the columns that a cell from above reaches into
  return sheet.rows.map((row) => {
    const taken = covered.get(row.number) || new Set();
    const cells = new Map();
    for (const cell of row.cells) cells.set(cell.column, [...(cells.get(cell.column) || []), cell]);
    const made = [];
    for (let column = 1; column <= sheet.columns.length; column += 1) {
      if (taken.has(column)) continue;
      const here = cells.get(column);
      if (!here) {
        made.push(h("td"));
        continue;
      }
      const [{ n_rows: nRows, n_columns: nColumns }] = here;
      made.push(cellOf(here, ranges, nRows, nColumns));
      for (let down = 1; down < nRows; down += 1) {
        const below = covered.get(row.number + down) || new Set();
        for (let across = 0; across < nColumns; across += 1) below.add(column + across);
        covered.set(row.number + down, below);
      }
      column += nColumns - 1;
    }
    return h("tr", {}, h("th", { scope: "row" }, String(row.number)), made);
  });
}

function cellOf(here, ranges, nRows, nColumns) {
  const [{ from, to, text }] = here;
  const isIn = (name) => ranges.some((range) => range.name === name && range.from < to && range.to > from);
  const name = isIn("strong") ? "strong" : isIn("soft") ? "soft" : null;
  const isNumber = /^[-−+]?\d[\d.,\u00a0\u202f]*\s?%?$/.test(text);
  const cell = h("td", { class: [name, isNumber ? "number" : null].filter(Boolean).join(" ") || null, dir: "auto", rowspan: nRows > 1 ? nRows : null, colspan: nColumns > 1 ? nColumns : null });
  spoken(cell, text);
  here.forEach((one, index) => {
    if (index) cell.append(h("br"));
    appendMarked(cell, new Text(one.text, one.from), one.from, one.from + Array.from(one.text).length, name ? [{ from: one.from, to: one.to + 1, name }] : []);
  });
  return cell;
}
