"""The page of one item, with why it was found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from fastapi.responses import HTMLResponse

from trope.errors import TropeError
from trope.web.answers import Found
from trope.web.asked import Asked
from trope.web.pages import urls
from trope.web.pages.frame import Frame, asked_links
from trope.web.pages.searching import joined
from trope.web.pages.wording import brief, value

OF_ROW = 60  # items of a row among which the one that was found is looked for
SHOWN_APART = frozenset(["labels", "license", "licence"])


def item_page(frame: Frame, key: str, pairs: Iterable[tuple[str, str]]) -> HTMLResponse:
    """The page of an item; one that is not there is told so."""
    try:
        asked = urls.read(pairs)
        item = frame.service.item(key, asked.index)
        why = _why(frame, asked, item.found)
    except TropeError as error:
        return frame.error(error)
    return frame.page(
        "item",
        ("search", "item"),
        ("large",),
        dialog=False,
        found=item.found,
        texts=item.texts,
        same_picture=item.same_picture,
        same_meaning=item.same_meaning,
        learned=item.found.neighbors or (),
        why=why,
        why_told=_told(asked),
        columns=_columns(item.found),
        back=urls.write("/", asked),
        search_url=lambda **changes: urls.write("/", Asked(index=asked.index), **changes),
        **asked_links("/", asked),
    )


def _why(frame: Frame, asked: Asked, found: Found) -> Found | None:
    """The same item as an answer to what was asked, with its score, senses and neighbors."""
    if not asked.anything:
        return None
    quoted = found.id.replace("'", "''")
    alone = replace(asked, where=f"id = '{quoted}'", facets={}, page=1, k=OF_ROW)
    answer = frame.service.search(replace(alone, find=found.modality, explain=True))
    return next((hit for hit in answer.hits if hit.key == found.key), None)


def _told(asked: Asked) -> str:
    """What it was compared with."""
    if asked.item:
        side = "its picture" if asked.like == "picture" else "its text"
        return f"Its likeness to {brief(asked.item, 60)}, by {side}: 1 is the same."
    words = " and ".join(f"“{brief(text, 60)}”" for text in asked.q)
    less = f", less “{brief(asked.minus[0], 40)}”" if asked.minus else ""
    said = joined(words, asked.image)
    return f"Its likeness to {said}{less}, as the model sees both: 1 is the same."


def _columns(found: Found) -> list[tuple[str, Any]]:
    shown = {n: v for n, v in found.columns.items() if n.lower() not in SHOWN_APART}
    first = {"group": found.group} if found.group else {}
    return [(name, value(one)) for name, one in (first | shown).items() if value(one)]
