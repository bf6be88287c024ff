"""JSON and JSON Lines: the file's own text, in blocks that end where members end."""

import json

from hypothesis import given
from hypothesis import strategies as st
from tests.extract.odd import odd_text, unless

from gawah.extract.structured import JsonExtractor, json_blocks
from gawah.testing.extractor import ExtractorContract, assert_is_sound, source_of

# Without what canonical text changes: foreign line ends and the byte order mark.
words = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\x85\u2028\u2029\ufeff"), max_size=60)
values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), words),
    lambda inner: st.one_of(st.lists(inner, max_size=8), st.dictionaries(words, inner, max_size=8)),
    max_leaves=60,
)


def extract(text, media_type="application/json"):
    data = text.encode()
    return JsonExtractor().extract(source_of("data.json", data, media_type), data)


def pieces(text):
    return [block.span.slice(text) for block in json_blocks(text, 0, len(text))]


class TestContract(ExtractorContract):
    media_type = "application/json"

    def extractor(self):
        return JsonExtractor()

    def samples(self):
        return [
            b'{"a": 1}', b"[", b'"', b'"\\', b'{"a": "never closed, {[', b"[" * 200_000, b"[1," * 100_000, b'"\\"' * 100_000,
            b"[" + b"1," * 200_000 + b"1]", b'{"n": ' + b"9" * 10_000 + b"}", '{"शुल्क": "४०"}'.encode(), b"null",
            b'\xef\xbb\xbf{"a":\r\n1}', b"}" * 1000 + b"]" * 1000,
        ]  # fmt: skip


class TestLinesContract(TestContract):
    media_type = "application/jsonl"


def test_a_short_value_is_one_block():
    assert pieces('{"a": 1, "b": [2, 3]}\n') == ['{"a": 1, "b": [2, 3]}']


def test_members_of_a_minified_array_are_not_torn():
    records = [{"id": number, "words": "word " * 12, "list": [1, 2, 3]} for number in range(60)]
    text = json.dumps(records, separators=(",", ":"))
    parts = pieces(text)
    assert "".join(parts) == text
    assert all(len(part) <= 400 for part in parts)
    for record in records:
        own = json.dumps(record, separators=(",", ":"))
        assert sum(own in part for part in parts) == 1


def test_a_large_member_is_cut_at_its_own_members():
    text = json.dumps(
        {"small": 1, "large": {f"key {n}": 'value, with {marks} and \\"quotes\\" ' * 3 for n in range(40)}}
    )
    parts = pieces(text)
    assert len(parts) > 10
    for n in range(40):
        assert sum(f'"key {n}": ' in part and part.count(f"key {n}") == 1 for part in parts) == 1


def test_a_long_string_is_not_cut_here():
    text = json.dumps(["a, b, c " * 200])
    assert pieces(text) == [text]


def test_many_small_members_are_packed():
    parts = pieces(json.dumps(list(range(10_000))))
    assert all(200 < len(part) <= 400 for part in parts[:-1])


def test_broken_json_is_text_with_a_warning():
    document = extract('{"a": 1,\n oops}')
    assert document.text == '{"a": 1,\n oops}'
    assert document.warnings == (
        "not valid JSON (Expecting property name enclosed in double quotes, line 2); indexed as text",
    )
    assert extract('{"a": [1, 2.5, NaN, "x"]}').warnings == ()


def test_lines_are_records_and_broken_ones_are_counted():
    text = '{"id": 1}\n\n{"id": 2\n{"id": 3}\n'
    document = extract(text, "application/jsonl")
    assert [block.span.slice(text) for block in document.blocks] == ['{"id": 1}', '{"id": 2', '{"id": 3}']
    assert document.warnings == ("1 of 3 lines are not JSON, the first is line 3; indexed as text",)


def test_a_foreign_line_end_inside_a_string_does_not_make_it_broken():
    assert extract(json.dumps(["a\u2028b"], ensure_ascii=False)).warnings == ()


@given(values, st.sampled_from([None, 2]))
def test_valid_json_is_read_without_a_warning(value, indent):
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    document = extract("[" + text + "]")
    assert document.warnings == ()
    assert json.loads(document.text) == [value]
    assert_is_sound(document)


@given(
    st.one_of(odd_text, st.text(alphabet='{}[]",\\a1 \n', max_size=900)),
    st.sampled_from(["application/json", "application/jsonl"]),
)
def test_anything_is_covered(text, media_type):
    document = unless(lambda: extract(text, media_type), "empty")
    if document is not None:
        assert_is_sound(document)
