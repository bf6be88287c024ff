"""Numbers to figures: SVG that stands inside a page, takes its colours from it, and is the same to the byte every time.

Axes stand at fixed places, letters stay letters, identifiers come from a salt, and nothing of the clock or of a user's
matplotlib settings gets in. Colours are the page's own (CSS variables), so that a figure follows it into the dark.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from gawah.errors import ConfigurationError
from gawah.eval.report.markup import Markup, element
from gawah.eval.report.numbers import Spread
from gawah.eval.report.words import drawn_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, MUTED, RULE = "#010203", "#010204", "#010205"
COLOURS = ("#010211", "#010212", "#010213", "#010214", "#010215", "#010216")
# What a matplotlib colour stands for on the page; the numbers are chosen so that nothing else in an SVG is like them.
_VARIABLES = {
    INK: "--ink", MUTED: "--muted", RULE: "--rule", **{colour: f"--c{i}" for i, colour in enumerate(COLOURS, start=1)}
}  # fmt: skip
_MARKERS = ("o", "s", "^", "D", "v", "P")
_DASHES: tuple[Any, ...] = ("-", (0, (6, 2)), (0, (2, 1.5)), (0, (6, 2, 1.5, 2)), "-", (0, (4, 1)))
_WIDTH_IN, _HEIGHT_IN = 5.4, 3.5
_LEFT, _RIGHT = 0.115, 0.025  # margins, as shares of the width
_BELOW_IN, _ABOVE_IN, _LEGEND_ROW_IN = 0.54, 0.36, 0.21
_LEGEND_COLUMNS = 3
_ROW_IN = 0.42
_FEW = 20  # points of a curve that are marked one by one
_SETTINGS: dict[str, Any] = {
    "font.family": "sans-serif", "font.sans-serif": ["DejaVu Sans"], "font.size": 10, "svg.fonttype": "none",
    "axes.edgecolor": MUTED, "axes.labelcolor": INK, "axes.titlecolor": INK, "text.color": INK, "xtick.color": MUTED,
    "ytick.color": MUTED, "xtick.labelcolor": INK, "ytick.labelcolor": INK, "axes.spines.top": False,
    "axes.spines.right": False, "axes.grid": True, "grid.color": RULE, "grid.linewidth": 0.7, "axes.axisbelow": True,
    "axes.linewidth": 0.8, "lines.linewidth": 1.8, "axes.unicode_minus": True, "path.simplify": False,
    "axes.formatter.use_locale": False, "text.parse_math": False, "svg.image_inline": True,
}  # fmt: skip
_MISSING = "the report is drawn with matplotlib, which is not installed: pip install 'gawah[report]'"


@dataclass(frozen=True, slots=True)
class Line:
    """A curve; `low` and `high` are its band."""

    name: str
    colour: int
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()


@dataclass(frozen=True, slots=True)
class Mark:
    """A place on the horizontal axis that is named."""

    x: float
    name: str


@dataclass(frozen=True, slots=True)
class Frame:
    """What stands around shares from 0 to 1: the names of both axes, a mark, the numbers under the horizontal one."""

    x_label: str
    y_label: str
    mark: Mark | None = None
    ticks: Sequence[float] = ()


def require_matplotlib() -> None:
    """Raises ConfigurationError with what to install when matplotlib is not there."""
    try:
        import matplotlib as mpl  # noqa: F401
    except ImportError as error:
        raise ConfigurationError(_MISSING) from error


def curves(key: str, title: str, lines: Sequence[Line], frame: Frame) -> Markup:
    """Shares from 0 to 1 over numbers, each with its band. Curves that are marked by a threshold may lie anywhere: then
    their names stand above, else in the corner that a rising curve leaves free.
    """

    def draw(axes: Axes) -> None:
        for line in lines:
            dashes = _DASHES[line.colour] if len(lines) > 1 else "-"
            if line.low:
                axes.fill_between(line.x, line.low, line.high, color=COLOURS[line.colour], alpha=0.1, linewidth=0)
            marker = _MARKERS[line.colour] if len(line.x) <= _FEW else None
            axes.plot(
                line.x,
                line.y,
                marker=marker,
                markersize=3.5,
                color=COLOURS[line.colour],
                linestyle=dashes,
                label=line.name,
            )
        _draw_frame(axes, frame)
        if frame.mark:
            _draw_legend(axes)
        else:
            axes.legend(loc="lower right", frameon=False, fontsize=9)

    return _figure(key, title, draw, n_named=len(lines) + 1 if frame.mark else 0)


def histograms(
    key: str,
    title: str,
    rows: Sequence[tuple[str, int, Sequence[int]]],
    edges: Sequence[float],
    *,
    x_label: str,
    mark: Mark,
) -> Markup:
    """A row of bars for each (name, colour, counts), one above the other over one axis."""

    def draw(axes: Axes) -> None:
        for place, (name, colour, counts) in enumerate(rows):
            base = len(rows) - 1 - place
            most = max(counts, default=0) or 1
            for low, high, count in zip(edges, edges[1:], counts, strict=False):
                if count:
                    axes.bar(
                        (low + high) / 2, 0.78 * count / most, width=(high - low) * 0.9, bottom=base,
                        color=COLOURS[colour], alpha=0.85, linewidth=0,
                    )  # fmt: skip
            axes.axhline(base, color=MUTED, linewidth=0.8)
            total = f"{name}, {sum(counts)}" if any(counts) else f"{name}: none asked"
            axes.text(edges[0], base + 0.8, total, fontsize=9, va="bottom")
        _draw_mark(axes, mark)
        axes.set(xlabel=x_label, ylim=(0, len(rows)), xlim=(edges[0], edges[-1]), yticks=[])
        axes.grid(visible=False, axis="y")
        axes.spines["left"].set_visible(False)

    return _figure(key, title, draw, height_in=1.1 + 0.75 * len(rows))


def points(key: str, title: str, found: Line, frame: Frame, *, diagonal: str = "") -> Markup:
    """Shares with their intervals over numbers; `diagonal` names the line on which both axes are equal, if it is drawn."""

    def draw(axes: Axes) -> None:
        down = [y - low for y, low in zip(found.y, found.low, strict=True)]
        up = [high - y for y, high in zip(found.y, found.high, strict=True)]
        if diagonal:
            axes.plot([0, 1], [0, 1], color=MUTED, linestyle=_DASHES[2], linewidth=1.2, label=diagonal)
            axes.set_xlim(-0.02, 1.02)
        axes.errorbar(
            found.x, found.y, yerr=[down, up], fmt="o", color=COLOURS[found.colour], capsize=3, label=found.name
        )
        _draw_frame(axes, frame)
        _draw_legend(axes)

    return _figure(key, title, draw, n_named=2)


def boxes(key: str, title: str, rows: Sequence[Spread], *, x_label: str) -> Markup:
    """A row a stage on a logarithmic axis: a line from the 5th to the 95th percentile, a box over the middle half, the
    median, and the longest as a dot.
    """

    def draw(axes: Axes) -> None:
        floor = 0.001  # times are kept to a thousandth of a millisecond
        for place, row in enumerate(reversed(rows)):
            p5, p25, p50, p75, p95, longest = (
                max(value, floor) for value in (row.p5, row.p25, row.p50, row.p75, row.p95, row.longest)
            )
            axes.plot([p5, p95], [place, place], color=COLOURS[0], linewidth=1.4)
            axes.plot([p25, p75], [place, place], color=COLOURS[0], linewidth=9, alpha=0.35, solid_capstyle="butt")
            axes.plot([p50, p50], [place - 0.27, place + 0.27], color=INK, linewidth=2)
            axes.plot([longest], [place], marker="o", markersize=3.5, color=COLOURS[1])
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.set(xlabel=x_label, ylim=(-0.6, len(rows) - 0.4))
        axes.set_yticks(
            range(len(rows)), [drawn_name(row.stage, place) for place, row in reversed(list(enumerate(rows)))]
        )
        axes.grid(visible=False, axis="y")

    return _figure(key, title, draw, height_in=1.1 + _ROW_IN * len(rows), left=0.16)


def _draw_frame(axes: Axes, frame: Frame) -> None:
    if frame.mark:
        _draw_mark(axes, frame.mark)
    if frame.ticks:
        axes.set_xticks(frame.ticks)
    axes.set(xlabel=frame.x_label, ylabel=frame.y_label, ylim=(-0.02, 1.02))


def _draw_legend(axes: Axes) -> None:
    """The names above the axes, out of the way of what may lie anywhere."""
    axes.legend(
        loc="lower left",
        bbox_to_anchor=(-0.01, 1.0),
        ncols=_LEGEND_COLUMNS,
        frameon=False,
        fontsize=9,
        borderaxespad=0.2,
    )


def _draw_mark(axes: Axes, mark: Mark) -> None:
    axes.axvline(mark.x, color=INK, linewidth=1.2, linestyle=(0, (1, 1.5)), label=mark.name)


def _figure(
    key: str,
    title: str,
    draw: Callable[[Axes], None],
    *,
    height_in: float = _HEIGHT_IN,
    left: float = _LEFT,
    n_named: int = 0,
) -> Markup:
    """One axes drawn to an SVG element with a title that screen readers say. `key` is unique in a page, `n_named` how many
    names stand above the axes.
    """
    require_matplotlib()
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(cast("Any", {**_SETTINGS, "svg.hashsalt": f"gawah {key}"}))
        legend_in = _LEGEND_ROW_IN * math.ceil(n_named / _LEGEND_COLUMNS)
        height_in += legend_in
        figure = Figure(figsize=(_WIDTH_IN, height_in), facecolor="none")
        FigureCanvasSVG(figure)
        below, above = _BELOW_IN / height_in, (_ABOVE_IN + legend_in) / height_in
        axes = figure.add_axes((left, below, 1 - left - _RIGHT, 1 - below - above), facecolor="none")
        draw(axes)
        axes.set_title(title, loc="left", fontsize=10.5, fontweight="bold", pad=6 + 72 * legend_in)
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    return _inline(out.getvalue(), key, title)


def _inline(svg: str, key: str, title: str) -> Markup:
    """The drawing without what belongs to a file of its own: prolog, size, namespaces, numbered groups, fonts."""
    found = re.search(r'<svg\b[^>]*?viewBox="([^"]+)"[^>]*>(.*)</svg>', svg, re.DOTALL)
    assert found, "matplotlib writes one svg element with a viewBox"
    view_box, body = found.groups()
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = re.sub(r'<style type="text/css">.*?</style>', "", body, flags=re.DOTALL)
    body = re.sub(r'<g id="[^"]*"', "<g", body)
    body = body.replace("xlink:href=", "href=")
    body = re.sub(
        r"font: (bold) ([\d.]+px) [^;\"]+", r"font-size: \2; font-weight: \1", body
    )  # the family is the page's
    body = re.sub(r"font: ([\d.]+px) [^;\"]+", r"font-size: \1", body)
    body = re.sub(r"font-family: [^;\"]+;? ?", "", body)
    body = re.sub(r"\s*\n\s*", " ", body).replace("> <", "><").replace('" />', '"/>')
    for colour, variable in _VARIABLES.items():
        body = body.replace(colour, f"var({variable})")
    name = f"{key}-title"
    return element(
        "svg", element("title", title, id=name), Markup(body.strip()),
        viewBox=view_box, role="img", aria_labelledby=name, class_="figure",
    )  # fmt: skip
