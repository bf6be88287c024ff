"""Odd but possible text for property tests: every line end, controls, combining marks, several scripts, markup."""

from hypothesis import strategies as st

from gawah.errors import ExtractionError

_PIECES = [
    "word ", "two words ", "\n", "\n\n", "\r\n", "\r", "\x0c", "\x85", "\u2028", "\u2029", "\t", "  ", "    ", "\u00a0",
    "\x00", "\x07", "\ufeff", "\u200b", "\u200d", "\u202e", "e\u0301", "ﬁ", "²", "💩", "👩‍👩‍👧", "नमस्ते ", "یہ اردو ہے۔ ", "中文。",
    "İ", "#", "# ", "## ", "###### x ##", "=====\n", "-----\n", "---", "+++", "```", "~~~~", "```py\n", "|", "| a | b |\n",
    "|---|:-:|\n", "- ", "* ", "1. ", "12) ", "> ", "<!--", "-->", "<pre>", "</pre>", "<p>", "</p>", "<b>", "&amp;", "&#0;",
    "&#8232;", "&#x85;", "<br>", "<table>", "<tr>", "<td>", "</td>", "</tr>", "</table>", "<ul><li>", "</li></ul>", "<h2>",
    "</h2>", "<script>", "</script>", "<nav>", "</nav>", "<p hidden>", "<img alt=' a  b '>", '"', '""', ",", ";", "{", "}", "[",
    "]", ":", '{"a": [1, 2, {"b": "c"}]}', "\\", "'", "def f():\n    pass\n", "class C:\n    def m(self): ...\n", "    # note\n",
    "@decorator\n", "title: x\n", "*em* ", "`code` ", "[text](url) ",
]  # fmt: skip
odd_text = st.lists(st.one_of(st.sampled_from(_PIECES), st.text(max_size=6)), max_size=40).map("".join)


def unless(extract, *codes):
    """What `extract` returns, or None when it was refused with one of the codes."""
    try:
        return extract()
    except ExtractionError as error:
        if error.reason_code not in codes:
            raise
        return None
