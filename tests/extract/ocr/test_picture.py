"""A picture is set upright, and every point of it is led back to where it was."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from tests.extract.ocr.pages import drawn, grainy, plain

from gawah.extract.ocr.picture import Setting, grey, has_grain, is_blank, skew_degrees, without_grain

PARAGRAPH = "\n".join(["The keeper of the tower hangs a red blanket out."] * 7)


def lines_at(degrees):
    page = drawn((60, 60, PARAGRAPH), size=(900, 500))
    return page.rotate(degrees, Image.Resampling.BICUBIC, expand=True, fillcolor=255)


@pytest.mark.parametrize("degrees", [-7.0, -3.0, -1.0, 0.5, 1.5, 3.0, 6.5])
def test_the_slant_of_lines_is_found(degrees):
    assert skew_degrees(lines_at(degrees)) == pytest.approx(degrees, abs=0.25)


def test_what_is_straight_blank_or_noise_has_no_slant():
    noise = np.random.default_rng(1).integers(0, 255, (300, 400), dtype=np.uint8)
    for page in (lines_at(0), Image.new("L", (300, 200), 255), Image.fromarray(noise)):
        assert skew_degrees(page) == 0.0


def test_light_letters_on_a_dark_board_slant_alike():
    board = lines_at(3).point(lambda level: 255 - level)
    assert skew_degrees(board) == pytest.approx(3.0, abs=0.25)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 3),
    st.sampled_from([0.0, 3.0, -5.5]),
    st.sampled_from([1, 2]),
    st.integers(30, 170),
    st.integers(30, 90),
)
def test_a_spot_is_led_back_to_where_it_was(turns, skew, scale, x, y):
    page = Image.new("L", (200, 120), 255)
    page.paste(0, (x - 2, y - 2, x + 3, y + 3))
    setting = Setting(200, 120, turns, skew, scale)
    ys, xs = np.nonzero(np.asarray(setting.apply(page)) < 128)
    x0, y0, x1, y1 = setting.lead_back(xs.min(), ys.min(), xs.max() + 1, ys.max() + 1)
    assert (x0 + x1) / 2 == pytest.approx(x + 0.5, abs=1.5)
    assert (y0 + y1) / 2 == pytest.approx(y + 0.5, abs=1.5)
    assert x1 - x0 == pytest.approx(5, abs=3)


@given(st.integers(0, 3), st.floats(-8, 8), st.lists(st.floats(-50, 500), min_size=4, max_size=4))
def test_no_box_is_led_out_of_the_picture(turns, skew, sides):
    x0, y0, x1, y1 = Setting(200, 120, turns, skew).lead_back(*sides)
    assert 0 <= x0 <= x1 <= 200
    assert 0 <= y0 <= y1 <= 120


def test_grain_is_told_from_small_letters_and_filtered_out():
    page = plain()
    small = drawn((20, 20, PARAGRAPH), size=(500, 250), points=11)
    assert not has_grain(page)
    assert not has_grain(small)
    speckled = grainy(page)
    assert has_grain(speckled)
    cleaned = np.asarray(without_grain(speckled)).astype(int)
    assert np.mean(np.abs(cleaned - np.asarray(page)) > 96) < 0.01


def test_what_is_transparent_is_paper():
    ink = Image.new("RGBA", (60, 40), (0, 0, 0, 0))
    ink.paste((0, 0, 0, 255), (10, 10, 30, 20))
    assert grey(ink).getpixel((0, 0)) == 255
    assert grey(ink).getpixel((15, 15)) == 0
    light = Image.new("RGBA", (60, 40), (255, 255, 255, 0))
    light.paste((255, 255, 255, 255), (10, 10, 30, 20))
    assert (grey(light).getpixel((0, 0)), grey(light).getpixel((15, 15))) == (0, 255)
    assert is_blank(grey(Image.new("RGBA", (60, 40), (0, 0, 0, 0))))


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "CMYK", "YCbCr", "LAB", "HSV", "I", "F", "I;16"])
def test_every_mode_becomes_grey_with_its_contrast(mode):
    source = drawn((10, 10, "ink"), size=(80, 60))
    page = {
        "I": lambda: Image.fromarray(np.asarray(source).astype(np.int32) * 200),
        "F": lambda: Image.fromarray(np.asarray(source).astype(np.float32) / 255),
        "I;16": lambda: Image.fromarray(np.asarray(source).astype(np.uint16) * 257),
        "LAB": lambda: Image.merge("LAB", (source, source.point(lambda _: 128), source.point(lambda _: 128))),
        "HSV": lambda: source.convert("RGB").convert("HSV"),
    }.get(mode, lambda: source.convert(mode))()
    made = np.asarray(grey(page)).astype(int)
    assert made.shape == (60, 80)
    assert made.max() - made.min() > 150
