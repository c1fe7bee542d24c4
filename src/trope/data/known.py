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
from trope.data.pairs import Pairs
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
    bytes, or none) and `texts` (a mark of each).
    """

    then: pa.Table
    now: pa.Table

    @cached_property
    def known(self) -> Mask:
        """Rows that are one of those kept: by id and picture or text, or by picture and text.

        An id that is no line's number tells a row by its path too, whatever the picture is now.
        """
        return self._named | (self._paired < NONE)

    @cached_property
    def parts(self) -> Parts:
        """The split of each known row, -1 of others.

        One that has got another picture or text since is of the first split, in their order, that
        it or the new one was of.
        """
        image = np.where(self._same_picture, NONE, self._images_first)
        text = np.where(self._same_text, NONE, self._texts_first)
        by_id = np.minimum(self._named_parts, np.minimum(image, text))
        whole = self._named & self._same_picture & self._same_text
        found = np.where(whole | (self._paired == NONE), by_id, self._paired)
        return np.where(self.known & (found < NONE), found, -1)

    @cached_property
    def same_ids(self) -> Mask:
        """Rows whose id one of those kept has."""
        return np.asarray(self._place.is_valid())

    def components(self, pairs: Pairs) -> Both:
        """The component of each row, those kept first: tied by pictures, texts, and groups of now.

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
            (codes(pairs.column("group")), rows[here]),
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
    def _named_parts(self) -> Parts:
        return np.where(self._named, self._then_parts[self._beside], NONE)

    @cached_property
    def _same_picture(self) -> Mask:
        """That of the row of the same id, by its bytes or, where one has none, by its path."""
        then, now = self._both(self._pictures)
        return np.where((then >= 0) & (now >= 0), then == now, self._same_path)

    @cached_property
    def _same_path(self) -> Mask:
        return _equal(*self._both(self._paths))

    @cached_property
    def _same_text(self) -> Mask:
        return _equal(*self._both(self._first_texts))

    @cached_property
    def _paired(self) -> Parts:
        """The first split of the kept rows with a row's picture, or path, and its first text.

        Of a path whose picture is another now, or the first that the other one was of.
        """
        wide = int(self._texts.max(initial=0)) + 1
        both = [
            np.where((image >= 0) & (self._first_texts >= 0), image * wide + self._first_texts, -1)
            for image in (self._pictures, self._paths)
        ]
        dense = (np.unique(values, return_inverse=True)[1] - (values < 0).any() for values in both)
        by_picture, by_path = (self._first(values) for values in dense)
        other = np.where(by_path < NONE, np.minimum(by_path, self._first(self._pictures)), NONE)
        return np.where(by_picture < NONE, by_picture, other)

    @cached_property
    def _images_first(self) -> Parts:
        blind, count = self._pictures < 0, len(self.then)
        among = np.append(blind[:count], np.ones(len(self.now), bool))
        seen, unseen = (self._first(v) for v in (np.where(among, self._paths, -1), self._paths))
        by_path = np.where(blind[count:], unseen, seen)
        return np.asarray(np.minimum(self._first(self._pictures), by_path))

    @cached_property
    def _texts_first(self) -> Parts:
        here = self._owners >= len(self.then)
        first = _first(self._texts[~here], self._then_parts[self._owners[~here]], self._texts[here])
        found = np.full(len(self.now), NONE)
        np.minimum.at(found, self._owners[here] - len(self.then), first)
        return found

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

    def _both(self, values: Both) -> tuple[Parts, Parts]:
        """Of the kept row with the same id, and of the row itself."""
        return values[: len(self.then)][self._beside], values[len(self.then) :]

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


def _first(values: Codes, parts: Codes, asked: Parts) -> Parts:
    """The first split, in their order, of the items with each value that is asked for."""
    found = np.full(int(max(values.max(initial=0), asked.max(initial=0))) + 1, NONE)
    counted = (values >= 0) & (parts >= 0)
    np.minimum.at(found, values[counted], parts[counted])
    return np.where(asked >= 0, found[asked], NONE)
