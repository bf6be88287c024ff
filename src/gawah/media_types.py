"""The name of a file to the media type that it promises. What the content is, extraction finds out."""

from __future__ import annotations

import re

UNKNOWN_TYPE = "application/octet-stream"
_TYPES_BY_SUFFIX = {
    suffix: media_type
    for media_type, suffixes in {
        "text/plain": "txt text log rst adoc asciidoc org tex srt vtt",
        "text/markdown": "md markdown mdown mkd mdx",
        "text/html": "html htm xhtml",
        "text/csv": "csv",
        "text/tab-separated-values": "tsv tab",
        "application/json": "json geojson ipynb webmanifest",
        "application/jsonl": "jsonl ndjson",
        "application/xml": "xml xsd xsl xslt svg rss atom plist",
        "application/yaml": "yaml yml",
        "application/toml": "toml",
        "application/sql": "sql",
        "text/css": "css scss sass less",
        "text/javascript": "js mjs cjs jsx",
        "text/x-typescript": "ts tsx mts cts",
        "text/x-python": "py pyi pyw",
        "text/x-java": "java",
        "text/x-kotlin": "kt kts",
        "text/x-scala": "scala",
        "text/x-go": "go",
        "text/x-rust": "rs",
        "text/x-c": "c h",
        "text/x-c++": "cc cpp cxx hh hpp hxx",
        "text/x-csharp": "cs",
        "text/x-swift": "swift",
        "text/x-ruby": "rb",
        "text/x-php": "php",
        "text/x-perl": "pl pm",
        "text/x-lua": "lua",
        "text/x-r": "r",
        "text/x-shell": "sh bash zsh fish",
        "text/x-powershell": "ps1 psm1",
        "text/x-proto": "proto",
        "text/x-terraform": "tf hcl",
        "text/x-ini": "ini cfg conf properties env editorconfig",
        "text/x-diff": "diff patch",
        "application/pdf": "pdf",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx docm dotx dotm",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx xlsm xltx xltm",
        "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx pptm ppsx potx",
        "application/vnd.ms-excel": "xls xlt",
        "application/msword": "doc dot",
        "application/vnd.ms-powerpoint": "ppt pps",
        "application/vnd.ms-outlook": "msg",
        "application/mbox": "mbox mbx",
        "application/vnd.oasis.opendocument.spreadsheet": "ods",
        "application/vnd.oasis.opendocument.presentation": "odp",
        "application/vnd.oasis.opendocument.text": "odt",
        "application/epub+zip": "epub",
        "application/rtf": "rtf",
        "application/zip": "zip",
        "message/rfc822": "eml",
        "image/png": "png",
        "image/jpeg": "jpg jpeg",
        "image/gif": "gif",
        "image/webp": "webp",
        "image/tiff": "tif tiff",
        "audio/mpeg": "mp3",
        "audio/wav": "wav",
        "audio/ogg": "ogg oga opus",
        "audio/flac": "flac",
        "audio/mp4": "m4a m4b",
        "audio/aac": "aac",
        "audio/aiff": "aif aiff aifc",
        "audio/amr": "amr",
        "audio/x-matroska": "mka",
        "audio/x-ms-wma": "wma",
        "video/mp4": "mp4 m4v 3gp",
        "video/ogg": "ogv",
        "video/quicktime": "mov",
        "video/webm": "webm",
        "video/x-matroska": "mkv",
        "video/x-msvideo": "avi",
        "video/x-flv": "flv",
        "video/x-ms-wmv": "wmv",
        "video/mpeg": "mpg mpeg vob",
        "video/mp2t": "mts m2ts",
    }.items()
    for suffix in suffixes.split()
}
_TYPES_BY_NAME = {"makefile": "text/x-make", "dockerfile": "text/x-docker", "cmakelists.txt": "text/x-cmake"}
# The stream in which Windows marks a download; copied to another file system it becomes a file beside the original.
_ZONE_MARK = ":zone.identifier"
ZONE_TYPE = "application/x-zone-identifier"
_BY_LINE = re.compile(
    r"text/(?:csv|tab-separated-values|x-(?!markdown|rst|org).*)|application/(?:.*json.*|.*yaml.*|toml|xml|.*script|sql)"
)


def media_type_of(name: str) -> str:
    """The media type that a file's name promises, letter case aside; UNKNOWN_TYPE when it promises nothing."""
    last = name.rsplit("/", 1)[-1].lower()
    if last.endswith(_ZONE_MARK):
        return ZONE_TYPE
    suffix = last.rpartition(".")[2] if "." in last else ""
    return _TYPES_BY_NAME.get(last) or _TYPES_BY_SUFFIX.get(suffix, UNKNOWN_TYPE)


def is_by_line(media_type: str) -> bool:
    """Whether each line of such a text says something by itself: tables, data, source code."""
    return _BY_LINE.fullmatch(media_type) is not None


# Types that are read by eye, as Pillow names them.
IMAGE_FORMATS = {
    "image/png": "PNG",
    "image/jpeg": "JPEG",
    "image/tiff": "TIFF",
    "image/webp": "WEBP",
    "image/gif": "GIF",
    "image/bmp": "BMP",
}
