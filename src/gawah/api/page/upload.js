// Files and folders that are dropped or chosen to documents: sent a few at a time, each with how far it is.

import { bytes, clear, h, icon, iconButton, plural, told } from "./dom.js";
import { sendForm } from "./http.js";

const AT_ONCE = 3;
const MOST_SHOWN = 200;

/** `changed` is called when something was taken. */
export function uploads(me, changed) {
  const waiting = [];
  const under = new Map(); // document id to the row of its upload
  let nUnderWay = 0;
  const names = h("datalist", { id: "collection-names" });
  const collection = h("input", { id: "into", list: "collection-names", maxlength: "1024", autocomplete: "off", dir: "auto",
    placeholder: me.collections.length === 1 ? me.collections[0] : "default" });
  const files = h("input", { type: "file", id: "files", multiple: true, class: "unseen", tabindex: "-1", "aria-label": "Files to add" });
  const folder = h("input", { type: "file", id: "folder", webkitdirectory: true, class: "unseen", tabindex: "-1", "aria-label": "Folder to add" });
  const list = h("ul", { class: "upload-list", "aria-label": "Uploads" });
  const tidy = h("button", { type: "button", class: "quiet", hidden: true }, "Clear the list");
  const element = h("section", { class: "drop", "aria-label": "Add documents" },
    h("p", { class: "drop-words" }, "Drop files or folders here, or"),
    h("div", { class: "drop-row" },
      h("button", { type: "button", onclick: () => files.click() }, "Choose files"),
      h("button", { type: "button", onclick: () => folder.click() }, "Choose a folder"),
      h("label", { for: "into" }, "into the collection"), collection, names),
    files, folder, list, tidy);

  for (const field of [files, folder]) {
    field.addEventListener("change", () => {
      take([...field.files].map((file) => [file.webkitRelativePath || file.name, file]));
      field.value = "";
    });
  }
  tidy.addEventListener("click", () => {
    for (const item of [...list.children]) if (item.dataset.done) item.remove();
    tidy.hidden = !list.querySelector("[data-done]");
  });

  function take(found) {
    const into = collection.value.trim();
    for (const [name, file] of found) {
      if (name.split("/").some((part) => part.startsWith("."))) continue; // hidden files, as when a folder is ingested
      waiting.push({ name, file, into, row: rowOf(name, file) });
    }
    while (nUnderWay < AT_ONCE && waiting.length) next();
  }

  function rowOf(name, file) {
    const bar = h("progress", { max: "1", value: "0", "aria-label": `Upload of ${name}` });
    const word = h("span", { class: "upload-word" }, "waiting");
    const stop = new AbortController();
    const item = h("li", { "data-upload": name }, told("span", name, { class: "upload-name" }), h("span", { class: "fine" }, bytes(file.size)), bar, word,
      iconButton("close", `Stop the upload of ${name}`, () => stop.abort()));
    list.prepend(item);
    while (list.children.length > MOST_SHOWN && list.lastChild.dataset.done) list.lastChild.remove();
    return { item, bar, word, stop };
  }

  async function next() {
    const { name, file, into, row } = waiting.shift();
    nUnderWay += 1;
    try {
      if (file.size > me.max_upload_bytes) throw Object.assign(new Error(), { detail: `larger than the ${bytes(me.max_upload_bytes)} allowed` });
      const form = new FormData();
      if (into) form.append("collection", into);
      form.append("name", name);
      form.append("file", file, "file");
      row.word.textContent = "sending";
      const job = await sendForm("/v1/documents", form, (share) => {
        row.bar.value = share;
      }, row.stop.signal);
      under.set(job.document_id, row);
      say(row, job.state, job.failure, job.done);
    } catch (error) {
      say(row, "failed", { reason: error.name === "AbortError" ? "stopped" : error.detail || "no connection" }, true);
    }
    nUnderWay -= 1;
    if (waiting.length) next();
    else if (!nUnderWay) changed();
  }

  function say(row, state, failure, isDone) {
    row.bar.value = 1;
    row.bar.hidden = true;
    const drawn = state === "ready" ? "ok" : state === "failed" ? "bad" : "none";
    const tone = state === "ready" ? "good" : state === "failed" ? "bad" : "plain";
    clear(row.word, h("span", { class: `state state-${tone}` }, icon(drawn), failure ? `${state}: ${failure.reason}` : state));
    if (!isDone) return;
    row.item.dataset.done = "yes";
    row.item.querySelector("button")?.remove();
    tidy.hidden = false;
  }

  return {
    element,
    name: (found) => clear(names, found.map((one) => h("option", { value: one }))),
    /** A document has changed: if it was uploaded here, its row says so. */
    changed(record) {
      const row = under.get(record.id);
      if (row) say(row, record.state, record.failure, record.state === "ready" || record.state === "failed");
    },
    /** Takes what is dropped anywhere on the page. */
    listen(target, signal) {
      const isFile = (event) => [...(event.dataTransfer?.types || [])].includes("Files");
      let depth = 0;
      const set = (isOver) => element.classList.toggle("drop-over", isOver);
      target.addEventListener("dragenter", (event) => isFile(event) && set((depth += 1) > 0), { signal });
      target.addEventListener("dragleave", (event) => isFile(event) && set((depth -= 1) > 0), { signal });
      target.addEventListener("dragover", (event) => isFile(event) && event.preventDefault(), { signal });
      target.addEventListener("drop", async (event) => {
        if (!isFile(event)) return;
        event.preventDefault();
        depth = 0;
        set(false);
        const words = element.querySelector(".drop-words");
        words.textContent = "Looking into the folders";
        const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
        const found = entries.length ? await walked(entries) : [...event.dataTransfer.files].map((file) => [file.name, file]);
        words.textContent = found.length ? `${plural(found.length, "file")} taken. Drop more, or` : "Nothing that can be read was dropped. Try again, or";
        take(found);
      }, { signal });
    },
  };
}

/** Every file below the entries, with its path. A folder is listed in pieces: until a piece is empty. */
async function walked(entries) {
  const found = [];
  const pending = [...entries];
  while (pending.length) {
    const entry = pending.shift();
    if (entry.isFile) {
      const file = await new Promise((resolve) => entry.file(resolve, () => resolve(null)));
      if (file) found.push([entry.fullPath.replace(/^\//, ""), file]);
      continue;
    }
    const reader = entry.createReader();
    for (;;) {
      const piece = await new Promise((resolve) => reader.readEntries(resolve, () => resolve([])));
      if (!piece.length) break;
      pending.push(...piece);
    }
  }
  return found;
}
