"""Qdrant's own engine, in process (`qdrant-edge-py`), behind the requests that a Qdrant server answers.

No server binary can be had from a package index, and the engine admits one process alone. So this answers, on loopback, the
part of the REST interface that gawah uses: what is indexed, filtered, scored and counted is done by the vendor's code. It is no
cluster: replicas, shards and their delays do not occur.

`python -m gawah.testing.qdrant_engine FOLDER PORT` serves a folder until it is stopped.
"""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import sys
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import unquote, urlsplit

import qdrant_edge as edge

_ALIASES = "aliases.json"
_SHARD = "shard"


class Refused(Exception):  # noqa: N818 — what the server says, not what went wrong in it
    """A request that is answered with a status and a reason."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Engine:
    """Collections below a folder, by the requests of the REST interface. One request is answered at a time."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        directory.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        path = directory / _ALIASES
        self._aliases: dict[str, str] = json.loads(path.read_text()) if path.exists() else {}
        self._shards = {
            folder.name: edge.EdgeShard.load(str(folder / _SHARD)) for folder in directory.iterdir() if folder.is_dir()
        }

    def close(self) -> None:
        with self._lock:
            for shard in self._shards.values():
                shard.close()
            self._shards.clear()

    def answer(self, method: str, path: str, body: dict[str, Any]) -> Any:
        """The `result` of a request; raises Refused."""
        with self._lock:
            for wanted, pattern, handler in _ROUTES:
                match = re.fullmatch(pattern, path)
                if method == wanted and match:
                    return handler(self, *map(unquote, match.groups()), body)
        raise Refused(404, f"no such request: {method} {path}")

    def optimize(self) -> None:
        """Does now what a server's optimizer does in its own time: merges segments, builds graphs."""
        with self._lock:
            for shard in self._shards.values():
                shard.optimize()

    # --- collections

    def aliases(self, _: dict[str, Any]) -> Any:
        return {
            "aliases": [{"alias_name": alias, "collection_name": name} for alias, name in sorted(self._aliases.items())]
        }

    def collections(self, _: dict[str, Any]) -> Any:
        return {"collections": [{"name": name} for name in sorted(self._shards)]}

    def exists(self, name: str, _: dict[str, Any]) -> Any:
        return {"exists": name in self._shards}

    def create(self, name: str, body: dict[str, Any]) -> Any:
        if name in self._shards:
            raise Refused(409, f"Wrong input: Collection `{name}` already exists!")
        vectors = {
            key: edge.EdgeVectorParams(size=each["size"], distance=getattr(edge.Distance, each["distance"]))
            for key, each in body["vectors"].items()
        }
        sparse = {key: edge.EdgeSparseVectorParams() for key in body["sparse_vectors"]}
        folder = self._directory / name / _SHARD
        folder.parent.mkdir()
        self._shards[name] = edge.EdgeShard.create(
            str(folder), edge.EdgeConfig(vectors=vectors, sparse_vectors=sparse, on_disk_payload=True)
        )
        return True

    def drop(self, name: str, _: dict[str, Any]) -> Any:
        shard = self._shards.pop(name, None)
        if shard is not None:
            shard.close()
            shutil.rmtree(self._directory / name)
            self._keep_aliases({alias: other for alias, other in self._aliases.items() if other != name})
        return shard is not None

    def change_aliases(self, body: dict[str, Any]) -> Any:
        changed = dict(self._aliases)
        for action in body["actions"]:
            made = action["create_alias"]
            if made["collection_name"] not in self._shards:
                raise Refused(404, f"Not found: Collection `{made['collection_name']}` doesn't exist!")
            changed[made["alias_name"]] = made["collection_name"]
        self._keep_aliases(changed)
        return True

    def create_index(self, name: str, body: dict[str, Any]) -> Any:
        schema = dict(body["field_schema"])
        kind = schema.pop("type")
        params: Any
        if kind == "text":
            tokenizer = getattr(edge.TokenizerType, schema.pop("tokenizer").capitalize())
            params = edge.TextIndexParams(tokenizer=tokenizer, **schema)
        else:
            params = edge.IntegerIndexParams(**schema)
        self._shard(name).update(edge.UpdateOperation.create_field_index(body["field_name"], params))
        return _DONE

    # --- points

    def upsert(self, name: str, body: dict[str, Any]) -> Any:
        batch = body.get("batch") or {"ids": [], "payloads": [], "vectors": {}}
        made = [
            edge.Point(number, {key: _vector(column[row]) for key, column in batch["vectors"].items()}, payload)
            for row, (number, payload) in enumerate(zip(batch["ids"], batch["payloads"], strict=True))
        ]
        made += [edge.Point(each["id"], each["vector"], each["payload"]) for each in body.get("points", [])]
        self._shard(name).update(edge.UpdateOperation.upsert_points(made))
        return _DONE

    def set_payload(self, name: str, body: dict[str, Any]) -> Any:
        operation = edge.UpdateOperation.set_payload_by_filter(_filter(body["filter"]), body["payload"])
        self._shard(name).update(operation)
        return _DONE

    def delete(self, name: str, body: dict[str, Any]) -> Any:
        self._shard(name).update(edge.UpdateOperation.delete_points_by_filter(_filter(body["filter"])))
        return _DONE

    def retrieve(self, name: str, body: dict[str, Any]) -> Any:
        records = self._shard(name).retrieve(body["ids"], body.get("with_payload", True), with_vector=False)
        return [{"id": record.id, "payload": record.payload} for record in records]

    def scroll(self, name: str, body: dict[str, Any]) -> Any:
        request = edge.ScrollRequest(
            offset=body.get("offset"),
            limit=body["limit"],
            filter=_filter(body.get("filter") or {}),
            with_payload=body.get("with_payload", True),
            with_vector=False,
        )
        records, following = self._shard(name).scroll(request)
        return {
            "points": [{"id": record.id, "payload": record.payload} for record in records],
            "next_page_offset": following,
        }

    def count(self, name: str, body: dict[str, Any]) -> Any:
        request = edge.CountRequest(exact=body["exact"], filter=_filter(body.get("filter") or {}))
        return {"count": self._shard(name).count(request)}

    def query(self, name: str, body: dict[str, Any]) -> Any:
        asked = body["query"]
        parameters = body.get("params") or {}
        request = edge.QueryRequest(
            limit=body["limit"],
            query=edge.Query.Nearest(
                _vector(asked.get("nearest", asked) if isinstance(asked, dict) else asked), using=body["using"]
            ),
            filter=_filter(body.get("filter") or {}),
            with_payload=body.get("with_payload", False),
            with_vector=False,
            params=edge.SearchParams(exact=parameters.get("exact", False), hnsw_ef=parameters.get("hnsw_ef")),
        )
        found = self._shard(name).query(request)
        return {
            "points": [
                {"id": point.id, "version": point.version, "score": point.score, "payload": point.payload}
                for point in found
            ]
        }

    def _shard(self, name: str) -> edge.EdgeShard:
        shard = self._shards.get(self._aliases.get(name, name))
        if shard is None:
            raise Refused(404, f"Not found: Collection `{name}` doesn't exist!")
        return shard

    def _keep_aliases(self, aliases: dict[str, str]) -> None:
        self._aliases = aliases
        (self._directory / _ALIASES).write_text(json.dumps(aliases))


_DONE = {"operation_id": 0, "status": "completed"}
_ONE = "/collections/([^/]+)"
_ROUTES: tuple[tuple[str, str, Callable[..., Any]], ...] = (
    ("GET", "/aliases", Engine.aliases),
    ("GET", "/collections", Engine.collections),
    ("POST", "/collections/aliases", Engine.change_aliases),
    ("GET", f"{_ONE}/exists", Engine.exists),
    ("PUT", _ONE, Engine.create),
    ("DELETE", _ONE, Engine.drop),
    ("PUT", f"{_ONE}/index", Engine.create_index),
    ("PUT", f"{_ONE}/points", Engine.upsert),
    ("POST", f"{_ONE}/points", Engine.retrieve),
    ("POST", f"{_ONE}/points/payload", Engine.set_payload),
    ("POST", f"{_ONE}/points/delete", Engine.delete),
    ("POST", f"{_ONE}/points/scroll", Engine.scroll),
    ("POST", f"{_ONE}/points/count", Engine.count),
    ("POST", f"{_ONE}/points/query", Engine.query),
)


def _vector(value: Any) -> Any:
    return edge.SparseVector(value["indices"], value["values"]) if isinstance(value, dict) else value


def _filter(value: dict[str, Any]) -> edge.Filter:
    def conditions(key: str) -> list[Any] | None:
        some = value.get(key)
        return None if some is None else [_condition(each) for each in (some if isinstance(some, list) else [some])]

    return edge.Filter(must=conditions("must"), should=conditions("should"), must_not=conditions("must_not"))


def _condition(value: dict[str, Any]) -> Any:
    if "has_id" in value:
        return edge.HasIdCondition(set(value["has_id"]))
    if "key" not in value:
        return _filter(value)
    if bounds := value.get("range"):
        return edge.FieldCondition(value["key"], range=edge.RangeFloat(**bounds))
    match = value["match"]
    sought = edge.MatchText(match["text"]) if "text" in match else edge.MatchAny(match["any"])
    return edge.FieldCondition(value["key"], match=sought)


class Server:
    """The engine on a loopback port, as a context manager. `api_key`, where given, must come with each request."""

    def __init__(self, directory: Path, port: int = 0, *, api_key: str | None = None) -> None:
        self.engine = Engine(directory)
        self._http = ThreadingHTTPServer(("127.0.0.1", port), _handler(self.engine, api_key))
        self.port = self._http.server_port
        self.url = f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.shutdown()
        self._http.server_close()
        self.engine.close()

    def serve(self) -> None:
        """Answers until it is stopped."""
        self._http.serve_forever(poll_interval=0.02)


def _handler(engine: Engine, api_key: str | None) -> type[BaseHTTPRequestHandler]:
    def admit(key: str | None) -> None:
        if api_key is not None and key != api_key:
            raise Refused(401, "Must provide an API key or an Authorization bearer token")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            try:
                admit(self.headers.get("api-key"))
                result = engine.answer(self.command, urlsplit(self.path).path, json.loads(data or b"{}"))
                self._send(200, {"result": result, "status": "ok", "time": 0.0})
            except Refused as refused:
                self._send(refused.status, {"status": {"error": str(refused)}, "time": 0.0})

        def _send(self, status: int, body: dict[str, Any]) -> None:
            data = json.dumps(body).encode()
            with contextlib.suppress(ConnectionError):  # who asked was killed
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        do_GET = do_PUT = do_POST = do_DELETE = _answer  # noqa: N815 — the names that http.server calls

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 — http.server's name
            """Tests read no access log."""

    return Handler


if __name__ == "__main__":
    with Server(Path(sys.argv[1]), int(sys.argv[2])) as running:
        sys.stdout.write(f"{running.url}\n")
        sys.stdout.flush()
        threading.Event().wait()
