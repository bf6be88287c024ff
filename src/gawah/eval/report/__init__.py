"""A run folder to a report: one HTML page that holds its figures, their numbers, and the questions that went wrong.

Drawn with matplotlib (`pip install 'gawah[report]'`), which is imported when something is drawn.
"""

from gawah.eval.report.figures import require_matplotlib
from gawah.eval.report.page import page, write_report
from gawah.eval.report.reading import RunFacts, read_facts

__all__ = ["RunFacts", "page", "read_facts", "require_matplotlib", "write_report"]
