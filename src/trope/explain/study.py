"""A data set in both spaces at once: what means alike, what looks alike, and what does both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from jaxtyping import Bool, Int

from trope.data.pairs import Pairs
from trope.errors import DataError
from trope.explain.choice import instructive
from trope.explain.findings import Findings
from trope.explain.looks import Looks, Seen
from trope.explain.meaning import Near, graph_recall, limited, nearest_rows
from trope.explain.settings import ExplainSettings
from trope.explain.shares import Share, agreement, groups_of, share
from trope.explain.shown import Shown
from trope.runtime import generator
from trope.spaces import Vectors

ASKED = "Shown because it was asked for."

Rows: TypeAlias = Int[np.ndarray, " queries"]
Drawn: TypeAlias = Bool[np.ndarray, " queries"]


@dataclass(frozen=True, eq=False)
class Study:
    """A data set in both spaces; only rows with a picture and a text with a vector are compared."""

    pairs: Pairs
    settings: ExplainSettings
    texts: Vectors
    looks: Looks
    lacking: dict[str, Bool[np.ndarray, " rows"]]
    remarks: tuple[str, ...]

    @classmethod
    def of(cls, pairs: Pairs, settings: ExplainSettings) -> Study:
        """Vectors of all texts and pictures, from the cache or computed now."""
        texts = settings.text_space.vectors(pairs)
        pictures = settings.visual.vectors(pairs)
        spoken = np.bincount(texts.owners, texts.values.any(axis=1), len(pairs)) > 0
        shown = pictures.values.any(axis=1)
        usable = np.asarray(spoken & shown)
        lacking = {
            "text with a known word": np.asarray(~spoken),
            "picture that can be used": np.asarray(~shown),
        }
        looks = Looks.of(pictures.values, usable)
        remarks = (*texts.remarks, *pictures.remarks)
        return cls(pairs, settings, limited(texts, usable), looks, lacking, remarks)

    def require(self, rows: list[int]) -> None:
        """Refuse what cannot be explained, and say why."""
        for row in rows:
            for what, lacks in self.lacking.items():
                if lacks[row]:
                    raise DataError(f"{self.pairs.root}: pair '{self.pairs[row].id}' has no {what}")
        if self.looks.others < 1:
            found = (f"{int(lacks.sum()):,} have no {what}" for what, lacks in self.lacking.items())
            why = f"of {len(self.pairs):,} rows, {', '.join(found)}"
            raise DataError(f"{self.pairs.root}: two pairs are needed to compare; {why}")

    def findings(self, asked: list[int], recall: bool, remarks: tuple[str, ...]) -> Findings:
        """The shares over a sample of pairs, and the pairs asked for or chosen from it."""
        options, looks = self.settings, self.looks
        sample = self._sample()
        near = self._near(np.union1d(sample, np.array(asked, np.int64)))
        nearest = max(1, int(options.alike * looks.others))
        seen = looks.compare(near.rows, near.ids, nearest)
        chosen = dict.fromkeys(asked, ASKED) or instructive(near, seen.ranks, options.pairs)
        shown = Shown(self.pairs, self.texts, looks, near, seen)
        drawn = np.isin(near.rows, sample)  # those asked for are no random rows
        return Findings(
            data=str(self.pairs.root),
            rows=len(self.pairs),
            usable=looks.others + 1,
            space=options.space,
            metric=options.metric,
            visual=options.visual.backbone,
            k=options.k,
            nearest=nearest,
            others=looks.others,
            looks_alike=self._looks_alike(near, seen, drawn),
            agree=self._agreement(near, drawn),
            recall=self._recall() if recall else None,
            pairs=tuple(shown.explained(row, why) for row, why in chosen.items()),
            remarks=(*remarks, *self.remarks),
        )

    def _near(self, rows: Rows) -> Near:
        return nearest_rows(self.texts, rows, self.settings.k, self.settings.metric)

    def _looks_alike(self, near: Near, seen: Seen, drawn: Drawn) -> Share:
        groups = groups_of(self.pairs)[near.rows[drawn]]
        return share(seen.alike[drawn], near.ids[drawn] >= 0, seen.chance[drawn], groups)

    def _agreement(self, near: Near, drawn: Drawn) -> tuple[str, Share] | None:
        column = self.settings.agree
        if column is None:
            return None
        rows, ids = near.rows[drawn], near.ids[drawn]
        return column, agreement(self.pairs, column, self.looks.usable, rows, ids)

    def _recall(self) -> tuple[float, int]:
        options = self.settings
        return graph_recall(self.texts, options.k, options.metric, options.sample)

    def _sample(self) -> Rows:
        """Rows to measure shares on: all, or a sample that the seed decides."""
        usable = np.flatnonzero(self.looks.usable)
        if len(usable) > self.settings.sample:
            random = generator(self.settings.seed, "explain")
            usable = random.choice(usable, self.settings.sample, replace=False)
        return usable
