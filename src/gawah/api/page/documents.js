// Collections and documents: what is there, in which state and why, and what can be done about it. Changes come by themselves.

import { announce, bytes, clear, h, icon, plural, told, trouble, when } from "./dom.js";
import { address, documentPrefix, events, get, post, remove } from "./http.js";
import { uploads } from "./upload.js";
import { closeViewer, isOpenFor, openViewer } from "./viewer.js";

const PAGE = 100;
const STATES = {
  queued: ["none", "queued"], extracting: ["none", "extracting"], chunking: ["none", "chunking"], embedding: ["none", "embedding"],
  ready: ["ok", "ready"], failed: ["bad", "failed"],
};
const SETTLED = new Set(["ready", "failed"]);

export async function documentsView(main, me) {
  const may = (scope) => me.scopes.includes(scope) || me.scopes.includes("admin");
  const stop = new AbortController();
  const shown = new Map();
  let cursor = null;
  let opened = "";
  let turn = 0; // of the newest list: answers to older ones are not shown

  const words = h("input", { type: "search", id: "words", placeholder: "Name or title", "aria-label": "Find by name or title", dir: "auto" });
  const collection = h("select", { "aria-label": "Collection" }, h("option", { value: "" }, "All collections"));
  const state = h("select", { "aria-label": "State" }, h("option", { value: "" }, "Any state"), Object.keys(STATES).map((name) => h("option", { value: name }, name)));
  const counts = h("ul", { class: "collections" });
  const list = h("ul", { class: "documents" });
  const more = h("button", { type: "button", hidden: true, onclick: () => load() }, "Show more");
  const upload = may("ingest") ? uploads(me, () => refreshCounts()) : null;
  clear(main, h("h1", { tabindex: "-1" }, "Documents"), upload ? upload.element : null, counts,
    h("div", { class: "filters", role: "search", "aria-label": "Documents" }, words, collection, state), list, more);
  if (upload) upload.listen(document, stop.signal);

  let timer = 0;
  for (const field of [words, collection, state]) {
    field.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(() => load(true), 150);
    });
  }

  async function refreshCounts() {
    const { collections } = await get("/v1/collections");
    clear(counts, collections.map((one) => h("li", {}, told("strong", one.name),
      h("span", {}, `${plural(one.n_documents, "document")}, ${plural(one.n_chunks, "passage")}, ${bytes(one.size_bytes)}`),
      one.states.failed ? h("span", { class: "state state-bad" }, icon("bad"), `${one.states.failed} failed`) : null)));
    const chosen = collection.value;
    clear(collection, h("option", { value: "" }, "All collections"), collections.map((one) => h("option", { value: one.name }, one.name)));
    collection.value = chosen;
    upload?.name(collections.map((one) => one.name));
  }

  async function load(again = false) {
    const asked = { collection: collection.value, state: state.value, words: words.value.trim(), limit: PAGE };
    const own = again ? (turn += 1) : turn;
    try {
      const page = await get("/v1/documents", again ? asked : { ...asked, cursor: cursor || "" });
      if (own !== turn) return; // the list was asked for anew meanwhile
      if (again) keepOnly(page.documents);
      for (const record of page.documents) put(record);
      cursor = page.next_cursor;
      more.hidden = !cursor;
      if (!shown.size) clear(list, h("li", { class: "empty" }, asked.words || asked.state || asked.collection ? "Nothing of that kind." : "No documents yet."));
    } catch (error) {
      clear(list, h("li", {}, trouble(error)));
    }
  }

  /** Rows that stay are left where they are: open, and with the focus. */
  function keepOnly(records) {
    const ids = new Set(records.map((record) => record.id));
    for (const [id, row] of shown) {
      if (ids.has(id)) continue;
      row.element.remove();
      shown.delete(id);
    }
    list.querySelectorAll(":scope > :not(.document)").forEach((other) => other.remove());
    records.filter((record) => shown.has(record.id)).forEach((record, index) => {
      const { element } = shown.get(record.id);
      if (list.children[index] !== element) list.insertBefore(element, list.children[index] || null);
    });
  }

  function put(record) {
    let row = shown.get(record.id);
    if (!row) {
      row = documentRow(record, { may, changed: refreshCounts, gone: () => drop(record.id) });
      shown.set(record.id, row);
      list.querySelector(".empty")?.remove();
      list.append(row.element);
    } else row.update(record);
  }

  function drop(id) {
    shown.get(id)?.element.remove();
    shown.delete(id);
    refreshCounts();
  }

  async function follow() {
    while (!stop.signal.aborted) {
      try {
        for await (const [name, record] of events("/v1/events", { signal: stop.signal })) {
          if (name === "watching") {
            await load(true);
            await refreshCounts();
          }
          if (name !== "document") continue;
          upload?.changed(record);
          const fits = (!collection.value || record.collection === collection.value) && !state.value && !words.value;
          if (shown.has(record.id) || fits) put(record);
          if (SETTLED.has(record.state)) {
            refreshCounts();
            announce(`${record.name}: ${record.state}`);
          }
        }
      } catch (error) {
        if (error.status === 401 || error.status === 403) return; // no key was given: to ask again and again is no help
        // else the stream broke: the server was restarted, or this view was left
      }
      await new Promise((resolve) => setTimeout(resolve, 1500));
    }
  }

  await refreshCounts();
  follow();
  return {
    leave: () => stop.abort(),
    go(_, [id = ""]) {
      if (!id) {
        closeViewer();
        return;
      }
      const target = { id, documentId: id, back: "#/documents", title: "Document", highlights: [] };
      if (opened !== id || !isOpenFor(target)) openViewer(target);
      opened = id;
    },
  };
}

function documentRow(first, { may, changed, gone }) {
  let record = first;
  const summary = h("summary");
  const reason = h("span", { class: "reason" });
  const body = h("div", { class: "document-body" });
  const details = h("details", {}, summary, body);
  const buttons = h("div", { class: "document-actions" });
  const element = h("li", { class: "document", "data-name": record.name }, details, buttons);
  details.addEventListener("toggle", () => details.open && fill());

  function draw() {
    const [drawn, word] = STATES[record.state] || ["none", record.state];
    const isBusy = !SETTLED.has(record.state);
    const title = record.title && !record.name.startsWith(record.title) ? told("span", record.title, { class: "document-title" }) : null;
    const facts = [record.collection, bytes(record.size_bytes), record.state === "ready" ? plural(record.counters.n_chunks, "passage") : null].filter(Boolean);
    clear(summary,
      h("span", { class: `pill pill-${record.state}${isBusy ? " pill-busy" : ""}` }, isBusy ? h("span", { class: "pulse", "aria-hidden": "true" }) : icon(drawn), word),
      h("span", { class: "document-name" }, told("bdi", record.name), title),
      h("span", { class: "document-facts" }, facts.map((fact) => h("span", {}, fact)), record.stale.length ? h("span", { class: "state state-warn" }, `stale: ${record.stale.join(", ")}`) : null, when(record.updated_at)), reason);
    reason.hidden = !record.failure;
    if (record.failure) {
      const again = record.next_try_at ? [" It is tried again ", when(record.next_try_at), "."] : [];
      clear(reason, h("code", {}, record.failure.code), " ", told("span", record.failure.reason), ...again);
    }
    const canRetry = may("ingest") && (record.state === "failed" || record.stale.length > 0);
    clear(buttons,
      record.indexed_sha256 ? h("a", { class: "button quiet", href: `#/documents/${record.id}`, "aria-label": `Open ${record.name}` }, "Open") : null,
      canRetry ? h("button", { type: "button", class: "quiet", onclick: retry, "aria-label": `Retry ${record.name}` }, "Retry") : null);
  }

  async function retry(event) {
    event.currentTarget.disabled = true;
    try {
      await post(`/v1/documents/${record.id}/retry`);
      announce(`${record.name} is queued again`);
    } catch (error) {
      clear(reason, error.detail || "The server cannot be reached.");
      reason.hidden = false;
      draw();
    }
  }

  async function fill() {
    try {
      const detail = await get(`/v1/documents/${record.id}`);
      const { counters, quality } = detail;
      const rows = [
        ["Type", detail.media_type], ["Language", detail.language || "unknown"],
        ["Text", `${plural(counters.n_chars, "character")}, ${plural(counters.n_chunks, "passage")}, ${plural(counters.n_tokens, "token")}`],
        ...Object.entries(quality).filter(([, n]) => n).map(([name, n]) => [name.replaceAll("_", " "), n.toLocaleString("en")]),
        ["Set aside", detail.n_removed === null ? "nothing read yet" : plural(detail.n_removed, "piece of text", "pieces of text")],
        ["Attempts", String(detail.attempts)], ["Versions kept", String(detail.versions.length)],
        ["Read by", detail.stamp ? detail.stamp.extractor : "nothing yet"], ["SHA-256", detail.file_sha256 || "unknown"],
      ];
      const original = h("a", { class: "button quiet", target: "_blank", rel: "noopener" }, "Original file");
      original.href = await address(documentPrefix(record.id), "original");
      clear(body,
        (detail.warnings || []).length ? h("ul", { class: "notice warn" }, detail.warnings.map((line) => told("li", line))) : null,
        h("dl", {}, rows.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))),
        h("p", { class: "document-more" }, original, may("ingest") ? removal() : null));
    } catch (error) {
      clear(body, trouble(error));
    }
  }

  function removal() {
    const first_ = h("button", { type: "button", class: "quiet danger" }, "Remove");
    first_.addEventListener("click", async () => {
      if (first_.dataset.sure) {
        try {
          await remove(`/v1/documents/${record.id}`);
          announce(`${record.name} is removed`);
          gone();
        } catch (error) {
          clear(body, trouble(error));
        }
      } else {
        first_.dataset.sure = "yes";
        first_.textContent = "Remove for good?";
      }
    });
    return first_;
  }

  draw();
  return {
    element,
    update(next) {
      if (JSON.stringify(next) === JSON.stringify(record)) return;
      record = next;
      draw();
      if (details.open) fill();
      changed();
    },
  };
}
