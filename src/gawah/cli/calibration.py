"""The command that fits the gate: calibrate."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from gawah.cli.common import PATH, common_options, load
from gawah.cli.terminal import print_json, say

if TYPE_CHECKING:
    from gawah.gate import Fitted


@click.command(short_help="Fit the gate on judged questions.")
@click.argument("sets", nargs=-1, required=True, type=PATH, metavar="SET...")
@click.option(
    "--max-bluff", type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="Share of must-refuse questions that may be answered, as an upper bound (without: bluffs and give-ups cost alike).",
)  # fmt: skip
@click.option("--out", type=PATH, help="Write the calibration here, for the setting gate=calibrated:PATH.")
@common_options
@click.pass_context
def calibrate(
    context: click.Context,
    sets: tuple[Path, ...],
    max_bluff: float | None,
    out: Path | None,
    store: Path | None,
    assignments: tuple[str, ...],
    as_json: bool,
) -> None:
    """Fit the gate and its threshold on labelled questions: folders with corpus/, queries.jsonl, unanswerable.jsonl."""
    from gawah.calibrate import calibrate_sets
    from gawah.errors import UsageError
    from gawah.gate import calibration_json, packaged_calibration

    settings = load(context, store, assignments).settings
    calibration = calibrate_sets(settings, sets, max_bluff=max_bluff)
    body = calibration_json(calibration)
    if out:
        import json

        try:
            out.write_text(json.dumps(body, ensure_ascii=False, indent=2, allow_nan=False) + "\n", encoding="utf-8")
        except OSError as error:
            raise UsageError(f"cannot write {out}: {error.strerror or error}") from error
    if as_json:
        print_json(body)
        return
    shipped = packaged_calibration().words == calibration.words
    by_words = "by words, for questions the encoder cannot read" + (
        ", as it ships: the sets have too few" if shipped else ""
    )
    for name, model in (("by vectors", calibration.vectors), (by_words, calibration.words)):
        _print_model(name, model)
    if not out:
        say("not written: --out FILE keeps it", err=True)
    else:
        say(f"written to {out}; use it with --set gate=calibrated:{out}", err=True)


def _print_model(name: str, fitted: Fitted) -> None:
    from gawah.eval.calibrate import FEW

    say(f"{name}: refuse at a score of {fitted.threshold:.3f} or less (intercept {fitted.model.intercept:+.3f})")
    for feature in fitted.model.features:
        say(f"  {feature.coefficient:+.3f} × ({feature.name} − {feature.mean:.3f}) / {feature.scale:.3f}")
    say(
        f"  on {', '.join(fitted.fitted_on)}: {fitted.n_give_ups} of {fitted.n_answerable} given up, "
        f"{fitted.n_bluffs} of {fitted.n_unanswerable} bluffed, so at most {fitted.bluff_bound:.1%} (95 % bound)"
    )
    if fitted.max_bluff is not None and not fitted.bound_holds:
        say(
            f"  {fitted.n_unanswerable} must-refuse questions cannot show a bound of {fitted.max_bluff:.1%}: the threshold "
            "keeps the rate seen within it, no more"
        )
    if fitted.n_unanswerable < FEW:
        say(f"  under {FEW} must-refuse questions the threshold that ships is the better one: keep it")
