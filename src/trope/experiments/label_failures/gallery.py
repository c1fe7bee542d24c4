"""The gallery: queries that failed with what was found for them, marks and causes, as a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from trope.data.pairs import Pairs
from trope.evaluation.embedded import Embedded
from trope.experiments.label_failures.causes import Found
from trope.explain.cards import Card
from trope.explain.page import write_page

CAUSES = {True: "super-class confusion", False: "semantic confusion"}


@dataclass(frozen=True)
class Shown:
    """A query, by its row, with its labels; and what was found for it."""

    row: int
    id: str
    text: str
    labels: str
    found: tuple[Card, ...]

    def told(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)


def queries_of(
    pairs: Pairs, embedded: Embedded, way: str, found: Found, queries: Sequence[int]
) -> list[Shown]:
    """Some queries of one direction with their results."""
    asked, other = ("image", "text") if way == "image_to_text" else ("text", "image")
    shown = []
    for query in queries:
        row, text = _place(embedded, asked, query)
        cards = tuple(
            _card(pairs, embedded, other, found, query, place)
            for place in range(found.items.shape[1])
        )
        labels = ", ".join(pairs[row].labels)
        shown.append(Shown(row, pairs.ids[row], text, labels, cards))
    return shown


def write_gallery(
    folder: Path, pairs: Pairs, name: str, chosen: Mapping[str, Sequence[Shown]]
) -> None:
    """A page with the pictures of all queries and results."""
    rows = {one.row for some in chosen.values() for one in some}
    small = {card.row for some in chosen.values() for one in some for card in one.found}
    found = {"name": name, "ways": chosen}
    write_page(folder, "failures.html", pairs, found, large=rows, small=small)


def _card(
    pairs: Pairs, embedded: Embedded, side: str, found: Found, query: int, place: int
) -> Card:
    row, text = _place(embedded, side, int(found.items[query, place]))
    right = bool(found.right[query, place])
    mark = "right" if right else f"wrong: {CAUSES[bool(found.alike[query, place])]}"
    return Card(row, pairs.ids[row], text, ", ".join(pairs[row].labels), mark)


def _place(embedded: Embedded, side: str, item: int) -> tuple[int, str]:
    """The row of a picture or text, and its words; of a picture those of its first text."""
    gallery = embedded.gallery
    if side == "image":
        item = int(gallery.starts[item])
    words = gallery.words[gallery.texts[item]] if gallery.words else ""
    return int(gallery.rows[item]), words
