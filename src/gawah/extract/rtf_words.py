"""The vocabulary of RTF that the reader needs: character sets, signs with names, and groups that hold no text."""

from __future__ import annotations

# fcharset to Python's codec (RTF 1.9.1, font table); 2 is a symbol font, whose bytes are no letters
CODECS = {
    77: "mac_roman", 128: "cp932", 129: "cp949", 130: "johab", 134: "gbk", 136: "cp950", 161: "cp1253", 162: "cp1254",
    163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874", 238: "cp1250", 255: "cp437",
}  # fmt: skip
SYMBOL_CHARSET = 2
DEFAULT_CODEC = "cp1252"
SIGNS = {
    "emdash": "—", "endash": "–", "bullet": "•", "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”",
    "emspace": "\u2003", "enspace": "\u2002", "qmspace": "\u2005", "zwj": "\u200d", "zwnj": "\u200c", "zwbo": "",
    "~": "\u00a0", "_": "\u2011", "{": "{", "}": "}", "\\": "\\",
}  # fmt: skip
# Groups whose text is kept aside, by the reason that is written down.
REMOVED = {
    **dict.fromkeys(("header", "headerl", "headerr", "headerf"), "header"),
    **dict.fromkeys(("footer", "footerl", "footerr", "footerf"), "footer"),
    **dict.fromkeys(("annotation", "atnid", "atnauthor", "atrfstart", "atrfend"), "comment"),
}
# Groups that hold no words of the document. An unknown group that begins with \* is left out as well.
LEFT_OUT = frozenset({
    "colortbl", "pict", "object", "objdata", "fldinst", "generator", "listtable", "listoverridetable", "rsidtbl",
    "themedata", "colorschememapping", "datastore", "latentstyles", "xmlnstbl", "sp", "shprslt", "nonshppict", "bkmkstart",
    "bkmkend", "revtbl", "tc", "xe", "nonesttables", "nesttableprops", "filetbl", "info", "author", "operator", "comment",
    "ftnsep", "ftnsepc", "ftncn", "aftnsep", "aftnsepc", "aftncn", "pnseclvl", "private", "do", "datafield", "formfield",
})  # fmt: skip
ENTERED = frozenset({"shpinst", "shptxt", "shp", "result", "fldrslt", "ud", "pn", "aftnref"})
