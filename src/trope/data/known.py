"""Which rows of a data set a run has seen: by their ids, pictures and texts together.

Ids alone tell nothing, as those of a table without ids are its lines: one more row at the top, and
each stands for another.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from jaxtyping import Bool, Int

from trope.data.components import tied
from trope.data.identity import codes
from trope.types import SPLITS

NONE = len(SPLITS)  # the place of a split that nothing has
LINE = r"^row-\d+$"  # an id that only says where a row stood

Codes = Int[np.ndarray, " items"]  # a number per distinct value, −1 for none
Both = Int[np.ndarray, " both"]  # of the rows kept, and after them of those there are now
Mask = Bool[np.ndarray, " rows"]
Parts = Int[np.ndarray, " rows"]  # positions in SPLITS, −1 where a row has no split


@dataclass(frozen=True, eq=False)
class Match:
    """Rows as they were kept and rows as they are now, compared; results are for those of now.

    Both tables have the columns `id`, `split`, `image` (its path), `picture` (a digest of its
    bytes, or none), `texts` (a mark of each) and `group`.
    """

    then: pa.Table
    now: pa.Table

    @cached_property
    def known(self) -> Mask:
        """Rows that are one of those kept: by id and picture or text, or by picture and text.

        An id that is no line's number tells a row by its path too, whatever the picture is now.
        """
        return self._named | (self._paired >= 0)

    @cached_property
    def parts(self) -> Parts:
        """The split of each known row, -1 of others.

        One that has got another picture or text since is of the first split, in their order, that
        it or the new one was of. If that is not its own, all that it has counts anew.
        """
        own = self._then_parts[self._kept]
        news = np.minimum(self._first_of_new_texts, self._first_of_new_picture)
        whole = np.minimum(self._first_of_texts(self._texts >= 0), self._images_first)
        found = np.where(news < own, np.minimum(news, whole), own)
        return np.where(self.known, found, -1)

    @cached_property
    def moved(self) -> Mask:
        """Known rows that are of another split than they were."""
        return np.asarray(self.known & (self.parts != self._then_parts[self._kept]))

    @cached_property
    def repainted(self) -> Mask:
        """Known rows that have another picture now."""
        there = self._paths[len(self.then) :] >= 0
        return np.asarray(self.known & ~self._has_its_picture & there)

    @cached_property
    def same_ids(self) -> Mask:
        """Rows whose id one of those kept has."""
        return np.asarray(self._place.is_valid())

    def components(self) -> Both:
        """The component of each row, those kept first: tied by pictures, texts and groups.

        A path ties two rows of which one lacks a digest; where both have one, the bytes decide.
        """
        rows, here = np.arange(len(self._paths)), np.arange(len(self._paths)) >= len(self.then)
        blind = self._pictures < 0
        return tied(
            len(rows),
            (self._pictures, rows),
            (np.where(here | blind, self._paths, -1), rows),
            (np.where(~here | blind, self._paths, -1), rows),
            (self._texts, self._owners),
            (codes(self._column("group")), rows),
        )

    @cached_property
    def _place(self) -> pa.ChunkedArray:
        return pc.index_in(self.now.column("id"), value_set=self.then.column("id"))

    @cached_property
    def _beside(self) -> Parts:
        """The kept row with the id of each row; any where there is none."""
        return np.asarray(pc.fill_null(self._place, 0), dtype=np.int64)

    @cached_property
    def _named(self) -> Mask:
        line = np.asarray(pc.match_substring_regex(self.now.column("id"), LINE))
        same = self._same_text | self._same_picture | (self._same_path & ~line)
        return np.asarray(self.same_ids & same)

    @cached_property
    def _same_picture(self) -> Mask:
        """That of the row of the same id."""
        return self._alike(self._beside)

    @cached_property
    def _same_path(self) -> Mask:
        return _equal(*self._both(self._paths, self._beside))

    @cached_property
    def _same_text(self) -> Mask:
        return _equal(*self._both(self._first_texts, self._beside))

    @cached_property
    def _paired(self) -> Parts:
        """A kept row with a row's picture, else its path, and its first text; -1 for none.

        Of several the one whose split is the first.
        """
        texts, wide = self._first_texts, int(self._texts.max(initial=0)) + 1
        by_picture, by_path = (
            self._foremost(np.where((images >= 0) & (texts >= 0), images * wide + texts, -1))
            for images in (self._pictures, self._paths)
        )
        return np.where(by_picture >= 0, by_picture, by_path)

    @cached_property
    def _kept(self) -> Parts:
        """The kept row that each known row is; any for others."""
        whole = self._named & self._same_picture & self._same_text
        return np.where(whole | (self._paired < 0), self._beside, self._paired)

    @cached_property
    def _has_its_picture(self) -> Mask:
        return self._alike(self._kept)

    def _alike(self, kept: Parts) -> Mask:
        """Whether pictures are the same by their bytes or, where one has none, by their path."""
        then, now = self._both(self._pictures, kept)
        by_path = _equal(*self._both(self._paths, kept))
        return np.where((then >= 0) & (now >= 0), then == now, by_path)

    @cached_property
    def _first_of_new_picture(self) -> Parts:
        """The first split of a picture that the row did not have; bytes seen only now count too."""
        same_bytes = _equal(*self._both(self._pictures, self._kept))
        by_bytes = np.where(same_bytes, NONE, self._first(self._pictures))
        by_path = np.where(self._has_its_picture, NONE, self._paths_first)
        return np.asarray(np.minimum(by_bytes, by_path))

    @cached_property
    def _first_of_new_texts(self) -> Parts:
        """The first split of the texts that the row did not have."""
        here, wide = self._owners >= len(self.then), int(self._texts.max(initial=0)) + 2
        owners = np.append(np.arange(len(self.then)), self._kept)[self._owners]
        having = owners * wide + self._texts + 1
        had = np.zeros(len(having), bool)
        had[here] = np.isin(having[here], having[~here])
        return self._first_of_texts(~had)

    def _first_of_texts(self, counted: Bool[np.ndarray, " texts"]) -> Parts:
        """The first split of the texts of each row that are counted."""
        here = self._owners >= len(self.then)
        first = _first(self._texts[~here], self._then_parts[self._owners[~here]], self._texts[here])
        found = np.full(len(self.now), NONE)
        np.minimum.at(
            found, self._owners[here] - len(self.then), np.where(counted[here], first, NONE)
        )
        return found

    @cached_property
    def _images_first(self) -> Parts:
        return np.asarray(np.minimum(self._first(self._pictures), self._paths_first))

    @cached_property
    def _paths_first(self) -> Parts:
        """By the paths of kept rows without a digest, or of all where a row itself has none."""
        blind, count = self._pictures < 0, len(self.then)
        among = np.append(blind[:count], np.ones(len(self.now), bool))
        seen, unseen = (self._first(v) for v in (np.where(among, self._paths, -1), self._paths))
        return np.where(blind[count:], unseen, seen)

    @cached_property
    def _then_parts(self) -> Codes:
        return positions(self.then.column("split"))

    @cached_property
    def _paths(self) -> Both:
        return self._numbers("image")

    @cached_property
    def _pictures(self) -> Both:
        return self._numbers("picture")

    @cached_property
    def _texts(self) -> Codes:
        return _numbered(pc.list_flatten(self._column("texts")))

    @cached_property
    def _owners(self) -> Codes:
        return np.repeat(np.arange(len(self._counts)), self._counts)

    @cached_property
    def _counts(self) -> Both:
        return np.asarray(pc.list_value_length(self._column("texts")), dtype=np.int64)

    @cached_property
    def _first_texts(self) -> Both:
        starts = np.cumsum(self._counts) - self._counts
        return np.where(self._counts > 0, np.append(self._texts, -1)[starts], -1)

    def _first(self, values: Both) -> Parts:
        count = len(self.then)
        return _first(values[:count], self._then_parts, values[count:])

    def _foremost(self, values: Both) -> Parts:
        """The kept row with each row's value whose split is the first; -1 for none."""
        dense = np.unique(values, return_inverse=True)[1] - (values < 0).any()
        count, order = len(self.then), np.argsort(self._then_parts, kind="stable")
        place = np.empty(count, np.int64)
        place[order] = np.arange(count)
        place = np.where(self._then_parts < 0, -1, place)
        found = _first(dense[:count], place, dense[count:], none=count)
        return np.asarray(np.append(order, -1)[found])

    def _both(self, values: Both, kept: Parts) -> tuple[Parts, Parts]:
        """Of the kept rows that are named, and of the rows themselves."""
        return values[: len(self.then)][kept], values[len(self.then) :]

    def _numbers(self, name: str) -> Both:
        return _numbered(self._column(name))

    def _column(self, name: str) -> pa.ChunkedArray:
        chunks = [*self.then.column(name).chunks, *self.now.column(name).chunks]
        return pa.chunked_array(chunks, self.now.schema.field(name).type)


def positions(names: pa.ChunkedArray) -> Codes:
    """Splits by their place in the list of all, -1 for none."""
    found = pc.fill_null(pc.index_in(names, value_set=pa.array(SPLITS)), -1)
    return np.asarray(found, dtype=np.int64)


def _numbered(column: pa.ChunkedArray) -> Codes:
    """A number per distinct value, -1 for a gap."""
    distinct = pc.unique(column).drop_null()
    return np.asarray(pc.fill_null(pc.index_in(column, value_set=distinct), -1), dtype=np.int64)


def _equal(left: Parts, right: Parts) -> Mask:
    return np.asarray((left == right) & (left >= 0))


def _first(values: Codes, parts: Codes, asked: Parts, none: int = NONE) -> Parts:
    """The first split, in their order, of the items with each value that is asked for."""
    found = np.full(int(max(values.max(initial=0), asked.max(initial=0))) + 1, none)
    counted = (values >= 0) & (parts >= 0)
    np.minimum.at(found, values[counted], parts[counted])
    return np.where(asked >= 0, found[asked], none)
