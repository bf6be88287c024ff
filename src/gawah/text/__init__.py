"""The grammar of plain text: terms for the index, sentences, and boundaries no cut may ignore.

Nothing here changes a canonical text: folding happens in the analyzer only, everything else returns offsets.
"""

from gawah.text.boundaries import collapse_space, dominant_script, grapheme_floor, lines_of, trim
from gawah.text.identifiers import NAMESPACE, identifier_terms
from gawah.text.queries import STOP_WORDS, query_terms
from gawah.text.sentences import sentences
from gawah.text.terms import analyze, fold, reference_terms

__all__ = [
    "NAMESPACE",
    "STOP_WORDS",
    "analyze",
    "collapse_space",
    "dominant_script",
    "fold",
    "grapheme_floor",
    "identifier_terms",
    "lines_of",
    "query_terms",
    "reference_terms",
    "sentences",
    "trim",
]
