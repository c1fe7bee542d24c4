"""A data set in both spaces at once: what means alike, what looks alike, and what does both."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int

from trope.data.pairs import Pairs
from trope.errors import DataError
from trope.explain.choice import instructive
from trope.explain.findings import Findings
from trope.explain.looks import Looks
from trope.explain.meaning import Near, graph_recall, limited, nearest_rows
from trope.explain.settings import ExplainSettings
from trope.explain.shares import Share, agreement, share
from trope.explain.shown import Shown
from trope.runtime import generator
from trope.spaces import Vectors

ASKED = "Shown because it was asked for."


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
            raise DataError(f"{self.pairs.root}: needs at least two pairs of a picture and a text")

    def findings(self, asked: list[int], recall: bool, remarks: tuple[str, ...]) -> Findings:
        """The shares over a sample of pairs, and the pairs asked for or chosen from it."""
        options, looks = self.settings, self.looks
        rows = self._sampled(asked)
        near = nearest_rows(self.texts, rows, options.k, options.metric)
        cosines, ranks = looks.compare(rows, near.ids)
        nearest = max(1, int(options.alike * looks.others))
        alike = (ranks > 0) & (ranks <= nearest)
        chosen = dict.fromkeys(asked, ASKED) or instructive(near, ranks, options.pairs)
        shown = Shown(self.pairs, self.texts, looks, near, cosines, ranks, alike)
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
            looks_alike=share(alike, near.ids >= 0, nearest / looks.others),
            agree=self._agreement(near),
            recall=self._recall() if recall else None,
            pairs=tuple(shown.explained(row, why) for row, why in chosen.items()),
            remarks=(*remarks, *self.remarks),
        )

    def _agreement(self, near: Near) -> tuple[str, Share] | None:
        column = self.settings.agree
        if column is None:
            return None
        return column, agreement(self.pairs, column, self.looks.usable, near.rows, near.ids)

    def _recall(self) -> tuple[float, int]:
        options = self.settings
        return graph_recall(self.texts, options.k, options.metric, options.sample)

    def _sampled(self, asked: list[int]) -> Int[np.ndarray, " queries"]:
        """Rows to look at, in order: a sample that the seed decides, and those asked for."""
        usable = np.flatnonzero(self.looks.usable)
        if len(usable) > self.settings.sample:
            random = generator(self.settings.seed, "explain")
            usable = random.choice(usable, self.settings.sample, replace=False)
        return np.union1d(usable, np.array(asked, np.int64))
