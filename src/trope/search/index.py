"""An index that can be asked in words and pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
from jaxtyping import Float32

from trope import config
from trope.data.pairs import Pairs
from trope.data.readers import open as open_pairs
from trope.embedder import Embedder
from trope.encoders.scorers import COSINE
from trope.errors import UsageError, suggestion
from trope.evaluation.hubs import Hubs
from trope.index import Engine, open_engine
from trope.index.filters import Filter, parse
from trope.index.items import MODALITIES, Items, Modality, Vectors
from trope.index.job import Indexed, add, remove
from trope.index.model import checkpoint_of
from trope.search.explaining import explained
from trope.search.hits import Hit, Results, hit, plain_lines
from trope.search.queries import Asked, Pictures, Query, Said, query
from trope.search.ranked import Ranked
from trope.search.ranking import Bank, Reranker, as_encoded
from trope.search.rescoring import Rescoring, spread_of, why_not
from trope.search.way import CANDIDATES, Way
from trope.views import Encoded

Find: TypeAlias = Literal["image", "text", "both"]
FINDS = (*MODALITIES, "both")
MANY = 1_000  # hits, from where on it matters how many items there are
LIKELY = "pcme"  # the loss that fits the odds of a match
UNLIKELY = (
    f"no match probabilities: only the loss '{LIKELY}' teaches them, and this model had another"
)
OTHER: dict[Modality, Modality] = {"image": "text", "text": "image"}

Place: TypeAlias = str | PathLike[str]


class Index:
    """The items of an index and the model that made it.

    Where the model has a scorer, the first `CANDIDATES` are put in the order of its scores, unless
    `rerank` is False; or in that of a re-ranker of the user's own.
    """

    def __init__(self, folder: Place, rerank: Reranker | bool = True) -> None:
        self.folder, self.rerank = Path(folder), rerank
        self.engine: Engine = open_engine(self.folder)
        self._banks: dict[tuple[Modality, Modality], Bank] = {}
        self._sources: list[str] | None = None

    def __len__(self) -> int:
        return sum(self.engine.count(modality) for modality in MODALITIES)

    @cached_property
    def embedder(self) -> Embedder:
        """The model, loaded when first needed."""
        return Embedder(checkpoint_of(self.folder))

    def search(
        self,
        text: Said = (),
        image: Pictures = (),
        *,
        minus: Said = (),
        minus_image: Pictures = (),
        k: int = 10,
        page: int = 1,
        find: Find | None = None,
        where: str | None = None,
        hubs: str | Hubs = "none",
        explain: bool = False,
        rerank: bool = True,
    ) -> Results:
        """The items most like a text or a picture, or several of them averaged and subtracted.

        Texts find pictures and pictures find texts, unless `find` says otherwise. `where` is a
        filter on columns; `hubs` a correction against items that are near to everything. Without
        `rerank` the order is that of the cosines, whatever else the model can compare by.
        """
        found = self.ask(
            query(text, image, minus, minus_image),
            k=k,
            page=page,
            find=find,
            where=None if where is None else parse(where),
            hubs=hubs,
            explain=explain,
            rerank=rerank,
        )
        return replace(found, where=where)

    def ask(
        self,
        asked: Query,
        *,
        k: int = 10,
        page: int = 1,
        find: Find | None = None,
        where: Filter | None = None,
        hubs: str | Hubs = "none",
        explain: bool = False,
        rerank: bool = True,
    ) -> Results:
        """The same for a query and a filter that are made already."""
        kind = find or OTHER[asked.modality]
        _refuse(k, page, kind)
        way, remarks = self._way(asked, kind, _hubs(hubs), rerank)
        encoded = asked.encoded(self.embedder, parts=way.parts)
        ranked = self._ranked(asked, encoded, kind, k * page, where, way)
        hits = self._hits(_points(encoded.whole), ranked, k * (page - 1), k * page, explain)
        remarks = (*self._remarks(asked), *remarks, *way.remarks(k * page, len(hits)))
        about = (asked.document(), kind, hits, page, k, None, remarks)
        ranked_by = way.name if k * (page - 1) < CANDIDATES else COSINE
        return Results(*about, ranked_by=ranked_by, spread=spread_of(encoded))

    def near(
        self,
        encoded: Encoded,
        find: Find,
        *,
        k: int = 10,
        page: int = 1,
        where: Filter | None = None,
        explain: bool = False,
    ) -> tuple[Hit, ...]:
        """The items most like one that is encoded already, such as another item of the index."""
        _refuse(k, page, find)
        points = _points(encoded)
        found = Ranked(*self._nearest(points, find, k * page, where))
        return self._hits(points, found, k * (page - 1), k * page, explain)

    def add(self, data: Place | Pairs) -> Indexed:
        """Put the rows of a data set in; rows of the same id are replaced."""
        done = add(self.folder, _pairs(data))
        self.reload()
        return done

    def remove(self, ids: Sequence[str]) -> int:
        """Take rows out, with all their items."""
        done = remove(self.folder, ids)
        self.reload()
        return done

    def reload(self) -> None:
        """See what others have written since the index was opened."""
        self.engine.close()
        self.engine = open_engine(self.folder)
        self._banks.clear()
        self._sources = None

    def sources(self) -> list[str]:
        """Where the data sets are."""
        if self._sources is None:
            seen, folder = self.engine.state.sources, self.folder.resolve()
            self._sources = [str((folder / source).resolve()) for source in seen]
        return self._sources

    def _hits(
        self, points: Vectors, ranked: Ranked, first: int, last: int, explain: bool
    ) -> tuple[Hit, ...]:
        """Those of a page, each with its row."""
        some = ranked.part(first, last)
        items, sources = self.engine.get(some.ids), self.sources()
        lines = enumerate(zip(some.scores, plain_lines(items.rows), strict=True), first + 1)
        hits = some.told([hit(rank, float(s), line, sources) for rank, (s, line) in lines])
        if explain:
            hits = explained(self.engine, points[0], hits, items.vectors, sources)
        return tuple(hits)

    def _way(
        self, asked: Query, kind: str, hubs: Hubs, rerank: bool
    ) -> tuple[Way, tuple[str, ...]]:
        """How candidates are ranked, and what there is to say about it."""
        if callable(self.rerank) and rerank:
            return Way(hubs, self.rerank), ()
        scorer = self.embedder.checkpoint.model.scorer
        if scorer is None or not (self.rerank and rerank):
            return Way(hubs), ()
        name, held = self.embedder.checkpoint.plan.scorer["name"], self.engine.state.details
        if why := why_not(name, asked, kind, hubs.method, held):
            return Way(hubs), (why,)
        likely = self.embedder.checkpoint.trained_by(LIKELY)
        about = () if likely or scorer.odds is None else (UNLIKELY,)
        return Way(hubs, Rescoring(scorer, asked.modality, likely), name), about

    def _ranked(
        self,
        asked: Query,
        encoded: Asked,
        kind: str,
        count: int,
        where: Filter | None,
        way: Way,
    ) -> Ranked:
        """Items, best first, as many as there are pages for."""
        wanted = max(count, CANDIDATES) if way.anew else count
        found = Ranked(*self._nearest(_points(encoded.whole), kind, wanted, where))
        if not way.anew or not found.ids:
            return found
        head = self.engine.get(found.ids[:CANDIDATES])
        scores = found.scores[:CANDIDATES]
        if isinstance(way.rerank, Rescoring):
            scores = way.rerank(encoded, head)
            return found.anew(scores, way.rerank.probabilities(encoded, scores))
        if way.rerank is not None:
            scores = way.rerank(encoded.whole, as_encoded(head)).detach().float().cpu().numpy()
        return found.anew(self._without_hubs(asked, head, scores, way.hubs))

    def _nearest(
        self, points: Vectors, kind: str, count: int, where: Filter | None
    ) -> tuple[list[str], Float32[np.ndarray, " found"]]:
        chosen = [name for name in MODALITIES if kind in (name, "both")]
        count = self._most(count, chosen)
        found = [self.engine.nearest(points, count, name, where) for name in chosen]
        ids = np.concatenate([one.ids[0] for one in found])
        scores = np.concatenate([one.scores[0] for one in found])
        order = [i for i in np.argsort(-scores, kind="stable")[:count] if ids[i] is not None]
        return [str(ids[i]) for i in order], scores[order]

    def _most(self, count: int, chosen: Sequence[Modality]) -> int:
        """No more than there is, so that no room is made for it; a server is asked only then."""
        if count <= MANY:
            return count
        return min(count, max(MANY, *map(self.engine.count, chosen)))

    def _without_hubs(
        self, asked: Query, items: Items, scores: Float32[np.ndarray, " items"], hubs: Hubs
    ) -> Float32[np.ndarray, " items"]:
        if hubs.method == "none":
            return scores
        kinds = {name.partition(":")[0] for name in items.ids}
        if len(kinds) > 1:
            raise UsageError("hubs: find either images or texts, not both")
        bank = self._bank(asked.modality, kinds.pop())  # type: ignore[arg-type]
        return bank.corrected(scores, items.ids, items.vectors, hubs)

    def _bank(self, asked: Modality, found: Modality) -> Bank:
        if (asked, found) not in self._banks:
            self._banks[asked, found] = Bank.of(self.engine, asked, found)
        return self._banks[asked, found]

    def _remarks(self, asked: Query) -> tuple[str, ...]:
        strange = self.embedder.unknown([*asked.texts, *asked.minus_texts])
        return tuple(
            f"the model knows no word of {text!r}: its answer means little" for text in strange
        )


def _points(encoded: Encoded) -> Vectors:
    points = encoded.mean[:, None] if encoded.points is None else encoded.points
    return points.float().cpu().numpy()


def _hubs(given: str | Hubs) -> Hubs:
    made = given if isinstance(given, Hubs) else config.parse(Hubs, {"method": given}, "hubs")
    return made.default() if made.method != "none" else made


def _refuse(k: int, page: int, find: str) -> None:
    for name, value in (("k", k), ("page", page)):
        if value < 1:
            raise UsageError(f"search: {name} must be at least 1, found {value}")
    if find not in FINDS:
        raise UsageError(f"search: nothing to find called '{find}'{suggestion(find, FINDS)}")


def _pairs(data: Place | Pairs) -> Pairs:
    return data if isinstance(data, Pairs) else open_pairs(Path(data))
