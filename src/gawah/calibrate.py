"""Settings and evaluation sets to a calibration: each set is indexed in a folder of its own that does not stay."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from gawah.app import Application, build_embedder
from gawah.config import Settings
from gawah.errors import UsageError
from gawah.eval.calibrate import GateQuestion, calibrate, questions_of
from gawah.eval.collection import load_collection
from gawah.gate import Calibration, CalibrationStamp, differences, packaged_calibration
from gawah.ports import Embedder


def calibrate_sets(settings: Settings, folders: Sequence[Path], *, max_bluff: float | None) -> Calibration:
    """A calibration for the settings' model, chunker and reranker, from sets with unanswerable questions.

    Without enough questions that the encoder cannot read, the model by words stays the shipped one where that holds.

    Raises CollectionError when a set cannot be used, UsageError when the sets together lack a kind of question.
    """
    if not folders:
        raise UsageError("name at least one evaluation set to calibrate on")
    embedder = build_embedder(settings)
    questions: list[GateQuestion] = []
    stamps: list[CalibrationStamp] = []
    for folder in folders:
        asked, stamp = asked_set(settings, embedder, folder)
        questions += asked
        stamps.append(stamp)
    shipped = packaged_calibration()
    words = None if differences(shipped.stamp, stamps[0]) else shipped.words
    return calibrate(questions, embedder.stamp.name, stamps[0], max_bluff=max_bluff, words=words)


def asked_set(
    settings: Settings, embedder: Embedder, folder: Path
) -> tuple[tuple[GateQuestion, ...], CalibrationStamp]:
    """Every question of a set with its signals, from an index of its corpus that is made for it."""
    collection = load_collection(folder)
    with tempfile.TemporaryDirectory(prefix="gawah-calibrate-") as store:
        own = settings.model_copy(update={"store": Path(store), "gate": "reference"})
        with Application(own, create=True, embedder=embedder) as app:
            app.require_all()
            failed = [record for record in app.ingest(app.plan(collection.corpus_dir)) if record.failure]
            if failed:
                raise UsageError(f"{failed[0].name} of {folder} could not be read: {failed[0].failure}")
            with app.catalog.snapshot() as snapshot:
                return questions_of(app.retriever, snapshot, collection), app.gate_stamp
