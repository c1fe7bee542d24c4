"""The keys of items: `image:ROW`, `text:2:ROW`."""

from __future__ import annotations

import re

from trope.index.items import Modality, image_key, text_key
from trope.web.asked import Like
from trope.web.refusals import NotThereError

KEY = re.compile(r"(?:image|text:(\d{1,9})):(.+)", re.DOTALL)


def row_of(key: str) -> str:
    """The id of the row that an item belongs to."""
    return _matched(key)[2]


def modality_of(key: str) -> Modality:
    """What an item is."""
    return "image" if _matched(key)[1] is None else "text"


def side_of(key: str, like: Like) -> str:
    """The item of the same row that is meant: its picture, or its own text or first."""
    if like == "picture":
        return image_key(row_of(key))
    return key if modality_of(key) == "text" else text_key(row_of(key), 0)


def _matched(key: str) -> re.Match[str]:
    found = KEY.fullmatch(key)
    if found is None:
        raise NotThereError(f"there is no item '{key[:200]}'")
    return found
