"""Hits as they are shown: where their pictures are, their license, what was decided about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from trope.index.items import Modality, image_key, text_key
from trope.search import Hit
from trope.search.hits import Neighbor
from trope.web.answers import Found, Learned, Picture, Senses
from trope.web.marks import Marks
from trope.web.sources import Sources
from trope.web.thumbnails import SIZES

LICENSES = ("license", "licence", "rights", "license_name", "copyright")
PICTURES = "/api/v1/pictures"


@dataclass(frozen=True)
class Shown:
    """Makes hits of one index into what is answered."""

    number: int
    version: str
    sources: Sources
    marks: Marks

    def found(self, hit: Hit, score: float | None) -> Found:
        """A hit with all there is to show of it."""
        row = dict(hit.row)
        key = key_of(hit)
        return Found(
            rank=hit.rank,
            key=key,
            id=hit.id,
            modality=hit.modality,
            score=score,
            text=hit.text,
            picture=self.picture(hit.id, hit.image, hit.data),
            labels=tuple(row.pop("labels", None) or ()),
            group=row.pop("group", None),
            license=license_of(row),
            columns={name: value for name, value in row.items() if value is not None},
            learned=hit.learned,
            place=hit.place,
            senses=None if hit.senses is None else Senses(*hit.senses),
            neighbors=self._learned(hit),
            mark=self.marks.get(key),
            cosine=hit.cosine,
            match_probability=hit.match_probability,
        )

    def picture(self, row: str, image: str | None, data: str) -> Picture | None:
        """Where the picture of a row can be had."""
        if image is None:
            return None
        place = f"{PICTURES}/{quote(image_key(row), safe='')}"
        small, medium, large = (
            f"{place}?size={size}&index={self.number}&v={self.version}" for size in SIZES
        )
        wide, high = self.sources.size(row, data) or (None, None)
        return Picture(small, medium, large, wide, high)

    def _learned(self, hit: Hit) -> tuple[Learned, ...] | None:
        if hit.neighbors is None:
            return None
        return tuple(self._neighbor(near) for near in hit.neighbors)

    def _neighbor(self, near: Neighbor) -> Learned:
        picture = self.picture(near.id, near.image, near.data)
        return Learned(near.key, near.id, near.score, near.query, near.text, picture)


def key_of(hit: Hit) -> str:
    """The name of the item that was found."""
    modality: Modality = hit.modality
    return image_key(hit.id) if modality == "image" else text_key(hit.id, hit.place or 0)


def license_of(row: Mapping[str, Any]) -> str | None:
    """What a row says about its rights, whatever the column is called."""
    lower = {name.lower(): value for name, value in row.items()}
    for name in LICENSES:
        if lower.get(name):
            return str(lower[name])
    return None
