"""Imports go downhill only, and siblings never import each other (DESIGN §2)."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src" / "gawah"
LAYERS = (
    ("types", "errors"),
    ("ports", "text", "fragment", "fingerprint", "media_types", "wire", "principal", "naming"),
    ("store", "index", "models", "maxsim", "archive", "testing"),
    (
        "sources",
        "extract",
        "chunk",
        "embed",
        "lexical",
        "dense",
        "fuse",
        "rerank",
        "gate",
        "compose",
        "generate",
        "cite",
        "envelope",
        "support",
    ),
    ("retrieve",),
    ("ingest", "ask", "verify", "upkeep"),
    ("migrate",),
    ("eval",),
    ("config",),
    ("app",),
    ("evaluate", "calibrate", "work", "upgrade", "refresh", "cluster"),
    ("mcp",),
    ("api",),
    ("cli",),
    ("__main__",),
)
LAYER_OF = {name: number for number, names in enumerate(LAYERS) for name in names}


def room_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported_rooms(path: Path) -> set[str]:
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            if node.module == "gawah":
                rooms |= {alias.name for alias in node.names if alias.name in LAYER_OF}
            elif node.module and node.module.startswith("gawah."):
                rooms.add(node.module.split(".")[1])
        elif isinstance(node, ast.Import):
            rooms |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("gawah.")}
    return rooms


MODULES = sorted(path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_go_downhill_only(path):
    room = room_of(path)
    assert room in LAYER_OF, f"{path} is in no layer"
    for other in imported_rooms(path) - {room}:
        assert LAYER_OF[other] < LAYER_OF[room], f"{room} imports {other}, which is not below it"


def test_the_words_need_the_standard_library_only():
    for name in LAYERS[0]:
        for node in ast.walk(ast.parse((SOURCE / f"{name}.py").read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                assert node.module in {"__future__", "collections.abc", "dataclasses", "enum", "types", "typing"}, (
                    node.module
                )


def test_broad_excepts_stand_at_the_edges_only():
    places = [
        (room_of(path), node.lineno)
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ExceptHandler) and (node.type is None or getattr(node.type, "id", "") == "Exception")
    ]
    assert {room for room, _ in places} <= {"cli", "ingest", "extract", "api"}
    assert len(places) <= 5
