"""URLs of the pages: what is asked, read from one and written as one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, get_args
from urllib.parse import quote, urlencode

from trope.errors import UsageError
from trope.search.index import FINDS
from trope.web.asked import Asked, Like
from trope.web.choices import RANGE
from trope.web.parameters import facets

LOW, HIGH = "from.", "to."  # before the name of a column
BACKSLASH = "\\"

Pairs = Iterable[tuple[str, str]]


def read(pairs: Pairs) -> Asked:
    """What a URL asks for; what is empty is left out, as in a form that was not filled in."""
    given: dict[str, list[str]] = {}
    for name, value in pairs:
        if value.strip():
            given.setdefault(name, []).append(value.strip())
    if "q" in given or "image" in given:  # what is typed beside an item is asked instead of it
        given.pop("item", None)
    one = {name: values[-1] for name, values in given.items()}
    return Asked(
        q=tuple(given.get("q", ())),
        minus=tuple(given.get("minus", ())),
        image=one.get("image"),
        item=one.get("item"),
        like=_of(one, "like", get_args(Like), "picture"),
        find=_of(one, "find", FINDS, None),
        where=one.get("where"),
        facets=_facets(given),
        k=1,  # how many a page has is for the page to say, and so how far one can page
        page=_number(one, "page", 1),
        index=_number(one, "index", 0),
    )


def write(path: str, asked: Asked, **changes: Any) -> str:
    """The URL of the same question with something changed."""
    return path + said(replace(asked, **changes))


def said(asked: Asked) -> str:
    """A question as the part of a URL after its path, without what is not said."""
    pairs = [("q", text) for text in asked.q] + [("minus", text) for text in asked.minus]
    single = {"image": asked.image, "item": asked.item, "find": asked.find, "where": asked.where}
    pairs += [(name, value) for name, value in single.items() if value]
    if asked.item and asked.like != "picture":
        pairs.append(("like", asked.like))
    for column, values in asked.facets.items():
        pairs += [("f", choice(column, value)) for value in values]
    numbers = {"page": (asked.page, 1), "index": (asked.index, 0)}
    pairs += [(name, str(value)) for name, (value, usual) in numbers.items() if value != usual]
    return f"?{urlencode(pairs)}" if pairs else ""


def item(key: str, asked: Asked | None = None, **changes: Any) -> str:
    """The page of an item, with the question that found it."""
    path = f"/item/{quote(key, safe=':')}"
    return write(path, asked, **changes) if asked else path


def choice(column: str, value: str) -> str:
    """A value of a column, as URLs say it."""
    escaped = column.replace(BACKSLASH, BACKSLASH * 2).replace(":", BACKSLASH + ":")
    return f"{escaped}:{value}"


def ranges(asked: Asked) -> dict[str, tuple[str, str]]:
    """The ends of the ranges that are asked for."""
    found = {}
    for column, values in asked.facets.items():
        low, between, high = values[0].partition(RANGE) if values else ("", "", "")
        if between:
            found[column] = (low, high)
    return found


def _facets(given: Mapping[str, list[str]]) -> dict[str, tuple[str, ...]]:
    found = facets(dict.fromkeys(given.get("f", ())))
    ends = {n.partition(".")[2] for n in given if n.startswith((LOW, HIGH))}
    for column in sorted(ends):
        low, high = (given.get(end + column, [""])[-1] for end in (LOW, HIGH))
        found[column] = (f"{low}{RANGE}{high}",)
    return found


def _of(one: Mapping[str, str], name: str, known: Iterable[str], usual: Any) -> Any:
    value = one.get(name, usual)
    if value != usual and value not in tuple(known):
        raise UsageError(f"{name}: one of {', '.join(known)}, not '{value[:40]}'")
    return value


def _number(one: Mapping[str, str], name: str, usual: int) -> int:
    text = one.get(name, str(usual))
    if not (text.isascii() and text.isdigit() and len(text) < 7):
        raise UsageError(f"{name}: a whole number, not '{text[:40]}'")
    return int(text)
