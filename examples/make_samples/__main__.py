"""Makes the example files of every format anew: `python examples/make_samples [NAME ...]`. Those in the repository were made by it.

Needs python-pptx, openpyxl and LibreOffice. Mail, EPUB, ZIP and PPTX come out the same to the byte; what LibreOffice writes
holds its version and the time.
"""

import sys
from pathlib import Path

import book
import bulletin
import letters
import papers
import slides
import workbooks

FOLDER = Path(__file__).resolve().parents[1] / "formats"
KINDS = {module.__name__: module.write for module in (bulletin, papers, workbooks, slides, letters, book)}


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name in sys.argv[1:] or KINDS:
        KINDS[name](FOLDER)


if __name__ == "__main__":
    sys.exit(main())
