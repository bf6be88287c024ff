"""Pictures of text to text: a picture set upright, tesseract's words with boxes and confidences, lines and paragraphs.

`page.read_page` reads one picture, whatever it is a picture of; `extractor.ImageExtractor` reads image files. Nothing is
imported here: only what reads a picture needs the libraries of pictures.
"""
