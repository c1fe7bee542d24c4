"""The plain records that cross folders."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

SPLITS = ("train", "val", "test")

_EMPTY: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True)
class Pair:
    """One row of a data set: a picture and the texts that go with it; either may be missing."""

    id: str
    image: str | None = None
    texts: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    group: str | None = None
    split: str | None = None
    extra: Mapping[str, Any] = field(default_factory=lambda: _EMPTY)
