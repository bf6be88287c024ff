"""Upgrade day for a store: the next generation built beside the one that answers, the switch, the way back, the clearing away.

Only one process migrates a store at a time; everybody else reads and ingests meanwhile.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

from gawah.app import Application, build_gate, source_of
from gawah.errors import ConfigurationError, StoreBusyError, UsageError
from gawah.migrate import Migration, bring_up, complete, previous
from gawah.ports import Embedder
from gawah.types import DocumentRecord, DroppedGeneration, Generation, Holding, ModelStamp
from gawah.upkeep import remove_leftovers, tidy

_PROBE = "warm"


@dataclass(frozen=True, slots=True)
class Upgrade:
    """A generation on its way to be the active one, and the one that is. `pending` documents are to be brought in first.

    `warnings` are to be read before the switch. Nothing is pending and both are the same where there is nothing to do.
    """

    generation: Generation
    active: Generation
    pending: tuple[DocumentRecord, ...]
    warnings: tuple[str, ...]
    migration: Migration


def generations_of(app: Application) -> list[tuple[Generation, Holding]]:
    """Every generation of the store and what it holds, by number."""
    generations = app.catalog.generations()
    with app.catalog.snapshot() as snapshot:
        return [(one, snapshot.holding(one.id)) for one in generations]


@contextlib.contextmanager
def upgrading(app: Application, model: str, *, switch: bool) -> Iterator[Upgrade]:
    """Begins the generation of a model, named as in the settings, or takes it up again; "" takes up the half-built one.

    Raises UsageError where there is nothing to migrate, or to take up; ModelError; ConfigurationError where it shall switch
    and the calibration that the settings name holds for another model; StoreBusyError while another process migrates.
    """
    with app.catalog.migration_lock():
        active = _active(app)
        embedder = app.load_model(model) if model else app.encoder_of(_half_built(app))
        warnings = _gate_warnings(app, embedder.stamp, refuse=switch and embedder.stamp != active.model)
        embedder.embed_query(_PROBE)  # a model that cannot run leaves no generation behind
        number = app.catalog.begin_generation(embedder.stamp, source_of(model) if model else "")
        yield _upgrade(app, number, active, lambda: embedder, warnings)


@contextlib.contextmanager
def going_back(app: Application) -> Iterator[Upgrade]:
    """The way back to the generation that was active before; its encoder is loaded only where something is pending in it.

    Raises NotFoundError where there is none, StoreBusyError while another process migrates.
    """
    with app.catalog.migration_lock():
        before = previous(app.catalog.generations())
        embedder = cache(lambda: app.encoder_of(before))
        warnings = _gate_warnings(app, before.model, refuse=False)
        yield _upgrade(app, before.id, _active(app), embedder, warnings)


def run(upgrade: Upgrade, *, switch: bool) -> Iterator[DocumentRecord]:
    """Brings in what is pending and switches, unless told not to; yields documents as they come in. It may be broken off."""
    if switch:
        yield from complete(upgrade.migration)
    else:
        yield from bring_up(upgrade.migration)
        upgrade.migration.tidy(True)  # noqa: FBT003


def drop(app: Application) -> list[DroppedGeneration]:
    """Throws away what all generations but the active one hold, half-built ones included; says what went.

    Nobody who reads is held up. Raises StoreBusyError while another process migrates.
    """
    with app.catalog.migration_lock():
        others = [one for one in app.catalog.generations() if one.state != "active" and one.dropped_at is None]
        gone = [app.catalog.drop_generation(one.id) for one in others]
        for one in others:
            app.index.drop_generation(one.id)
        with contextlib.suppress(StoreBusyError), app.catalog.writer_lock():  # or whoever writes next does it
            remove_leftovers(app.catalog, app.index)
        return gone


def _active(app: Application) -> Generation:
    active = next((one for one in app.catalog.generations() if one.state == "active"), None)
    if active is None:
        raise UsageError("nothing was ever ingested into this store: set model, and ingest")
    return active


def _half_built(app: Application) -> Generation:
    building = next((one for one in app.catalog.generations() if one.state == "building"), None)
    if building is None:
        raise UsageError("no generation is half built; name the model of the next one: gawah migrate --model")
    return building


def _upgrade(
    app: Application, number: int, active: Generation, embedder: Callable[[], Embedder], warnings: tuple[str, ...]
) -> Upgrade:
    generation = next(one for one in app.catalog.generations() if one.id == number)
    with app.catalog.snapshot() as snapshot:
        pending = tuple(snapshot.pending(number))
    migration = Migration(app.catalog, number, embedder, app.chunking, _tidier(app, number))
    return Upgrade(generation, active, pending, warnings, migration)


def _tidier(app: Application, generation: int) -> Callable[[bool], None]:
    """Puts a generation's files in order, unless another process writes files now: then it, or a later one, does it."""

    def tidied(whole_tail: bool) -> None:  # noqa: FBT001
        with contextlib.suppress(StoreBusyError), app.catalog.writer_lock():
            tidy(app.catalog, app.index, generation=generation, whole_tail=whole_tail)

    return tidied


def _gate_warnings(app: Application, model: ModelStamp, *, refuse: bool) -> tuple[str, ...]:
    """What is to be known of the gate under that model; or ConfigurationError for a named calibration of another one."""
    try:
        _, notes = build_gate(app.settings, app.calibration_stamp(model))
    except ConfigurationError as error:
        if refuse:
            raise ConfigurationError(
                f"after the switch nothing could be answered: {error}; build the generation with --no-switch, make a "
                "calibration for the new model, and name that in gate"
            ) from error
        return (str(error),)
    return notes
