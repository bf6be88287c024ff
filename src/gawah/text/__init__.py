"""The grammar of plain text: terms for the index, sentences, and boundaries no cut may ignore.

Nothing here changes a canonical text: folding happens in the analyzer only, everything else returns offsets.
"""

from gawah.text.boundaries import collapse_space, dominant_script, grapheme_floor, lines_of, trim
from gawah.text.demands import Demands, demands_of, unmet
from gawah.text.identifiers import NAMESPACE, identifier_terms
from gawah.text.negation import Denial, denial, is_negated, stems
from gawah.text.quantities import Quantities, Quantity, plain_digits, quantities
from gawah.text.queries import STOP_WORDS, content_terms, exact_terms, query_terms
from gawah.text.rows import are_rows
from gawah.text.sentences import sentences
from gawah.text.statements import lines, statements
from gawah.text.terms import analyze, fold, reference_terms

__all__ = [
    "NAMESPACE",
    "STOP_WORDS",
    "Demands",
    "Denial",
    "Quantities",
    "Quantity",
    "analyze",
    "are_rows",
    "collapse_space",
    "content_terms",
    "demands_of",
    "denial",
    "dominant_script",
    "exact_terms",
    "fold",
    "grapheme_floor",
    "identifier_terms",
    "is_negated",
    "lines",
    "lines_of",
    "plain_digits",
    "quantities",
    "query_terms",
    "reference_terms",
    "sentences",
    "statements",
    "stems",
    "trim",
    "unmet",
]
