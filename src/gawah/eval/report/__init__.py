"""A run folder to a report: one HTML page that holds its figures, their numbers, and the questions that went wrong.

Drawn with matplotlib (`pip install 'gawah[report]'`), which is imported when something is drawn.
"""

from gawah.eval.report.figures import require_matplotlib
from gawah.eval.report.page import render_report, write_report

__all__ = ["render_report", "require_matplotlib", "write_report"]
