// The frame of the page: which view is shown, the viewer beside it, and the key where the server wants one.

import { answerView, askView } from "./ask.js";
import { clear, h, trouble } from "./dom.js";
import { documentsView } from "./documents.js";
import { evaluationView } from "./evaluation.js";
import { get, key, setKey, whenKeyIsNeeded } from "./http.js";
import { closeViewer } from "./viewer.js";

const main = document.getElementById("main");
const keyButton = document.getElementById("key-button");
let current = { name: "", leave: () => {}, go: null };
let me = null;

/** `#/answer/ID/2` to ["answer", "ID", "2"]. */
function route() {
  return location.hash.replace(/^#\/?/, "").split("/").map(decodeURIComponent).filter(Boolean);
}

const VIEWS = { "": askView, answer: answerView, documents: documentsView, evaluation: evaluationView };
const TABS = { "": "ask", answer: "ask", documents: "documents", evaluation: "evaluation" };

async function show() {
  const [name = "", ...rest] = route();
  if (location.hash === "#main") return;
  const view = VIEWS[name] || askView;
  for (const link of document.querySelectorAll("nav [data-view]")) {
    if (link.dataset.view === TABS[name]) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (current.go && (current.name === name || (TABS[name] === "ask" && TABS[current.name] === "ask"))) {
    current.name = name;
    current.go(name, rest);
    return;
  }
  const isFirst = !current.go;
  current.leave();
  closeViewer();
  current = { name, leave: () => {}, go: null };
  main.className = `view-${TABS[name] || "ask"}`;
  try {
    me ??= await get("/v1/me");
    const shown = await view(main, me);
    current = { name, leave: shown.leave || (() => {}), go: shown.go };
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
  current = { name: "", leave: current.leave, go: null };
  show();
});

whenKeyIsNeeded(askForKey);
showKeyButton();
window.addEventListener("hashchange", show);
document.addEventListener("keydown", (event) => {
  const isTyping = event.target.closest("input, textarea, select, [contenteditable]");
  if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
    const field = document.querySelector("#question, #words");
    if (field) {
      event.preventDefault();
      field.focus();
    }
  }
});
show();
