"""How values are said on a page."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from trope.web.answers import Picture

LONGEST = 180  # characters of a text in a list
LONGEST_VALUE = 2_000  # and of a column's value
NARROWEST, WIDEST = 6, 24  # tenths of a picture's height


def environment() -> Environment:
    """Templates in which everything that comes from rows is escaped, and no name may be missing."""
    made = Environment(
        loader=PackageLoader("trope.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "brief": brief,
        "clean": clean,
        "count": count,
        "ratio": ratio,
        "score": score,
        "sentence": sentence,
        "value": value,
        "percent": "{:.1%}".format,
    }
    return made


def clean(text: str) -> str:
    """A text without control characters, which no page can show; line breaks stay."""
    return "".join(
        "\ufffd" if unicodedata.category(c) == "Cc" and c not in "\n\t" else c for c in text
    )


def brief(text: str, longest: int = LONGEST) -> str:
    """A text on one line, not longer than there is room for."""
    plain = clean(" ".join(text[: 4 * longest].split()))
    if len(plain) <= longest and len(text) <= 4 * longest:
        return plain
    return plain[: longest - 1].rstrip() + "…"


def count(number: int, noun: str) -> str:
    """`1 picture`, `2,400 pictures`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def ratio(picture: Picture) -> int:
    """How wide a picture is for its height, in tenths; very long ones are cut."""
    if not picture.width or not picture.height:
        return 10
    return min(max(round(10 * picture.width / picture.height), NARROWEST), WIDEST)


def score(number: float) -> str:
    """A likeness; a true minus sign, and no zero below zero."""
    text = f"{number:.2f}"
    return "0.00" if text == "-0.00" else text.replace("-", "\N{MINUS SIGN}")


def sentence(text: str) -> str:
    """What the rest of the package remarks, as a sentence; names of settings stay as they are."""
    first = text[:1] if "_" in text.split(" ", 1)[0] else text[:1].upper()
    return first + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")


def value(given: Any) -> str:
    """The value of a column, as a person would write it."""
    if isinstance(given, bool):
        return "yes" if given else "no"
    if isinstance(given, float):
        return f"{given:.6g}"
    if isinstance(given, Mapping):
        return "\n".join(f"{name}: {value(one)}" for name, one in given.items())[:LONGEST_VALUE]
    if isinstance(given, Sequence) and not isinstance(given, str):
        return ", ".join(value(one) for one in given)[:LONGEST_VALUE]
    text = clean(str(given))
    return text if len(text) <= LONGEST_VALUE else text[:LONGEST_VALUE] + "…"
