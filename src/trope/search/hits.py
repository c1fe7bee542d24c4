"""What a search found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson
import pyarrow as pa

from trope.data.documents import json_line, loads
from trope.data.schema import JSON_MARK
from trope.encoders.scorers import COSINE
from trope.index.filters.tree import OWN
from trope.index.items import LEARNED, MODALITY, PLACE, SOURCE, Modality

ITSELF = ("id", "image", "text")


@dataclass(frozen=True)
class Neighbor:
    """A picture or text that the model has learned from, near to a hit; `key` names the item."""

    key: str
    id: str
    score: float  # with the hit
    query: float  # with the query
    text: str | None = None
    image: str | None = None
    data: str = ""


@dataclass(frozen=True)
class Hit:
    """A picture or a text that was found, with the rest of its row.

    `text` of a picture is the first of its row, `place` that of a text among those of its row.
    `score` is what hits are ranked by: that of the model's scorer, with the `cosine` beside it, or
    the cosine alone. `match_probability` is how likely query and item match, by a model of
    distributions (PCME). `senses` are the numbers of the query's and the item's sense that matched,
    from 1; `neighbors` what the model has learned from that is nearest to the hit.
    """

    rank: int
    id: str
    modality: Modality
    score: float
    text: str | None
    image: str | None
    data: str
    learned: bool
    place: int | None = None
    row: Mapping[str, Any] = field(default_factory=dict)
    senses: tuple[int, int] | None = None
    neighbors: tuple[Neighbor, ...] | None = None
    cosine: float | None = None
    match_probability: float | None = None

    def document(self) -> dict[str, object]:
        """For programs; what was not asked for is left out."""
        found = {name: value for name, value in vars(self).items() if value is not None}
        if self.senses is not None:
            found["senses"] = {"query": self.senses[0], "item": self.senses[1]}
        if self.neighbors is not None:
            found["neighbors"] = [vars(one) for one in self.neighbors]
        return found | {"text": self.text, "image": self.image}


@dataclass(frozen=True)
class Results:
    """Hits of one page, best first.

    `ranked_by` is `cosine`, the name of the model's scorer, or `reranker` for a function of the
    user's. `spread` is how far from its mean a query that is a distribution (PCME) reaches: √ Σ σ²,
    where means are at most 2 apart; of several queries together there is none.
    """

    query: Mapping[str, object]
    find: str
    hits: tuple[Hit, ...]
    page: int
    k: int
    where: str | None = None
    remarks: tuple[str, ...] = ()
    ranked_by: str = COSINE
    spread: float | None = None

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    def __getitem__(self, place: int) -> Hit:
        return self.hits[place]

    def document(self) -> dict[str, object]:
        """For programs."""
        asked = {"query": self.query, "find": self.find, "where": self.where}
        hits = [hit.document() for hit in self.hits]
        told: dict[str, object] = {"remarks": list(self.remarks)} if self.remarks else {}
        if self.spread is not None:
            told["spread"] = self.spread
        about = {"page": self.page, "k": self.k, "ranked_by": self.ranked_by}
        return {**asked, **about, **told, "hits": hits}


def hit(rank: int, score: float, line: Mapping[str, Any], sources: Sequence[str]) -> Hit:
    """A hit from its line of the index."""
    rest = {name: value for name, value in line.items() if not name.startswith(OWN)}
    shown = {name: rest.pop(name, None) for name in ITSELF}
    source = line.get(SOURCE)
    return Hit(
        rank,
        str(shown["id"]),
        line[MODALITY],
        score,
        shown["text"],
        shown["image"],
        sources[source] if source is not None and source < len(sources) else "",
        bool(line.get(LEARNED)),
        line.get(PLACE) if line[MODALITY] == "text" else None,
        orjson.loads(json_line(rest)),
    )


def plain_lines(rows: pa.Table) -> list[dict[str, Any]]:
    """Lines as dictionaries; documents in cells as what they say."""
    documents = [item.name for item in rows.schema if item.metadata == JSON_MARK]
    lines: list[dict[str, Any]] = rows.to_pylist()
    for line in lines:
        for name in documents:
            line[name] = None if line[name] is None else loads(line[name])
    return lines
