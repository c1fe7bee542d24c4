"""Patterns of the package `regex` for programs that lack it: classes of characters as ranges.

What is left is understood by Python's `re` (3.11), PCRE and Java alike, and means the same whatever
version of Unicode a program knows.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import cache

import regex

EVERYTHING = "".join(map(chr, range(sys.maxunicode + 1)))
OWN = re.compile(r"\\[pPwsWS]|--|&&|(?<!^)\[")  # what a class may hold that others read differently
PIECE = re.compile(r"\\p\{[^}]*\}|\\[ws]|\\L<(?P<list>\w+)>|\\.|\[|.", re.DOTALL)


def plain(pattern: regex.Pattern[str]) -> str:
    """The same pattern without properties, sets of sets and named lists; flags stay outside."""
    return "".join(_pieces(pattern))


def _pieces(pattern: regex.Pattern[str]) -> Iterator[str]:
    text, place = str(pattern.pattern), 0
    while found := PIECE.match(text, place):
        piece = found[0]
        if piece == "[":
            piece = _class(text, place)
        place += len(piece)
        if found["list"]:
            names = sorted(pattern.named_lists[found["list"]], key=lambda name: (-len(name), name))
            yield f"(?:{'|'.join(map(re.escape, names))})"
        else:
            yield _ranges(piece) if OWN.search(piece) else piece


def _class(text: str, start: int) -> str:
    """A class from its bracket on, with those inside it."""
    depth, place = 0, start
    while True:
        if text[place] == "\\":
            place += 1
        depth += {"[": 1, "]": -1}.get(text[place], 0)
        place += 1
        if not depth:
            return text[start:place]


@cache
def _ranges(written: str) -> str:
    """A class of characters as the ranges it has."""
    found = [match.span() for match in regex.finditer(f"(?:{written})++", EVERYTHING, regex.V1)]
    return f"[{''.join(_range(first, end - 1) for first, end in found)}]"


def _range(first: int, last: int) -> str:
    return _character(first) if first == last else f"{_character(first)}-{_character(last)}"


def _character(number: int) -> str:
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
