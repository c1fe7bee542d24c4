"""Rows whose picture cannot be used, told so that a user finds them: by id, place and file."""

from __future__ import annotations

import re
from dataclasses import dataclass

from trope.data.pairs import Pairs

NUMBERED = re.compile(r"^row \d+: ")  # what decoders call a row, counted in what they were given


@dataclass(frozen=True)
class Unusable:
    """A row's id, where it stands, its picture's name as the data has it, and what is wrong."""

    row: str
    place: str
    image: str | None
    reason: str

    def __str__(self) -> str:
        file = f", {self.image}" if self.image else ""
        return f"row '{self.row}' ({self.place}){file}: {self.reason}"


def unusable(pairs: Pairs, row: int, reason: str) -> Unusable:
    """A row of a data set by number, and why its picture cannot be used."""
    name, image = (pairs.column(column)[row].as_py() for column in ("id", "image"))
    return Unusable(name, pairs.place(row), image, _bare(NUMBERED.sub("", reason), image))


def _bare(reason: str, image: str | None) -> str:
    """Without the path that errors of files begin with: the picture is named as the data has it."""
    before, named, after = reason.partition(f"{image}: ")
    return after if image and named and ": " not in before else reason
