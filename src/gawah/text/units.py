"""Units of measure as they are written in English, Hindi and Urdu, to one name each. Nothing is converted."""

from __future__ import annotations

from functools import cache

import regex

# Canonical name: symbols (as written, letter case counts), then words (any case).
_UNITS: dict[str, tuple[str, str]] = {
    "%": ("% ٪", "percent|per cent|pct|प्रतिशत|फ़ीसदी|फीसदी|فیصد"),
    "ms": ("ms", "milliseconds?|मिलीसेकंड|ملی سیکنڈ"),
    "s": ("s", "secs?|seconds?|सेकंड|सेकेंड|سیکنڈ"),
    "min": ("min", "mins|minutes?|मिनट|मिनटों|منٹ|منٹوں"),
    "h": ("h", "hrs?|hours?|घंटे|घंटा|घंटों|گھنٹے|گھنٹہ|گھنٹوں"),
    "day": ("d", "days?|दिन|दिनों|دن|دنوں"),
    "week": ("", "weeks?|हफ़्ते|हफ्ते|हफ़्ता|सप्ताह|ہفتے|ہفتہ"),
    "month": ("", "months?|महीने|महीना|महीनों|مہینے|مہینہ|مہینوں"),
    "year": ("", "years?|साल|वर्ष|سال|سالوں"),
    "mm/h": ("mm/h", ""),
    "m/s": ("m/s", "met(?:re|er)s? per second"),
    "km/h": ("km/h", "kilomet(?:re|er)s? per hour"),
    "m3/s": ("m³/s m3/s", "cubic met(?:re|er)s? per second"),
    "m3": ("m³ m3", "cubic met(?:re|er)s?"),
    "m2": ("m² m2", "square met(?:re|er)s?"),
    "km2": ("km² km2", "square kilomet(?:re|er)s?"),
    "cm2": ("cm² cm2", "square centimet(?:re|er)s?"),
    "mm": ("mm", "millimet(?:re|er)s?|मिलीमीटर|ملی میٹر"),
    "cm": ("cm", "centimet(?:re|er)s?|सेंटीमीटर|سینٹی میٹر"),
    "km": ("km", "kilomet(?:re|er)s?|किलोमीटर|کلومیٹر"),
    "m": ("m", "met(?:re|er)s?|मीटर|میٹر"),
    "ft": ("ft", "feet|foot|फ़ुट|फीट|فٹ"),
    "inch": ("", "inch|inches|इंच|انچ"),
    "mile": ("", "miles?|मील|میل"),
    "mg": ("mg", "milligrams?"),
    "kg": ("kg", "kilograms?|kilos?|किलोग्राम|किलो|کلوگرام|کلو"),
    "g": ("g", "grams?|ग्राम|گرام"),
    "ml": ("ml", "millilit(?:re|er)s?"),
    "l": ("l L", "lit(?:re|er)s?|लीटर|لیٹر"),
    "mV": ("mV", "millivolts?"),
    "V": ("V", "volts?|वोल्ट|وولٹ"),
    "mA": ("mA", "milliamp(?:ere)?s?"),
    "Ah": ("Ah", ""),
    "A": ("A", "amps?|amperes?|ऐम्पियर"),
    "kW": ("kW", "kilowatts?"),
    "W": ("W", "watts?|वाट|واٹ"),
    "GHz": ("GHz", "gigahertz"),
    "MHz": ("MHz", "megahertz"),
    "kHz": ("kHz", "kilohertz"),
    "Hz": ("Hz", "hertz"),
    "dBm": ("dBm", ""),
    "dB": ("dB", "decibels?"),
    "hPa": ("hPa", "hectopascals?"),
    "°C": ("°C ℃", "degrees? celsius|degrees?|डिग्री|ڈگری"),
    "ohm": ("Ω", "ohms?"),
    "hp": ("hp", "horsepower"),
    "baud": ("", "baud"),
    "kB": ("kB KB KiB", "kilobytes?"),
    "MB": ("MB MiB", "megabytes?"),
    "GB": ("GB GiB", "gigabytes?"),
    "byte": ("", "bytes?"),
    "bit": ("", "bits?"),
    "INR": ("₹", r"rupees?|rupaye|rs\.?|inr|रुपये|रुपए|रुपया|रुपयों|روپے|روپیہ|روپوں"),
    "EUR": ("€", "euros?|eur|यूरो|یورو"),
    "USD": ("$", "dollars?|usd|डॉलर|ڈالر"),
    "GBP": ("£", "pounds?|gbp"),
}
_CURRENCIES = ("INR", "EUR", "USD", "GBP")
_END = r"(?![\p{L}\p{M}\p{N}²³])"
_GAP = r"[ \u00a0\u202f\u2009]?|-"
_LOOK_BACK_CHARS = 8


def unit_at(text: str, at: int) -> tuple[str, int]:
    """The unit of a number that ends at `at`, and where the unit ends; ("", at) when there is none."""
    match = _behind().match(text, at)
    return ("", at) if match is None else (_name_of(match.group("unit")), match.end())


def unit_before(text: str, at: int) -> str:
    """The currency that stands before a number; "" without one."""
    match = _before().search(text, max(0, at - _LOOK_BACK_CHARS), at)
    return "" if match is None else _name_of(match.group("unit"))


def units_named(text: str) -> frozenset[str]:
    """Every unit that a text names as a word or, in parentheses or a table's cell, as a symbol."""
    return frozenset(_name_of(match.group("unit")) for match in _named().finditer(text))


@cache
def _names() -> tuple[dict[str, str], dict[str, str]]:
    """Symbols and plain words to canonical names."""
    symbols = {symbol: name for name, (of_unit, _) in _UNITS.items() for symbol in of_unit.split()}
    words = {name: of_unit for name, (_, of_unit) in _UNITS.items() if of_unit}
    return symbols, words


@cache
def _name_of(written: str) -> str:
    symbols, words = _names()
    if written in symbols:
        return symbols[written]
    return next(name for name, of_unit in words.items() if regex.fullmatch(rf"(?i:{of_unit})", written))


@cache
def _any() -> tuple[str, str]:
    """Alternatives for every symbol and every word, longest first."""
    symbols, words = _names()
    ordered = sorted(symbols, key=lambda symbol: (-len(symbol), symbol))
    by_length = sorted((word for of_unit in words.values() for word in _split(of_unit)), key=lambda w: (-len(w), w))
    return "|".join(map(regex.escape, ordered)), "|".join(by_length)


def _split(alternatives: str) -> list[str]:
    """Alternatives apart, but for those inside parentheses."""
    return [match.group() for match in regex.finditer(r"(?:\(\?:[^)]*\)|[^|])+", alternatives)]


@cache
def _behind() -> regex.Pattern[str]:
    symbols, words = _any()
    return regex.compile(rf"(?:{_GAP})(?P<unit>(?:{symbols})|(?i:{words})){_END}")


@cache
def _before() -> regex.Pattern[str]:
    signs = "|".join(regex.escape(_UNITS[name][0]) for name in _CURRENCIES)
    return regex.compile(rf"(?<![\p{{L}}])(?P<unit>{signs}|(?i:rs\.?|inr|eur|usd|gbp))[ \u00a0]?\Z")


@cache
def _named() -> regex.Pattern[str]:
    symbols, words = _any()
    return regex.compile(
        rf"(?<=[(|,]\s?)(?P<unit>{symbols})(?=\s?[)|,])|(?<![\p{{L}}\p{{M}}\p{{N}}])(?P<unit>(?i:{words})){_END}"
    )
