// An outcome to a card: the answer's text with numbered chips, how each claim is carried, the sources; or a refusal.

import { appendMarked, clear, h, icon, plural, spoken, Text, told } from "./dom.js";
import { get } from "./http.js";

const STATUS = {
  supported: ["ok", "Supported", "Its quotes carry it."],
  weak: ["weak", "Weak", "Its quotes carry it in part, or in other words."],
  unsupported: ["bad", "Not supported", "Its quotes do not carry it."],
  uncited: ["none", "No source", "It names no source."],
  cited: ["none", "Not checked", "It names a source; whether that carries it was not looked at."],
};
const VERIFIED = {
  ok: ["ok", "The quote stands at its place, word for word."],
  moved: ["weak", "The quote stands at another place now."],
  changed: ["bad", "The quote is not in the source any more."],
  missing: ["bad", "The source is gone."],
};
const AROUND = 140; // characters of a quote that are shown around what is marked in it
const MARKER = /\[(\d+)\]/g;

/** A card that is written into while the answer comes. */
export function draftCard(question) {
  const text = h("p", { class: "answer-text", dir: "auto" });
  const waiting = h("p", { class: "waiting" }, h("span", { class: "pulse", "aria-hidden": "true" }), "Reading the documents");
  const card = h("article", { class: "answer", "aria-busy": "true" }, told("h2", question, { class: "asked" }), text, waiting);
  return {
    card,
    add(sentence) {
      waiting.remove();
      let at = 0;
      for (const match of sentence.matchAll(MARKER)) {
        text.append(sentence.slice(at, match.index), h("span", { class: "chip" }, match[1]));
        at = match.index + match[0].length;
      }
      text.append(sentence.slice(at));
      spoken(text, text.textContent);
    },
  };
}

export function answerCard(answer) {
  return answer.refusal ? refusalCard(answer) : answeredCard(answer);
}

function answeredCard(answer) {
  const text = new Text(answer.answer);
  const body = spoken(h("div", { class: "answer-text", dir: "auto" }), answer.answer);
  let at = 0;
  for (const claim of [...answer.claims].sort((a, b) => a.from - b.from)) {
    appendWithChips(body, answer, text, at, claim.from);
    const [, word] = STATUS[claim.status] || STATUS.cited;
    const element = h("span", { class: `claim claim-${claim.status}`, title: claim.status === "supported" ? null : word });
    appendWithChips(element, answer, text, claim.from, claim.to);
    body.append(element);
    at = claim.to;
  }
  appendWithChips(body, answer, text, at, text.end);
  return h("article", { class: "answer", "data-answer": answer.answer_id }, told("h2", answer.question, { class: "asked" }),
    body, flagsOf(answer), supportOf(answer, text), sourcesOf(answer), factsOf(answer));
}

function appendWithChips(element, answer, text, from, to) {
  let at = from;
  for (const mark of answer.marks) {
    if (mark.from < from || mark.to > to) continue;
    element.append(text.slice(at, mark.from).replace(/\s$/, "\u00a0"), chip(answer, mark.marker));
    at = mark.to;
  }
  element.append(text.slice(at, to));
}

function chip(answer, marker) {
  const cited = answer.citations.find((one) => one.marker === marker);
  const label = cited ? `Source ${marker}: ${cited.document}, ${cited.locator}` : `Source ${marker}`;
  return h("a", { class: "chip", href: `#/answer/${answer.answer_id}/${marker}`, "aria-label": label, title: label, "data-source": marker }, String(marker));
}

// --- how the claims are carried

function badge(status) {
  const [drawn, word] = STATUS[status] || STATUS.cited;
  return h("span", { class: `badge badge-${status}` }, icon(drawn), word);
}

function supportOf(answer, text) {
  if (!answer.claims.length) return null;
  const counts = Object.keys(STATUS).map((status) => [status, answer.claims.filter((claim) => claim.status === status).length]);
  const tallies = counts.filter(([, n]) => n).map(([status, n]) => h("span", { class: `tally tally-${status}` }, icon(STATUS[status][0]), `${n} ${STATUS[status][1].toLowerCase()}`));
  const items = answer.claims.map((claim) => {
    const marks = answer.marks.filter((mark) => mark.from >= claim.from && mark.to <= claim.to);
    let words = "";
    let at = claim.from;
    for (const mark of marks) {
      words += text.slice(at, mark.from);
      at = mark.to;
    }
    words = (words + text.slice(at, claim.to)).trim();
    const missing = (claim.missing || []).map((one) => `${one.kind === "negation" ? "denial" : one.kind} ${one.text}`);
    const notes = [STATUS[claim.status]?.[2] || ""];
    if (missing.length) notes.push(`Not in its quotes: ${missing.join(", ")}.`);
    if ((claim.foreign || []).length) notes.push(`In no source: ${claim.foreign.join(", ")}.`);
    if (claim.agreeing !== null && claim.agreeing !== undefined && answer.self_check) notes.push(`Stands in ${claim.agreeing} of ${answer.self_check.samples} further samples.`);
    return h("li", {}, badge(claim.status), told("p", words, { class: "claim-words" }), h("p", { class: "fine" }, notes.join(" ")));
  });
  const isOpen = answer.claims.some((claim) => claim.status === "unsupported");
  return h("details", { class: "support", open: isOpen }, h("summary", {}, h("span", { class: "support-title" }, "Support"), tallies), h("ol", {}, items));
}

function flagsOf(answer) {
  const lines = [...answer.provenance.degraded, ...answer.flags.map((flag) => `Flag: ${flag.replaceAll("_", " ")}`)];
  if (answer.unknown_markers.length) lines.push(`Markers that stand for nothing were removed: ${answer.unknown_markers.join(", ")}.`);
  return lines.length ? h("ul", { class: "notice" }, lines.map((line) => h("li", {}, line))) : null;
}

// --- the sources

function sourcesOf(answer) {
  const items = answer.citations.map((one) => {
    const marks = answer.claims.flatMap((claim) => claim.highlights || []).filter((mark) => mark.marker === one.marker);
    return h("li", { class: "source", "data-marker": one.marker },
      h("a", { class: "source-link", href: `#/answer/${answer.answer_id}/${one.marker}`, "data-source": one.marker },
        h("span", { class: "chip", "aria-hidden": "true" }, String(one.marker)),
        h("span", { class: "source-name" }, told("span", one.document), " ", h("span", { class: "locator" }, one.locator)),
      ),
      factsOfSource(one.label === one.locator ? "" : one.label, one.collection, one.cosine_distance),
      excerpt(one.quote, one.from, marks), h("p", { class: "source-state" }));
  });
  const verify = h("button", { type: "button", class: "quiet", onclick: (event) => verifyAll(event.currentTarget, answer) }, "Check the sources again");
  return h("section", { class: "sources", "aria-label": "Sources" }, h("div", { class: "section-head" }, h("h3", {}, plural(items.length, "source")), verify), h("ol", {}, items));
}

function factsOfSource(section, collection, distance) {
  const near = distance === null ? null : h("span", { title: "Cosine distance of the passage from the question; smaller is nearer" }, `distance ${distance.toFixed(2)}`);
  const parts = [section && told("span", section), collection, near].filter(Boolean);
  return h("p", { class: "fine source-facts" }, parts.flatMap((part, index) => (index ? [" · ", part] : [part])));
}

/** The words of a quote around its marked statements, or its beginning; what is left out shows as an ellipsis. */
function excerpt(quote, start, marks) {
  const text = new Text(quote, start);
  const first = marks.length ? Math.min(...marks.map((mark) => mark.from)) - AROUND : start;
  const last = marks.length ? Math.max(...marks.map((mark) => mark.to)) + AROUND : start + 3 * AROUND;
  let from = Math.max(start, first);
  let to = Math.min(text.end, last);
  while (from > start && from < text.end && !/\s/.test(text.slice(from - 1, from))) from -= 1;
  while (to < text.end && !/\s/.test(text.slice(to, to + 1))) to += 1;
  const element = spoken(h("blockquote", { dir: "auto" }), quote);
  if (from > start) element.append("… ");
  appendMarked(element, text, from, to, marks.map((mark) => ({ ...mark, name: "strong" })));
  if (to < text.end) element.append(" …");
  return element;
}

async function verifyAll(button, answer) {
  const card = button.closest(".answer");
  button.disabled = true;
  button.textContent = "Checking";
  try {
    const { checks } = await get(`/v1/answers/${answer.answer_id}/verification`);
    for (const check of checks) {
      const [drawn, words] = VERIFIED[check.status];
      say(card, check.marker, drawn === "ok" ? "good" : drawn === "weak" ? "warn" : "bad", drawn, words);
    }
    button.textContent = "Checked just now";
  } catch (error) {
    button.textContent = error.detail || "Cannot be checked now";
  }
  button.disabled = false;
}

function say(card, marker, tone, drawn, words) {
  const place = card.querySelector(`.source[data-marker="${Number(marker)}"] .source-state`);
  if (place) clear(place, h("span", { class: `state state-${tone}` }, icon(drawn), words));
}

/** Says at each source whose document has changed, or is gone, since the answer was given. */
export async function checkVersions(card, answer) {
  const ids = [...new Set(answer.citations.map((one) => one.document_id))];
  await Promise.all(ids.map(async (id) => {
    let now = null;
    try {
      now = await get(`/v1/documents/${encodeURIComponent(id)}`);
    } catch (error) {
      if (error.status !== 404) return;
    }
    for (const one of answer.citations.filter((cited) => cited.document_id === id)) {
      if (!now) say(card, one.marker, "bad", "bad", "The source is no longer here.");
      else if (now.indexed_sha256 !== one.file_sha256) say(card, one.marker, "warn", "weak", "Source changed since this answer.");
    }
  }));
}

// --- refusals

function refusalCard(answer) {
  const refusal = { unsupported: [], ...answer.refusal };
  const nearest = refusal.nearest.map((hit, index) => h("li", { class: "source" },
    h("a", { class: "source-link", href: `#/answer/${answer.answer_id}/n${index + 1}`, "data-source": `n${index + 1}` },
      h("span", { class: "source-name" }, told("span", hit.document), " ", hit.section ? told("span", hit.section, { class: "locator" }) : null)),
    factsOfSource("", hit.collection, hit.cosine_distance), excerpt(hit.content, hit.from, [])));
  const unsupported = refusal.unsupported.map((sentence) => told("li", sentence));
  return h("article", { class: "answer refusal", "data-answer": answer.answer_id }, told("h2", answer.question, { class: "asked" }),
    h("div", { class: "refusal-head" }, h("p", { class: "refusal-title" }, "No answer in these documents"),
      h("p", {}, refusal.unsupported.length ? "An answer was drafted, and its sources do not carry it." : "Nothing is made up. The passages below came nearest."),
      told("p", refusal.unsupported.length ? "" : `${refusal.reason[0].toUpperCase()}${refusal.reason.slice(1)}.`, { class: "fine" })),
    unsupported.length ? h("div", {}, h("h3", {}, "What was drafted and not carried"), h("ul", {}, unsupported)) : null,
    nearest.length ? h("section", { class: "sources", "aria-label": "Nearest passages" }, h("div", { class: "section-head" }, h("h3", {}, "Nearest passages")), h("ol", {}, nearest)) : null,
    factsOf(answer));
}

// --- what produced it

function factsOf(answer) {
  const { provenance, gate } = answer;
  const total = Object.values(provenance.times_ms).reduce((sum, ms) => sum + ms, 0);
  const score = gate.score === null ? "none" : gate.score.toFixed(3);
  const rows = [
    ["Gate", `${gate.gate}, score ${score}, threshold ${gate.threshold.toFixed(3)}`], ["Search", [...provenance.systems, provenance.reranker].join(", ")],
    ["Written by", provenance.generator], ["Model", provenance.model], ["Took", `${Math.round(total)} ms`],
    ...provenance.notes.map((note) => ["Note", note]), ...(answer.refusal ? [["In full", answer.refusal.message]] : []), ["Answer id", answer.answer_id],
  ];
  return h("details", { class: "facts" }, h("summary", {}, "How this was made"),
    h("dl", {}, rows.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))));
}
