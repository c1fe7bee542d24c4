"""The parameters of a URL as what is asked."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated

from fastapi import Query

from trope.errors import UsageError
from trope.search.index import Find
from trope.web.asked import DEEPEST, MOST, TEXTS, Asked, Like

DIGEST = "^[0-9a-f]{32}$"
LONGEST_KEY = 1_000  # characters
NONE: list[str] = []
PAIR = re.compile(r"(?P<column>(?:\\[\\:]|[^:])++):(?P<value>.+)", re.DOTALL)
ESCAPED = re.compile(r"\\([\\:])")


def asked(
    q: Annotated[
        list[str], Query(max_length=TEXTS, description="Words; of several, the average.")
    ] = NONE,
    minus: Annotated[
        list[str], Query(max_length=TEXTS, description="Words to stay away from.")
    ] = NONE,
    image: Annotated[
        str | None, Query(pattern=DIGEST, description="The digest of a picture sent before.")
    ] = None,
    item: Annotated[
        str | None, Query(max_length=LONGEST_KEY, description="The key of an item to be like.")
    ] = None,
    like: Annotated[Like, Query(description="Which side of the item's row counts.")] = "picture",
    find: Annotated[Find | None, Query(description="By default what the query is not.")] = None,
    where: Annotated[
        str | None,
        Query(max_length=10_000, description="A filter, such as `year >= 2020 and group = 'a'`."),
    ] = None,
    f: Annotated[
        list[str],
        Query(
            max_length=200,
            description="`column:value`, repeated: a row has one of the values of each column; "
            "of numbers and dates also a range, `year:2010..2020`.",
        ),
    ] = NONE,
    k: Annotated[int, Query(ge=1, le=MOST, description="Hits of a page.")] = 24,
    page: Annotated[int, Query(ge=1, le=DEEPEST)] = 1,
    index: Annotated[int, Query(ge=0, le=1, description="Which index, of two.")] = 0,
    explain: Annotated[bool, Query(description="Why each hit was found.")] = False,
) -> Asked:
    """What a URL asks for; empty words, which forms send, are none."""
    chosen = facets(f)
    return Asked(
        _said(q), _said(minus), image, item, like, find, where, chosen, k, page, index, explain
    )


def facets(pairs: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Values by column, from `column:value`, a value as it stands; an empty one is none.

    A colon in the name of a column is written `\\:`, a backslash `\\\\` (alone, it may stand
    before any other character).
    """
    found: dict[str, tuple[str, ...]] = {}
    for pair in pairs:
        parts = PAIR.fullmatch(pair)
        if parts:
            name = ESCAPED.sub(r"\1", parts["column"])
            found[name] = (*found.get(name, ()), parts["value"])
        elif pair.strip() and not pair.endswith(":"):
            raise UsageError(f"filters: a column and a value, column:value, not '{pair[:80]}'")
    return found


def _said(texts: list[str]) -> tuple[str, ...]:
    return tuple(text for text in texts if text.strip())
