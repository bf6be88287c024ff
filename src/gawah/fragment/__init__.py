"""Locators to URL fragments and back, locators to labels for people, and spans of a canonical text to locators."""

from gawah.fragment.grammar import build, parse
from gawah.fragment.label import label, one_line
from gawah.fragment.place import locate, locate_each

__all__ = ["build", "label", "locate", "locate_each", "one_line", "parse"]
