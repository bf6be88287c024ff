"""PDF to a document: characters to runs, runs to regions in reading order, regions to paragraphs, headings and tables."""

from gawah.extract.pdf.extractor import PdfExtractor

__all__ = ["PdfExtractor"]
