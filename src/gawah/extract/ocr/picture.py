"""What is done to a picture before it is read: made grey, freed of grain, set straight; and points led back."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageChops, ImageFilter

_SEARCH_PX = 1000  # the longer side of the small copy in which the skew is looked for
_MOST_SKEW_DEGREES = 8.0
_LEAST_SKEW_DEGREES = 0.3  # less does no harm
_STEPS = (1.0, 0.2, 0.05)  # degrees, coarse to fine
_CLEARER = 1.1  # a skew must make the profile so much sharper, or it is chance
_FLAT_LEVELS = 40
_GRAIN_LEVELS = 96
_GRAIN_SHARE = 0.002
_FLAT = 12  # levels of grey between paper and ink, under which there is no ink


def grey(picture: Image.Image) -> Image.Image:
    """Dark on light, in levels of grey; what is transparent is paper, white, or black under light letters."""
    if picture.mode in ("I", "I;16", "I;16B", "I;16L", "F"):  # Pillow would cut these off at 255 instead of scaling
        numbers = np.nan_to_num(np.asarray(picture, dtype=np.float32))
        low, high = float(numbers.min()), float(numbers.max())
        return Image.fromarray(((numbers - low) * (255.0 / max(1.0, high - low))).astype(np.uint8))
    if picture.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in picture.info:
        layers = picture.convert("RGBA")
        on_white = _laid_on("white", layers)
        return _laid_on("black", layers) if is_blank(on_white) else on_white
    if picture.mode == "LAB":
        return picture.getchannel("L")
    return picture.convert("L")


def _laid_on(paper: str, layers: Image.Image) -> Image.Image:
    flat = Image.new("RGBA", layers.size, paper)
    flat.alpha_composite(layers)
    return flat.convert("L")


def is_blank(picture: Image.Image) -> bool:
    """Whether a grey picture has nothing on its paper."""
    levels = np.asarray(picture)
    return int(levels.max()) - int(levels.min()) <= _FLAT


def has_grain(picture: Image.Image) -> bool:
    """Whether single pixels of a grey picture stand out where there is nothing but paper, as scanners make them.

    Measured: clean print, small letters included, has 0.00 to 0.02 % of them; three in a hundred make a page illegible.
    """
    smooth = without_grain(picture)
    lows, highs = (np.asarray(smooth.filter(kind(5))) for kind in (ImageFilter.MinFilter, ImageFilter.MaxFilter))
    is_paper = highs - lows < _FLAT_LEVELS
    stands_out = ImageChops.difference(picture, smooth)
    n_paper = int(np.count_nonzero(is_paper))
    n_grains = int(np.count_nonzero(is_paper & (np.asarray(stands_out) > _GRAIN_LEVELS)))
    return n_grains > _GRAIN_SHARE * n_paper


def without_grain(picture: Image.Image) -> Image.Image:
    """A median over 3 x 3 pixels: single wrong ones go, edges stay."""
    return picture.filter(ImageFilter.MedianFilter(3))


def skew_degrees(picture: Image.Image) -> float:
    """By how much the lines of a grey picture rise to the right; 0 when that is not clear, or no more than a trifle.

    The profile of the ink over the rows is sharpest along the lines (Postl 1986): its squared steps are compared over
    slants of up to 8 degrees.
    """
    scale = max(1, math.ceil(max(picture.size) / _SEARCH_PX))
    ys, xs = np.nonzero(_ink(np.asarray(picture.reduce(scale))))
    if len(ys) == 0:
        return 0.0
    upright = _sharpness(ys, xs, 0.0)
    best, most = 0.0, upright
    width = _MOST_SKEW_DEGREES
    for step in _STEPS:
        n = round(width / step)
        centre = best
        for index in range(-n, n + 1):
            angle = centre + index * step
            found = _sharpness(ys, xs, angle)
            if found > most:
                best, most = angle, found
        width = step
    return best if abs(best) >= _LEAST_SKEW_DEGREES and most > _CLEARER * upright else 0.0


def _ink(levels: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """The minority of the pixels, parted by the middle between the two means (Ridler and Calvard 1978)."""
    middle = float(levels.mean())
    for _ in range(10):
        dark, light = levels[levels <= middle], levels[levels > middle]
        if not len(dark) or not len(light):
            return np.zeros(levels.shape, bool)
        middle, before = (float(dark.mean()) + float(light.mean())) / 2, middle
        if abs(middle - before) < 1:
            break
    ink: NDArray[np.bool_] = levels <= middle
    return ink if ink.mean() <= 0.5 else ~ink


def _sharpness(ys: NDArray[np.intp], xs: NDArray[np.intp], degrees: float) -> float:
    rows = np.rint(ys + xs * math.tan(math.radians(degrees))).astype(np.intp)
    profile = np.bincount(rows - rows.min()).astype(np.float64)
    return float(np.square(np.diff(profile)).sum())


@dataclass(frozen=True, slots=True)
class Setting:
    """How a picture of `width` x `height` is set upright: quarter turns clockwise, then a slant, then a scale."""

    width: int
    height: int
    quarter_turns: int = 0
    skew_degrees: float = 0.0
    scale: int = 1

    def apply(self, picture: Image.Image) -> Image.Image:
        turned = picture
        if self.quarter_turns:
            turned = picture.transpose(_TRANSPOSE[self.quarter_turns])
        if self.skew_degrees:
            turned = turned.rotate(-self.skew_degrees, Image.Resampling.BICUBIC, expand=True, fillcolor=_paper(turned))
        if self.scale != 1:
            turned = turned.resize((turned.width * self.scale, turned.height * self.scale), Image.Resampling.BICUBIC)
        return turned

    def lead_back(self, x0: float, y0: float, x1: float, y1: float) -> tuple[float, float, float, float]:
        """The box around a box of the upright picture, in the picture as it was, within its edges."""
        corners = [self._back(x, y) for x in (x0, x1) for y in (y0, y1)]
        xs, ys = [x for x, _ in corners], [y for _, y in corners]
        left, right = (min(max(x, 0.0), self.width) for x in (min(xs), max(xs)))
        top, bottom = (min(max(y, 0.0), self.height) for y in (min(ys), max(ys)))
        return left, top, right, bottom

    def _back(self, x: float, y: float) -> tuple[float, float]:
        x, y = x / self.scale, y / self.scale
        width, height = (self.width, self.height) if self.quarter_turns % 2 == 0 else (self.height, self.width)
        if self.skew_degrees:
            angle = math.radians(self.skew_degrees)
            cos, sin = math.cos(angle), math.sin(angle)
            # The slanted picture has grown about its middle so that no corner is lost.
            dx = x - (width * cos + height * abs(sin)) / 2
            dy = y - (width * abs(sin) + height * cos) / 2
            x, y = width / 2 + dx * cos + dy * sin, height / 2 - dx * sin + dy * cos
        return ((x, y), (y, width - x), (width - x, height - y), (height - y, x))[self.quarter_turns]


_TRANSPOSE = {
    1: Image.Transpose.ROTATE_270,  # Pillow turns the other way
    2: Image.Transpose.ROTATE_180,
    3: Image.Transpose.ROTATE_90,
}


def _paper(picture: Image.Image) -> int:
    """The level that most of the picture has, for the corners that a slant lays bare."""
    counts = picture.histogram()
    return counts.index(max(counts))
