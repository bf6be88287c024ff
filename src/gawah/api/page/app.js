// The frame of the page: which view is shown, the viewer beside it, and the key where the server wants one.

import { answerView, askView } from "./ask.js";
import { clear, h, trouble } from "./dom.js";
import { documentsView } from "./documents.js";
import { evaluationView } from "./evaluation.js";
import { get, key, setKey, whenKeyIsNeeded } from "./http.js";
import { closeViewer } from "./viewer.js";

const main = document.getElementById("main");
const keyButton = document.getElementById("key-button");
let current = { tab: "", leave: () => {}, go: null };
let me = null;

/** `#/answer/ID/2` to ["answer", "ID", "2"]; what is no address of ours is the beginning. */
function route() {
  try {
    const parts = location.hash.replace(/^#\/?/, "").split("/").map(decodeURIComponent).filter(Boolean);
    return VIEWS.has(parts[0]) ? parts : [];
  } catch {
    return [];
  }
}

// An address's first part to the view, and the tab it stands under.
const VIEWS = new Map([
  ["", [askView, "ask"]], ["answer", [answerView, "ask"]], ["documents", [documentsView, "documents"]], ["evaluation", [evaluationView, "evaluation"]],
]);

async function show() {
  const [name = "", ...rest] = route();
  if (location.hash === "#main") return;
  const [view, tab] = VIEWS.get(name);
  for (const link of document.querySelectorAll("nav [data-view]")) {
    if (link.dataset.view === tab) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = tab === "ask" ? "gawah" : `${tab[0].toUpperCase()}${tab.slice(1)} - gawah`;
  if (current.go && current.tab === tab) {
    current.go(name, rest);
    return;
  }
  const isFirst = !current.go;
  current.leave();
  closeViewer();
  current = { tab, leave: () => {}, go: null };
  main.className = `view-${tab}`;
  try {
    me ??= await get("/v1/me");
    const shown = await view(main, me);
    current = { tab, leave: shown.leave || (() => {}), go: shown.go };
    shown.go(name, rest);
    if (!isFirst) main.querySelector("h1")?.focus();
  } catch (error) {
    clear(main, trouble(error), h("button", { type: "button", onclick: show }, "Try again"));
  }
}

// --- the key

let asking = null;

function askForKey(reason) {
  asking ??= new Promise((resolve) => {
    const field = h("input", { type: "password", id: "key-field", autocomplete: "off", spellcheck: "false", required: true });
    const form = h("form", { method: "dialog" },
      h("h2", { id: "key-title" }, "API key"),
      h("p", {}, reason),
      h("label", { for: "key-field" }, "Key"), field,
      h("p", { class: "fine" }, "It is kept until this tab is closed, and sent to this server only."),
      h("p", {}, h("button", { class: "primary" }, "Use this key")));
    const dialog = h("dialog", { "aria-labelledby": "key-title" }, form);
    let isGiven = false;
    form.addEventListener("submit", () => {
      isGiven = true;
      setKey(field.value.trim());
    });
    dialog.addEventListener("close", () => {
      dialog.remove();
      asking = null;
      resolve(isGiven);
      showKeyButton();
    });
    document.body.append(dialog);
    dialog.showModal();
  });
  return asking;
}

function showKeyButton() {
  keyButton.hidden = !key();
}

keyButton.addEventListener("click", () => {
  setKey("");
  me = null;
  current = { tab: "", leave: current.leave, go: null };
  show();
});

whenKeyIsNeeded(askForKey);
showKeyButton();
window.addEventListener("hashchange", show);
document.addEventListener("keydown", (event) => {
  const isTyping = event.target.closest("input, textarea, select, [contenteditable]");
  if (event.key === "/" && event.altKey && !isTyping && !event.ctrlKey && !event.metaKey) { // alone, a character would get in the way of speech input
    const field = document.querySelector("#question, #words");
    if (field) {
      event.preventDefault();
      field.focus();
    }
  }
});
show();
