"""Fragments are built and parsed by one grammar, and what it cannot carry is known."""

import math
import re
from dataclasses import replace
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gawah.errors import UsageError
from gawah.fragment import build, parse
from gawah.types import (
    Box,
    CharRange,
    CsvCells,
    EpubPlace,
    ImageBox,
    MailPart,
    PageBoxes,
    SheetRange,
    Slide,
    TimeRange,
)

WORKED = [
    (CharRange(26, 259), "#char=26,259"),
    (CharRange(0, 0), "#char=0,0"),
    (CharRange(3, 20, words="a-b, c & d"), "#char=3,20:~:text=a%2Db%2C%20c%20%26%20d"),
    (CsvCells(5, 7), "#row=5-7"),
    (CsvCells(5, 5), "#row=5"),
    (CsvCells(4, 6, 1, 3), "#cell=4,1-6,3"),
    (CsvCells(4, 4, 1, 1), "#cell=4,1"),
    (PageBoxes(12, 12), "#page=12"),
    (TimeRange(132.4, 158.9), "#t=132.4,158.9"),
    (TimeRange(0.0, 0.00001), "#t=0,0"),
    (TimeRange(1e6, 123456.7891e1), "#t=1000000,1234567.891"),
    (SheetRange("Costs 2026", "A1:B2"), "#sheet=Costs%202026&range=A1:B2"),
    (SheetRange("a#b&c=d%'\"", "XFD1048576"), "#sheet=a%23b%26c%3Dd%25%27%22&range=XFD1048576"),
    (Slide(2, 2), "#slide=2"),
    (Slide(2, 4), "#slide=2-4"),
    (ImageBox(10.0, 20.5, 30.0, 40.0), "#xywh=percent:10,20.5,30,40"),
    (ImageBox(10.0, 20.5, 30.0, 40.0, 3), "#page=3&xywh=percent:10,20.5,30,40"),
    (MailPart("1.2", 0, 9), "#part=1.2&char=0,9"),
    (EpubPlace("text/ch 1.xhtml", 5, 9), "#href=text/ch%201.xhtml&char=5,9"),
]


@pytest.mark.parametrize(("locator", "fragment"), WORKED)
def test_worked_examples_are_built_as_written_in_the_standards(locator, fragment):
    assert build(locator) == fragment
    assert build(parse(fragment)) == fragment


def test_a_fragment_is_parsed_with_and_without_its_sign():
    assert parse("char=1,2") == parse("#char=1,2") == CharRange(1, 2)


names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)
offsets = st.tuples(st.integers(0, 10**9), st.integers(0, 10**9)).map(sorted)
counts = st.tuples(st.integers(1, 10**6), st.integers(1, 10**6)).map(sorted)
times = st.tuples(st.integers(0, 10**9), st.integers(0, 10**9)).map(lambda pair: [n / 1000 for n in sorted(pair)])
cells = st.from_regex(r"[A-Z]{1,3}[1-9][0-9]{0,6}", fullmatch=True)
percents = st.integers(0, 100_000).map(lambda n: n / 1000)
carried = st.one_of(
    st.builds(lambda pair: CharRange(*pair), offsets),
    st.builds(lambda pair: CsvCells(*pair), counts),
    st.builds(lambda rows, columns: CsvCells(*rows, *columns), counts, counts),
    st.builds(lambda page: PageBoxes(page, page), st.integers(1, 10**6)),
    st.builds(lambda pair: TimeRange(*pair), times),
    st.builds(lambda name, one, other: SheetRange(name, f"{one}:{other}"), names, cells, cells),
    st.builds(lambda pair: Slide(*pair), counts),
    st.builds(ImageBox, percents, percents, percents, percents, st.integers(1, 900)),
    st.builds(lambda name, pair: MailPart(name, *pair), names, offsets),
    st.builds(lambda name, pair: EpubPlace(name, *pair), names, offsets),
)


@given(carried)
def test_what_a_fragment_carries_comes_back(locator):
    assert parse(build(locator)) == locator


@given(carried)
def test_a_fragment_is_plain_characters_that_survive_a_url(locator):
    fragment = build(locator)
    assert re.fullmatch(r"#[A-Za-z0-9._~!$&'()*+,;=:@/?%-]+", fragment)
    assert urlsplit(f"file:///a%20b.xlsx{fragment}").fragment == fragment[1:]


@given(offsets, st.text(st.characters(exclude_categories=["Cs"]), max_size=400))
def test_words_come_back_or_their_first_and_last_do_and_the_fragment_is_the_same_again(pair, words):
    fragment = build(CharRange(*pair, first_line=3, last_line=4, words=words))
    read = parse(fragment)
    assert (read.start, read.end) == tuple(pair)
    assert build(read) == fragment
    lines = [" ".join(line.split()) for line in words.splitlines() if line.split()]
    if len(lines) == 1 and len(lines[0]) <= 120:
        assert read.words == lines[0]
    elif lines:
        first, last = read.words.split("\n")
        assert lines[0].startswith(first)
        assert lines[-1].endswith(last)
        assert first
        assert last
    else:
        assert read.words == ""


def test_a_text_directive_of_several_blocks_names_its_ends():
    fragment = build(CharRange(0, 40, words="One two three four five six\nseven\neight nine"))
    assert fragment == "#char=0,40:~:text=One%20two%20three%20four%20five,eight%20nine"


def test_a_text_directive_never_tears_a_letter_from_its_marks():
    words = "क" + "\u093f" * 200 + " " + "x" * 200 + "e\u0301"
    first, last = parse(build(CharRange(0, 9, words=words))).words.split("\n")
    assert words.startswith(first)
    assert not re.match("[\u093f\u0301]", last)


@given(st.integers(1, 99), st.integers(0, 9))
def test_pages_come_back_up_to_boxes_label_and_last_page(page, more):
    locator = PageBoxes(page, page + more, "iv", (Box(page, 1, 2, 3, 4),))
    assert parse(build(locator)) == replace(locator, last_page=page, page_label="", boxes=())


@given(st.floats(0, 1e9), st.floats(0, 1e9))
def test_times_come_back_to_the_millisecond_without_an_exponent(one, other):
    start, end = sorted((one, other))
    fragment = build(TimeRange(start, end))
    assert "e" not in fragment
    read = parse(fragment)
    assert math.isclose(read.start_s, start, abs_tol=0.000501, rel_tol=1e-12)
    assert math.isclose(read.end_s, end, abs_tol=0.000501, rel_tol=1e-12)


def test_clock_times_and_open_beginnings_are_understood():
    assert parse("#t=npt:1:02:03.5,1:02:10") == TimeRange(3723.5, 3730.0)
    assert parse("#t=2:00,121") == TimeRange(120.0, 121.0)
    assert parse("#t=,9.25") == TimeRange(0.0, 9.25)


def test_prefix_and_suffix_of_a_foreign_text_directive_are_passed_over():
    assert parse("#char=1,5:~:text=before-,the%20words,-after") == CharRange(1, 5, words="the words")


MALFORMED = [
    "", "#", "char", "#char=", "#char=5", "#char=5,", "#char=,5", "#char=9,5", "#char=-1,5", "#char=1,2,3", "#char=1.5,2",
    "#char=１,２", "#char=1,2&char=1,2", "#char=1,2&x=1", "#char= 1,2", "#char=1,2\n", "#char=1,9999999999999",
    "#row=0", "#row=5-4", "#row=*", "#row=2;4", "#col=2", "#cell=0,1", "#cell=4", "#cell=4,1-6", "#cell=6,1-4,1",
    "#cell=4,0-6,0", "#page=0", "#page=iv", "#page=", "#page=1&zoom=100", "#t=5", "#t=5,", "#t=9,5", "#t=1e3,2e3",
    "#t=nan,nan", "#t=inf,inf", "#t=-1,2", "#sheet=A", "#range=A1", "#sheet=&range=A1", "#sheet=A&range=1A",
    "#sheet=A&range=A0", "#sheet=A&range=a1", "#sheet=%FF&range=A1", "#sheet=%&range=A1", "#sheet=%2&range=A1",
    "#sheet=%zz&range=A1", "#slide=0", "#slide=4-2", "#xywh=10,20,30,40", "#xywh=percent:1,2,3", "#xywh=percent:101,0,1,1", "#page=1&xywh=percent:1,2,3,4",
    "#part=&char=1,2", "#part=1.2", "#href=&char=1,2", "#href=a", "#:~:text=words", "#page=1:~:text=words",
    "#char=1,2:~:", "#char=1,2:~:text=", "#char=1,2:~:text=a,b,c", "#char=1,2:~:text=a&text=b", "#char=1,2:~:text=%FF",
    "#nonsense=1", "javascript:alert(1)", "#" + "x" * 100_000, "#char=" + "9" * 100_000,
]  # fmt: skip


@pytest.mark.parametrize("fragment", MALFORMED, ids=lambda fragment: repr(fragment[:30]))
def test_a_malformed_fragment_is_a_usage_error_of_one_short_line(fragment):
    with pytest.raises(UsageError) as raised:
        parse(fragment)
    message = str(raised.value)
    assert "\n" not in message
    assert len(message) < 400


def parsed_or_refused(text):
    try:
        locator = parse(text)
    except UsageError:
        return
    assert parse(build(locator)) == locator


@given(st.text(max_size=60))
def test_any_text_is_parsed_or_refused(text):
    parsed_or_refused(text)


@given(
    st.sampled_from(["char", "row", "cell", "page", "t", "sheet", "range", "slide", "xywh", "part", "href", "text"]),
    st.text("0123456789,-:.%AB~*&=", max_size=20),
)
def test_near_fragments_are_parsed_or_refused(name, value):
    parsed_or_refused(f"#{name}={value}")


NOWHERE = [
    CharRange(5, 4),
    CharRange(-1, 4),
    CsvCells(0, 1),
    CsvCells(3, 2),
    CsvCells(1, 2, 1, 0),
    CsvCells(1, 2, 0, 1),
    PageBoxes(0, 1),
    PageBoxes(2, 1),
    TimeRange(math.nan, 1.0),
    TimeRange(0.0, math.inf),
    TimeRange(2.0, 1.0),
    SheetRange("", "A1"),
    SheetRange("A", "A1 or 1=1"),
    Slide(0, 1),
    ImageBox(0, 0, math.nan, 1),
    ImageBox(-1, 0, 1, 1),
    MailPart("", 1, 2),
    EpubPlace("", 1, 2),
]


@pytest.mark.parametrize("locator", NOWHERE, ids=repr)
def test_a_locator_that_points_nowhere_has_no_fragment(locator):
    with pytest.raises(ValueError, match=r"nowhere|not a range"):
        build(locator)
