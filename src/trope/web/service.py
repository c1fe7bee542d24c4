"""Everything the page and its API can be asked, over one or two indexes; safe in many threads."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from trope.errors import UsageError
from trope.index.items import image_key
from trope.runtime import cores
from trope.web.answers import Answer, Comparison, Found, IndexAbout, Item, Verdict
from trope.web.asked import Asked
from trope.web.collection import Collection
from trope.web.current import Current
from trope.web.datasets import Data, opened_data
from trope.web.differences import compared
from trope.web.explained import ExplainPage, explain_pages
from trope.web.facets import Facets
from trope.web.keys import row_of
from trope.web.marks import Mark, Marks
from trope.web.points import Maps, Points
from trope.web.refusals import NotThereError
from trope.web.thumbnails import SIZES, Thumbnails, kept_beside
from trope.web.uploads import Upload, Uploads

MARKS = "marks.jsonl"
GONE = "the index was removed while it is served: this is what was in it"


@dataclass(frozen=True)
class Places:
    """What is served: indexes, what was explained about them, and where marks are kept.

    `data` are data sets that are not any more where they were when they were indexed.
    """

    indexes: tuple[Path, ...]
    explain: tuple[Path, ...] = ()
    marks: Path | None = None
    data: tuple[Path, ...] = ()


class Service:
    """Searches, items, facets, uploads, pictures, maps, explanations and marks."""

    def __init__(self, places: Places) -> None:
        if not 1 <= len(places.indexes) <= 2:
            raise UsageError("serve: name one index, or two to compare")
        first = places.indexes[0]
        self._marks = Marks(places.marks or kept_beside(first, "web") / MARKS)
        if places.marks is not None:
            self._marks.refuse_unwritable()
        given = [opened_data(str(place)) for place in places.data]
        self._current = [
            Current(folder, number, self._marks, given)
            for number, folder in enumerate(places.indexes)
        ]
        self._refuse_idle(given)
        self._pages = explain_pages(places.explain)
        self._thumbnails = [
            Thumbnails(kept_beside(folder, "web") / "thumbnails", there=current.there)
            for folder, current in zip(places.indexes, self._current, strict=True)
        ]
        self._maps = Maps([kept_beside(folder, "web") for folder in places.indexes])
        sizes = [size for one in self.collections if (size := one.pixels) is not None]
        self.uploads = Uploads(sizes)
        self._free = threading.BoundedSemaphore(cores())  # more would only wait for each other

    @property
    def collections(self) -> list[Collection]:
        """The indexes as they are now."""
        return [current.get() for current in self._current]

    def warm(self) -> list[str]:
        """Load models, data and facets before the first request; says what will be missing."""
        problems = []
        for collection in self.collections:
            problems += collection.sources.open()
            _ = collection.facets, collection.about
            with suppress(UsageError):  # a model of stored vectors takes no words
                collection.search(Asked(q=("a",), k=1), self.uploads)
        return problems

    def _refuse_idle(self, given: Sequence[Data]) -> None:
        """A data set that is named must be one of an index."""
        sources = [one.sources for one in self.collections] if given else []
        for one in sources:
            one.open()
        for data in given:
            if not any(one.uses(data) for one in sources):
                raise UsageError(
                    f"--data {data.pairs.source}: has other pictures than those that were indexed"
                )

    def gone(self) -> frozenset[int]:
        """The numbers of indexes that were removed while they are served."""
        return frozenset(i for i, current in enumerate(self._current) if current.gone)

    def about(self) -> tuple[IndexAbout, ...]:
        """The indexes there are."""
        return tuple(collection.about for collection in self.collections)

    def search(self, asked: Asked) -> Answer:
        """What is nearest to what is asked."""
        with self._free:
            answer = self._collection(asked.index).search(asked, self.uploads)
        gone = (GONE,) if asked.index in self.gone() else ()
        return replace(answer, remarks=(*gone, *answer.remarks)) if gone else answer

    def compare(self, asked: Asked) -> Comparison:
        """The same asked of both indexes, differences marked."""
        if len(self._current) < 2:
            raise NotThereError("compare: only one index is served; name two to compare")
        left, right = (self.search(replace(asked, index=number)) for number in (0, 1))
        return compared(left, right)

    def item(self, key: str, index: int = 0) -> Item:
        """One item with its row and what is like it."""
        with self._free:
            return self._collection(index).item(key)

    def facets(self, index: int = 0) -> Facets:
        """Columns and labels to filter by."""
        return self._collection(index).facets

    async def upload(self, data: bytes) -> Upload:
        """Take a picture to search with."""
        return await self.uploads.take(data)

    def uploaded(self, digest: str) -> tuple[bytes, str]:
        """A small copy of a picture that was sent, and its content type."""
        return self.uploads.get(digest).preview, "image/jpeg"

    def picture(self, key: str, size: int = SIZES[1], index: int = 0) -> tuple[bytes, str]:
        """A small copy of the picture of an item's row, and its content type."""
        if size not in SIZES:
            raise UsageError(f"pictures: sizes are {', '.join(map(str, SIZES))}, not {size}")
        collection = self._collection(index)
        key = image_key(row_of(key))
        name = f"{collection.version}|{key}"
        made = self._thumbnails[index].get(name, size, lambda: collection.sources.read(key))
        return made, "image/jpeg"

    def version(self, index: int = 0) -> str:
        """What the URLs of pictures have, so that those of another state are never taken."""
        return self._collection(index).version

    def map(self, index: int = 0) -> Points:
        """The items of an index in two dimensions; says how far it is while it is being made."""
        collection = self._collection(index)
        self._current[index].refuse_gone()
        return self._maps.get(index, collection)

    def explain_pages(self) -> tuple[ExplainPage, ...]:
        """What `trope explain` wrote."""
        return self._pages

    def explain_page(self, name: str) -> ExplainPage:
        """One of them by its name."""
        for page in self._pages:
            if page.name == name:
                return page
        raise NotThereError(f"explain: there is no page '{name[:80]}'")

    def rows(self, ids: Sequence[str], index: int = 0) -> Mapping[str, Found]:
        """The pictures of rows by id, or their first texts; those the index lacks are left out."""
        return self._collection(index).rows(ids)

    def marks(self) -> Marks:
        """What was decided about items."""
        return self._marks

    def mark(self, key: str, verdict: Verdict | None, note: str = "") -> Mark:
        """Decide about an item that is there, or take it back."""
        self._collection(0).sources.line(key)
        self._current[0].refuse_gone()
        return self._marks.put(key, verdict, note)

    def close(self) -> None:
        """End what runs beside."""
        self.uploads.close()
        self._maps.close()
        for collection in self.collections:
            collection.index.engine.close()

    def _collection(self, index: int) -> Collection:
        if not 0 <= index < len(self._current):
            raise NotThereError(f"there is no index {index}")
        return self._current[index].get()
