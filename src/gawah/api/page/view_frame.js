// An HTML page in a frame of its own: nothing in it runs or loads, its origin is nobody's, the cited range is marked by the server.

import { clear, h } from "./dom.js";
import { address, call, documentPrefix } from "./http.js";

export async function frameView(body, found) {
  const range = found.from === undefined ? {} : { from: found.from, to: found.to };
  const marked = found.highlights.slice(0, 50).map((one) => `strong=${one.from}-${one.to}`).join("&");
  const plain = await address(documentPrefix(found.record.id), "framed", range);
  const src = marked && found.from !== undefined ? `${plain}${plain.includes("?") ? "&" : "?"}${marked}` : plain;
  await call(src, { method: "GET" }); // what goes wrong is said here, not in the frame
  clear(body, h("iframe", { class: "framed", title: `Page ${found.record.name}`, sandbox: "", src: `${src}#cited` }));
}
