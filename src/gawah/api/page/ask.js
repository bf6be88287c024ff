// The view where questions are asked: the box, the answer as it is written, and what was asked before.

import { answerCard, checkVersions, draftCard } from "./answer.js";
import { announce, clear, h, icon, plural, told, trouble, when } from "./dom.js";
import { events, get } from "./http.js";
import { closeViewer, isOpenFor, openViewer } from "./viewer.js";

const HISTORY = 30;
const REASONS = { refused: ["none", "refused"], answered: ["ok", "answered"] };

export async function askView(main) {
  return build(main);
}

export { askView as answerView };

async function build(main) {
  const view = { answer: null, card: null, stop: null, wanted: "" };
  const { collections } = await get("/v1/collections").catch((error) => {
    if (error.status === 403) return { collections: [] }; // a key that may ask and not read
    throw error;
  });
  const field = h("textarea", { id: "question", name: "question", rows: "1", dir: "auto", maxlength: "8000",
    placeholder: "Ask about your documents", enterkeyhint: "send", "aria-describedby": "question-help" });
  const scope = h("select", { id: "scope", "aria-label": "Ask in" }, h("option", { value: "" }, "All collections"),
    collections.map((one) => h("option", { value: one.name }, one.name)));
  const send = h("button", { class: "primary", type: "submit" }, "Ask");
  const form = h("form", { class: "ask-box", role: "search", "aria-label": "Ask" },
    h("label", { class: "unseen", for: "question" }, "Your question"), field,
    h("div", { class: "ask-row" }, scope, h("span", { class: "fine", id: "question-help" }, "Enter asks, Shift + Enter begins a line"), send));
  const place = h("div", { class: "answer-place" });
  const earlier = h("ol", { class: "earlier-list" });
  const history = h("nav", { class: "earlier", "aria-label": "Asked before" }, h("h2", {}, "Asked before"), earlier);
  const title = h("h1", { tabindex: "-1" }, "Ask your documents");
  clear(main, h("div", { class: "ask-column" }, title, form, place), history);

  const grow = () => {
    field.style.height = "auto";
    field.style.height = `${Math.min(field.scrollHeight, 260)}px`;
  };
  field.addEventListener("input", grow);
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      form.requestSubmit();
    }
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const question = field.value.trim();
    if (view.stop) view.stop.abort();
    else if (question) ask(question);
  });

  async function ask(question) {
    const draft = draftCard(question);
    const stop = new AbortController();
    Object.assign(view, { answer: null, stop, wanted: "" });
    field.value = "";
    field.placeholder = "Ask another question";
    grow();
    closeViewer();
    if (location.hash.startsWith("#/answer")) window.history.pushState(null, "", "#/"); // Back leads to the answer before
    clear(place, draft.card);
    send.textContent = "Stop";
    title.classList.add("unseen");
    const body = JSON.stringify({ question, collections: scope.value ? [scope.value] : [] });
    try {
      for await (const [name, said] of events("/v1/answers", {
        method: "POST", body, signal: stop.signal, headers: { "Content-Type": "application/json" },
      })) {
        stop.signal.throwIfAborted();
        if (name === "sentence") draft.add(said.text);
        else if (name === "error") throw Object.assign(new Error(said.detail), { detail: said.detail, requestId: said.request_id });
        else finish(said);
      }
      if (!view.answer) throw Object.assign(new Error(), { detail: "The answer broke off. Ask again." });
    } catch (error) {
      if (view.stop !== stop) return; // another answer was opened meanwhile
      const detail = error.name === "AbortError" ? { detail: "Stopped. Nothing was recorded." } : error;
      clear(place, told("h2", question, { class: "asked" }), trouble(detail));
    } finally {
      if (view.stop === stop) done();
    }
  }

  function done() {
    view.stop = null;
    send.textContent = "Ask";
  }

  function finish(answer) {
    showHash(`#/answer/${answer.answer_id}`);
    render(answer);
    announce(answer.status === "answered"
      ? `Answer with ${plural(answer.citations.length, "source")}` : "No answer: nothing in the documents carries one");
    listEarlier();
  }

  function render(answer) {
    view.answer = answer;
    title.classList.add("unseen");
    view.card = answerCard(answer);
    clear(place, view.card);
    checkVersions(view.card, answer);
  }

  async function listEarlier() {
    try {
      const { answers } = await get("/v1/answers", { limit: HISTORY });
      const items = answers.filter((one) => one.question).map((one) => {
        const [drawn, word] = REASONS[one.status] || REASONS.answered;
        return h("li", {}, h("a", { href: `#/answer/${one.answer_id}`, class: `earlier-${one.status}` },
          h("span", { class: "earlier-state", title: word }, icon(drawn), h("span", { class: "unseen" }, `${word}: `)),
          told("span", one.question, { class: "earlier-question" }), when(one.created_at)));
      });
      clear(earlier, items);
      history.hidden = !items.length;
    } catch {
      history.hidden = true;
    }
    markCurrent();
  }

  function markCurrent() {
    for (const link of earlier.querySelectorAll("a")) {
      if (view.answer && link.getAttribute("href").endsWith(view.answer.answer_id)) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  }

  async function go(name, [id = "", which = ""]) {
    if (name !== "answer" || !id) {
      view.wanted = "";
      if (view.answer && !view.stop) {
        view.answer = null;
        title.classList.remove("unseen");
        closeViewer();
        welcome();
      }
      markCurrent();
      return;
    }
    view.wanted = id;
    if (view.answer?.answer_id !== id) {
      if (view.stop) {
        view.stop.abort(); // what is being written is left for what was chosen
        done();
      }
      try {
        const answer = await get(`/v1/answers/${encodeURIComponent(id)}`);
        if (view.wanted !== id) return; // another one was chosen while this one came
        render(answer);
      } catch (error) {
        if (view.wanted === id) clear(place, trouble(error));
        return;
      }
    }
    markCurrent();
    if (which) showSource(view, which);
    else closeViewer();
  }

  function welcome() {
    const n = collections.reduce((sum, one) => sum + (one.states.ready || 0), 0);
    const words = n
      ? h("p", {}, `${plural(n, "document")} in ${plural(collections.length, "collection")} can be asked. Every sentence of an answer leads to the place it stands on; where nothing carries an answer, there is none.`)
      : h("p", {}, "There are no documents yet. ", h("a", { href: "#/documents" }, "Add some"), ", then ask about them.");
    clear(place, h("div", { class: "welcome" }, words));
  }

  welcome();
  await listEarlier();
  field.focus();
  return { go, leave: () => view.stop?.abort() };
}

function showHash(hash) {
  window.history.replaceState(null, "", hash);
}

/** `2` is the citation with that marker, `n2` the second of a refusal's nearest passages. */
function showSource(view, which) {
  const answer = view.answer;
  const back = `#/answer/${answer.answer_id}`;
  const targets = answer.refusal
    ? answer.refusal.nearest.map((hit, index) => ({
      id: `n${index + 1}`, documentId: hit.document_id, name: hit.document, collection: hit.collection, section: hit.section,
      from: hit.from, to: hit.to, highlights: [], quote: hit.content, title: `Passage ${index + 1}`,
    }))
    : answer.citations.map((one) => ({
      id: String(one.marker), documentId: one.document_id, name: one.document, collection: one.collection, section: one.label,
      from: one.from, to: one.to, quote: one.quote, title: `Source ${one.marker}`, locator: one.locator,
      textSha256: one.text_sha256, fileSha256: one.file_sha256, fragment: one.fragment,
      highlights: answer.claims.flatMap((claim) => claim.highlights || []).filter((mark) => mark.marker === one.marker),
    }));
  const index = targets.findIndex((one) => one.id === which);
  if (index < 0) return;
  const target = { ...targets[index], answerId: answer.answer_id, back };
  const beside = (step) => (targets[index + step] ? `${back}/${targets[index + step].id}` : "");
  target.previous = beside(-1);
  target.next = beside(1);
  for (const link of view.card.querySelectorAll("[data-source]")) link.toggleAttribute("data-open", link.dataset.source === which);
  if (!isOpenFor(target)) openViewer(target);
}
