// The runs that measured this store, newest first: their main figures, and the report where one was written.

import { clear, h, plural, told, trouble, when } from "./dom.js";
import { address, get } from "./http.js";

export async function evaluationView(main) {
  const heading = h("h1", { tabindex: "-1" }, "Evaluation");
  const place = h("div", { class: "report-place" });
  let runs = [];
  try {
    ({ runs } = await get("/v1/runs"));
  } catch (error) {
    clear(main, heading, trouble(error));
    return { go() {} };
  }
  if (!runs.length) {
    clear(main, heading, h("div", { class: "welcome" },
      h("p", {}, "Nothing was measured over this store yet. A set of questions with known answers makes a run:"),
      h("pre", {}, "gawah eval SET --out STORE/runs/NAME\ngawah report STORE/runs/NAME")));
    return { go() {} };
  }
  clear(main, heading, h("p", { class: "lead" }, `${plural(runs.length, "run")}, newest first.`),
    h("ul", { class: "runs" }, runs.map((run) => card(run))), place);
  const first = runs.find((run) => reportOf(run));
  if (first) show(first);

  function card(run) {
    const figures = run.metrics ? figuresOf(run.metrics) : null;
    return h("li", { class: "run" },
      h("div", { class: "section-head" }, told("h2", run.name), when(run.written_at)),
      figures ? h("dl", { class: "figures" }, figures.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))))
        : h("p", { class: "notice bad" }, "metrics.json cannot be read."),
      h("p", {}, reportOf(run) ? h("button", { type: "button", onclick: () => show(run) }, "Show the report")
        : h("span", { class: "fine" }, "No report was written; ", h("code", {}, "gawah report"), " makes one.")));
  }

  async function show(run) {
    const src = await address(`/v1/runs/${encodeURIComponent(run.name)}/`, reportOf(run));
    clear(place, h("iframe", { class: "report", title: `Report of ${run.name}`, sandbox: "", src }));
  }

  return { go() {} };
}

function reportOf(run) {
  return run.files.find((file) => file.endsWith(".html")) || "";
}

/** The few figures that say how good a run was; every other one is in the report. */
function figuresOf(metrics) {
  const rows = [["Documents", String(metrics.n?.documents ?? "")], ["Passages", String(metrics.n?.chunks ?? "")]];
  for (const [system, groups] of Object.entries(metrics.systems || {})) {
    const recall = groups.all?.["recall@4"] ?? Object.values(groups)[0]?.["recall@4"];
    if (recall) rows.push([`${system}, recall@4`, share(recall)]);
  }
  if (metrics.destroyed) rows.push(["Answers cut apart", share(metrics.destroyed)]);
  return rows.filter(([, value]) => value);
}

function share(value) {
  if (typeof value === "number") return `${(100 * value).toFixed(1)} %`;
  if (typeof value.mean === "number") return `${(100 * value.mean).toFixed(1)} %`;
  if (typeof value.k === "number") return `${value.k} of ${value.n}`;
  return "";
}
