// Calls of the API: the key goes along, problems become errors, streams become events.

const KEY = "gawah-key";
let askForKey = null;

export class Problem extends Error {
  constructor(status, body) {
    super(body.detail || `The server answered ${status}.`);
    this.status = status;
    this.code = body.code || "";
    this.detail = body.detail || `The server answered ${status}.`;
    this.requestId = body.request_id || "";
  }
}

export function key() {
  return sessionStorage.getItem(KEY) || "";
}

export function setKey(value) {
  if (value) sessionStorage.setItem(KEY, value);
  else sessionStorage.removeItem(KEY);
  tickets.clear();
}

/** `ask` is called when the server wants a key, or another; it resolves to whether there is one. */
export function whenKeyIsNeeded(ask) {
  askForKey = ask;
}

function headers(more = {}) {
  const own = key();
  return own ? { Authorization: `Bearer ${own}`, ...more } : more;
}

async function problemOf(response) {
  let body = {};
  try {
    body = await response.json();
  } catch {
    body = {};
  }
  return new Problem(response.status, body);
}

/** A response that is good; asks for a key when one is wanted, and then again. Throws Problem, or TypeError without a server. */
export async function call(path, options = {}) {
  for (;;) {
    const response = await fetch(path, { ...options, headers: headers(options.headers) });
    if (response.ok) return response;
    const problem = await problemOf(response);
    if (response.status !== 401 || !askForKey || !(await askForKey(problem.detail))) throw problem;
  }
}

export async function get(path, parameters = {}) {
  const response = await call(withParameters(path, parameters));
  return response.json();
}

export function withParameters(path, parameters) {
  const kept = Object.entries(parameters).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  return kept.length ? `${path}?${new URLSearchParams(kept)}` : path;
}

export async function post(path, body = undefined) {
  const options = { method: "POST" };
  if (body !== undefined) Object.assign(options, { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } });
  const response = await call(path, options);
  return response.json();
}

export async function remove(path) {
  const response = await call(path, { method: "DELETE" });
  return response.json();
}

/** The events of a stream, as [name, body]; ends when the stream does. */
export async function* events(path, options = {}) {
  const accept = { Accept: "text/event-stream" };
  const response = await call(path, { ...options, headers: { ...accept, ...options.headers } });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let waiting = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    waiting += value;
    for (let end = waiting.indexOf("\n\n"); end >= 0; end = waiting.indexOf("\n\n")) {
      const event = eventOf(waiting.slice(0, end));
      waiting = waiting.slice(end + 2);
      if (event) yield event;
    }
  }
}

function eventOf(block) {
  let name = "";
  const data = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("event: ")) name = line.slice(7);
    else if (line.startsWith("data: ")) data.push(line.slice(6));
  }
  return data.length ? [name, JSON.parse(data.join("\n"))] : null;
}

/** Sends a form; `heard` is told the share that is under way, from 0 to 1. Fetch cannot tell that, the older way can. */
export function sendForm(path, form, heard, signal) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", path);
    for (const [name, value] of Object.entries(headers())) request.setRequestHeader(name, value);
    request.upload.addEventListener("progress", (event) => {
      if (event.lengthComputable) heard(event.loaded / event.total);
    });
    request.addEventListener("load", () => {
      let body = {};
      try {
        body = JSON.parse(request.responseText);
      } catch {
        body = {};
      }
      if (request.status >= 200 && request.status < 300) resolve(body);
      else reject(new Problem(request.status, body));
    });
    request.addEventListener("error", () => reject(new TypeError("no connection")));
    request.addEventListener("abort", () => reject(new DOMException("stopped", "AbortError")));
    signal.addEventListener("abort", () => request.abort());
    request.send(form);
  });
}

// --- what a browser loads by address: with a key in use the address carries a ticket

const tickets = new Map();
const RENEW_MS = 30 * 60 * 1000;

/** An address that a picture, a recording or a frame can be loaded from. `prefix` is /v1/documents/ID/ or /v1/runs/NAME/. */
export async function address(prefix, rest, parameters = {}) {
  if (!key()) return withParameters(prefix + rest, parameters);
  let held = tickets.get(prefix);
  if (!held || held.until < Date.now()) {
    held = { ticket: post("/v1/tickets", { path: prefix }).then((body) => body.ticket), until: Date.now() + RENEW_MS };
    tickets.set(prefix, held);
    held.ticket.catch(() => tickets.delete(prefix));
  }
  return withParameters(prefix + rest, { ...parameters, ticket: await held.ticket });
}

export function documentPrefix(id) {
  return `/v1/documents/${encodeURIComponent(id)}/`;
}
