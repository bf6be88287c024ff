"""Drafts to citations: the generator writes numbers only, the server says what they stand for."""

from gawah.cite.claims import without_marks
from gawah.cite.literal import literals_shown
from gawah.cite.marks import Mark
from gawah.cite.places import placed
from gawah.cite.resolve import Hear, Resolved, conclude, resolve, slices
from gawah.cite.stream import MarkerStream

__all__ = [
    "Hear",
    "Mark",
    "MarkerStream",
    "Resolved",
    "conclude",
    "literals_shown",
    "placed",
    "resolve",
    "slices",
    "without_marks",
]
