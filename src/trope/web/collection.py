"""One index as the page sees it: searched, looked at item by item, gone through."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import Any

from trope.errors import UsageError
from trope.index.filters import Filter
from trope.index.filters.tree import OWN, Every, In
from trope.index.items import PLACE, image_key, text_key
from trope.index.model import checkpoint_of
from trope.search import Hit, Index
from trope.search.explaining import explained
from trope.search.hits import hit as hit_of
from trope.search.hits import plain_lines
from trope.search.index import OTHER, Find
from trope.search.queries import Query
from trope.search.ranking import from_vectors
from trope.views import Encoded
from trope.web.answers import Answer, Found, IndexAbout, Item, Text
from trope.web.asked import DEEPEST, Asked, Like
from trope.web.browsing import Browsing, passing
from trope.web.choices import chosen
from trope.web.datasets import Data
from trope.web.facets import Facets, facets
from trope.web.keys import modality_of, row_of, side_of
from trope.web.marks import Marks
from trope.web.refusals import NotThereError
from trope.web.remembering import Remembering
from trope.web.shown import Shown
from trope.web.sources import Sources
from trope.web.uploads import Uploads

ALIKE = 12  # items beside one that is looked at
TEXTS = 200  # of a row that are shown
LIKES: dict[Like, Find] = {"picture": "image", "meaning": "text"}


class Collection:
    """An index with its data sets, opened for reading.

    `embedder` is its model, if that is known; `given` are data sets that may have been moved.
    """

    def __init__(
        self,
        folder: Path,
        number: int,
        marks: Marks,
        embedder: Remembering | None = None,
        given: Sequence[Data] = (),
    ) -> None:
        self.index, self.number = Index(folder), number
        self.embedder = embedder or Remembering(checkpoint_of(folder))
        self.index.embedder = self.embedder
        self.state = self.index.engine.state
        self.version = self.state.digest
        self.sources = Sources(self.index.engine, self.index.sources(), given)
        self._browsing = Browsing(self.index.engine)
        self.shown = Shown(number, self.version, self.sources, marks)

    @cached_property
    def facets(self) -> Facets:
        """What can be filtered by."""
        return facets(self.index.engine)

    @cached_property
    def _dates(self) -> frozenset[str]:
        """Columns that have ranges of dates."""
        return frozenset(one.column for one in self.facets.columns if one.kind == "date")

    @cached_property
    def pixels(self) -> int | None:
        """The size of the pictures that the model takes; None if it takes none."""
        try:
            return self.embedder.pixels
        except UsageError:
            return None

    @cached_property
    def about(self) -> IndexAbout:
        """What there is."""
        engine, state = self.index.engine, self.state
        names = [name for name in engine.schema.names if not name.startswith(OWN)]
        return IndexAbout(
            self.number,
            self.index.folder.absolute().name,
            engine.count("image"),
            engine.count("text"),
            state.senses,
            state.settings.engine,
            self.pixels is not None,
            state.number,
            tuple(names),
        )

    def search(self, asked: Asked, uploads: Uploads) -> Answer:
        """What is nearest to what is asked, or simply some items where nothing is."""
        started = perf_counter()
        dates = self._dates if asked.facets else ()
        where = chosen(asked.facets, asked.where, self.index.engine.schema, dates)
        remarks: tuple[str, ...] = ()
        told: dict[str, Any] = {}
        if asked.item:
            find = asked.find or LIKES[asked.like]
            found = self._alike(asked.item, asked.like, find, asked.k, asked.page, where)
        elif asked.anything:
            query = self._query(asked, uploads)
            find = asked.find or OTHER[query.modality]
            results = self.index.ask(
                query, find=find, k=asked.k, page=asked.page, where=where, explain=asked.explain
            )
            found = [self.shown.found(hit, hit.score) for hit in results]
            told = {"ranked_by": results.ranked_by, "spread": results.spread}
            remarks = results.remarks
        else:
            find = asked.find or "image"
            found = self._browsed(find, asked.k, asked.page, where)
        answer = self._answer(asked, find, tuple(found), where, remarks, started)
        return replace(answer, **told)

    def item(self, key: str) -> Item:
        """One item with all there is about it."""
        hit, vectors = self._hit(self.sources.line(key), 1), self.index.engine.get([key]).vectors
        (told,) = explained(self.index.engine, vectors[0], [hit], vectors, self.index.sources())
        hit = replace(hit, neighbors=told.neighbors)
        alike = [self._beside(key, like) for like in LIKES]
        return Item(self.shown.found(hit, None), self._texts(row_of(key)), *alike)

    def rows(self, ids: Sequence[str]) -> dict[str, Found]:
        """Rows by id: the picture of each, or else its first text; not those that are not there."""
        found: dict[str, Found] = {}
        for row in ids:
            for key in (image_key(row), text_key(row, 0)):
                with suppress(NotThereError):
                    found[row] = self.shown.found(self._hit(self.sources.line(key), 1), None)
                    break
        return found

    def _query(self, asked: Asked, uploads: Uploads) -> Query:
        if asked.image is None:
            return Query(asked.q, (), asked.minus)
        if self.pixels is None:
            raise UsageError("the model takes features of pictures, it cannot be asked with one")
        return Query(asked.q, (uploads.get(asked.image).pixels[self.pixels],), asked.minus)

    def _answer(
        self,
        asked: Asked,
        find: Find,
        found: tuple[Found, ...],
        where: Filter | None,
        remarks: tuple[str, ...],
        started: float,
    ) -> Answer:
        total = passing(self.index.engine, find, where)
        if asked.item and total is not None:  # the row itself is not among what is like it
            total -= self._own(row_of(asked.item), find, where)
        far = asked.k * asked.page
        more = len(found) == asked.k and far + asked.k <= DEEPEST and (total is None or far < total)
        took = round((perf_counter() - started) * 1e3, 2)
        return Answer(found, find, asked.page, asked.k, more, total, took, self.number, remarks)

    def _own(self, row: str, find: Find, where: Filter | None) -> int:
        """How many items of a row are of the kind that is found, and pass."""
        same = In("id", (row,))
        keys = self.index.engine.find(same if where is None else Every((same, where)))
        return sum(find in (modality_of(key), "both") for key in keys)

    def _browsed(self, find: Find, k: int, page: int, where: Filter | None) -> list[Found]:
        keys = self._browsing.keys(find, where)[k * (page - 1) : k * page]
        lines = plain_lines(self.index.engine.get(keys).rows) if keys else []
        first = k * (page - 1) + 1
        return [self.shown.found(self._hit(line, first + i), None) for i, line in enumerate(lines)]

    def _beside(self, key: str, like: Like) -> tuple[Found, ...] | None:
        try:
            return tuple(self._alike(key, like, LIKES[like], ALIKE, 1, None))
        except NotThereError:
            return None

    def _alike(
        self, key: str, like: Like, find: Find, k: int, page: int, where: Filter | None
    ) -> list[Found]:
        """Items near to one side of an item's row, without the items of that row itself."""
        own = len(self._row(row_of(key)))
        encoded = self._encoded(side_of(key, like))
        hits = self.index.near(encoded, find, k=k * page + own, where=where)
        others = [hit for hit in hits if hit.id != row_of(key)][k * (page - 1) : k * page]
        first = k * (page - 1) + 1
        return [
            self.shown.found(replace(hit, rank=first + i), hit.score)
            for i, hit in enumerate(others)
        ]

    def _encoded(self, key: str) -> Encoded:
        row_of(key)
        try:
            return from_vectors(self.index.engine.get([key]).vectors)
        except UsageError:
            raise NotThereError(f"there is no item '{key[:200]}'") from None

    def _row(self, row: str) -> list[str]:
        """The keys of all items of a row."""
        return self.index.engine.find(In("id", (row,)))

    def _texts(self, row: str) -> tuple[Text, ...]:
        keys = [key for key in self._row(row) if key != image_key(row)][:TEXTS]
        lines = zip(keys, plain_lines(self.index.engine.get(keys).rows), strict=True)
        found = [Text(key, line[PLACE], line["text"]) for key, line in lines]
        return tuple(sorted(found, key=lambda text: text.place))

    def _hit(self, line: dict[str, object], rank: int) -> Hit:
        return hit_of(rank, 0.0, line, self.index.sources())
