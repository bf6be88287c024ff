"""Where the benchmarks find text: the evaluation sets beside the repository, or the example handbook."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared" / "eval"
HANDBOOK = ROOT / "examples" / "handbook"


def rustbook() -> Path:
    """The rustbook corpus where it is, else the handbook; say which when you print."""
    corpus = SHARED / "rustbook" / "corpus"
    return corpus if corpus.is_dir() else HANDBOOK
