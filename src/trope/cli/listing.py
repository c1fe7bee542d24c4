"""What a list of named things says of each of them, for programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trope import config


def documents(things: Mapping[str, Any], *fields: str) -> list[dict[str, object]]:
    """Name, some fields and the default settings of formats, experiments and the like."""
    return [
        {"name": name}
        | {field: getattr(thing, field) for field in fields}
        | {"settings": config.plain(thing.settings())}
        for name, thing in things.items()
    ]
