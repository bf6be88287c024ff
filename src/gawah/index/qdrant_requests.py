"""The requests that the Qdrant index makes of a server, over one connection: tried again where that can help, and every
failure one line that names the server, never its key.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from gawah.errors import ConfigurationError, StoreError
from gawah.index import qdrant_points as points

if TYPE_CHECKING:
    from qdrant_client import QdrantClient
    from qdrant_client.http import models as qdrant
    from qdrant_client.http.exceptions import UnexpectedResponse

KEY_VARIABLE = "QDRANT_API_KEY"
TIMEOUT_S = 30  # an exact scan of ten million vectors takes less
_PAUSES_S = (0.1, 0.5, 2.0)  # before each further try of a request that met no server, or an overloaded one
_PAGE_POINTS = 5000
_OVERLOADED = (429, 502, 503, 504)

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Found:
    """A point of a ranking: its number (the chunk's seq), the engine's score, and the payload that was asked for."""

    seq: int
    score: float
    payload: dict[str, Any]


class Connection:
    """A Qdrant server. Threads may share it. `pause` waits between tries.

    Raises ConfigurationError for an address it cannot use, and where the extra `qdrant` is not installed.
    """

    def __init__(
        self,
        url: str,
        *,
        api_key: str | None = None,
        timeout_s: int = TIMEOUT_S,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self.address = _address(url)
        self._pause = pause
        self._client = _client(url, api_key or os.environ.get(KEY_VARIABLE) or None, timeout_s)

    def close(self) -> None:
        self._client.close()

    def ask(self, request: Callable[[QdrantClient], _T]) -> _T:
        """The answer to a request that may be repeated; raises StoreError when there is none."""
        from qdrant_client.http.exceptions import ApiException, ResponseHandlingException, UnexpectedResponse

        for pause in (*_PAUSES_S, None):
            try:
                return request(self._client)
            except UnexpectedResponse as error:
                if pause is None or error.status_code not in _OVERLOADED:
                    raise StoreError(self._refusal(error)) from error
            except ResponseHandlingException as error:
                if pause is None or not _met_nobody(error.source):
                    raise StoreError(self._no_answer(error.source)) from error
            except (ValueError, AssertionError) as error:  # what came back is no JSON, or not what the client asserts
                raise StoreError(self._no_answer(error)) from error
            except ApiException as error:
                raise StoreError(f"the Qdrant server {self.address} is overloaded; ask again later") from error
            self._pause(pause)
        raise AssertionError("unreachable")

    def _refusal(self, error: UnexpectedResponse) -> str:
        if error.status_code in (401, 403):
            return f"the Qdrant server {self.address} wants another key; set {KEY_VARIABLE}"
        said = " ".join(error.content.decode("utf-8", "replace").split())[:200]
        return f"the Qdrant server {self.address} refused with status {error.status_code}: {said}"

    def _no_answer(self, source: Exception) -> str:
        if _met_nobody(source):
            return f"no Qdrant server answers at {self.address}; start it, or set index to local"
        said = " ".join(str(source).split())[:200] or type(source).__name__
        return f"the Qdrant server {self.address} gave no answer that can be read: {said}"

    # --- collections

    def names(self, prefix: str) -> tuple[dict[str, str], list[str]]:
        """({alias: collection}, collections) whose names start so."""
        aliases = self.ask(lambda client: client.get_aliases()).aliases
        collections = self.ask(lambda client: client.get_collections()).collections
        return (
            {each.alias_name: each.collection_name for each in aliases if each.alias_name.startswith(prefix)},
            sorted(each.name for each in collections if each.name.startswith(prefix)),
        )

    def create(self, name: str, dimensions: int) -> None:
        """A collection with its payload indexes; one that is there already is left as it is."""
        from qdrant_client.http import models as qdrant

        if not self.ask(lambda client: client.collection_exists(name)):
            try:
                self.ask(
                    lambda client: client.create_collection(
                        name,
                        vectors_config={
                            points.DENSE: qdrant.VectorParams(
                                size=dimensions, distance=qdrant.Distance.DOT, on_disk=True
                            )
                        },
                        sparse_vectors_config={points.TERMS: qdrant.SparseVectorParams()},
                        on_disk_payload=True,
                    )
                )
            except StoreError:
                if not self.ask(lambda client: client.collection_exists(name)):  # else another process was faster
                    raise
        for field, schema in _payload_indexes(qdrant).items():
            self.ask(lambda client, field=field, schema=schema: client.create_payload_index(name, field, schema))  # type: ignore[misc]

    def point_alias(self, alias: str, collection: str) -> None:
        """Makes an alias stand for a collection, in place of the one it stood for, at once."""
        from qdrant_client.http import models as qdrant

        made = qdrant.CreateAliasOperation(
            create_alias=qdrant.CreateAlias(collection_name=collection, alias_name=alias)
        )
        self.ask(lambda client: client.update_collection_aliases([made]))

    def drop(self, name: str) -> None:
        """Removes a collection with all its files, and the aliases that stand for it."""
        self.ask(lambda client: client.delete_collection(name))

    # --- points

    def upsert(self, name: str, batch: qdrant.Batch | list[qdrant.PointStruct]) -> None:
        self.ask(lambda client: client.upsert(name, batch, wait=True))

    def set_payload(self, name: str, payload: dict[str, Any], where: qdrant.Filter) -> None:
        """Sets fields of the points that a filter admits, if there are any."""
        self.ask(lambda client: client.set_payload(name, payload, where, wait=True))

    def delete(self, name: str, where: qdrant.Filter) -> None:
        self.ask(lambda client: client.delete(name, where, wait=True))

    def retrieve(self, name: str, ids: Sequence[int], fields: Sequence[str]) -> dict[int, dict[str, Any]]:
        """The payload of those of the points that are there."""
        found: dict[int, dict[str, Any]] = {}
        for start in range(0, len(ids), _PAGE_POINTS):
            some = list(ids[start : start + _PAGE_POINTS])
            for record in self.ask(lambda client, some=some: client.retrieve(name, some, with_payload=list(fields))):  # type: ignore[misc]
                found[int(record.id)] = record.payload or {}
        return found

    def scroll(
        self, name: str, where: qdrant.Filter | None, fields: Sequence[str]
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        """(number, payload) of every point that a filter admits, in order."""
        offset: Any = None
        while True:
            records, offset = self.ask(
                lambda client, offset=offset: client.scroll(  # type: ignore[misc]
                    name, where, limit=_PAGE_POINTS, offset=offset, with_payload=list(fields)
                )
            )
            for record in records:
                yield int(record.id), record.payload or {}
            if offset is None:
                return

    def count(self, name: str, where: qdrant.Filter) -> int:
        """How many points a filter admits, exactly."""
        return self.ask(lambda client: client.count(name, where, exact=True)).count

    def rank(
        self,
        name: str,
        query: Sequence[float] | qdrant.SparseVector,
        *,
        using: str,
        limit: int,
        where: qdrant.Filter,
        fields: Sequence[str],
        exact: bool,
    ) -> list[Found]:
        """The points with the largest dot products, best first."""
        from qdrant_client.http import models as qdrant

        parameters = qdrant.SearchParams(exact=exact, hnsw_ef=None if exact else max(256, 2 * limit))
        answer = self.ask(
            lambda client: client.query_points(
                name,
                query=query if isinstance(query, qdrant.SparseVector) else list(query),
                using=using,
                limit=limit,
                query_filter=where,
                search_params=parameters,
                with_payload=list(fields) or False,
            )
        )
        return [Found(int(point.id), point.score, point.payload or {}) for point in answer.points]


def _payload_indexes(qdrant: Any) -> dict[str, Any]:
    number = qdrant.IntegerIndexParams(type="integer", lookup=False, range=True)
    looked_up = qdrant.IntegerIndexParams(type="integer", lookup=True, range=True)
    bag = qdrant.TextIndexParams(type="text", tokenizer=qdrant.TokenizerType.WHITESPACE, lowercase=False)
    return {points.SEQ: number, points.DEAD: number, points.DOCUMENT: looked_up, points.BAG: bag, points.EPOCH: number}


def _address(url: str) -> str:
    """Scheme, host, port and path of a server; a key in it is refused, for addresses are shown."""
    parts = urlsplit(url)
    if parts.username is not None or parts.password is not None:
        raise ConfigurationError(f"an address of a Qdrant server must not hold its key; set {KEY_VARIABLE} instead")
    try:
        port = parts.port
    except ValueError:
        port = -1
    if parts.scheme not in ("http", "https") or not parts.hostname or port == -1 or parts.query or parts.fragment:
        raise ConfigurationError(f"{url!r} is no address of a Qdrant server; write it as http://HOST:6333")
    return url.rstrip("/")


def _client(url: str, api_key: str | None, timeout_s: int) -> QdrantClient:
    try:
        from qdrant_client import QdrantClient
    except ImportError as error:
        raise ConfigurationError("the Qdrant index needs an extra; run: pip install 'gawah[qdrant]'") from error
    with warnings.catch_warnings():  # a key over plain http: said in docs/qdrant.md
        warnings.simplefilter("ignore", UserWarning)
        return QdrantClient(url=url, api_key=api_key, timeout=timeout_s, check_compatibility=False)


def _met_nobody(source: Exception) -> bool:
    """Whether a request cannot have been carried out: nobody listened, or the line broke before an answer."""
    import httpx

    return isinstance(source, httpx.NetworkError | httpx.RemoteProtocolError | httpx.ConnectTimeout)
