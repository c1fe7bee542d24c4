"""How pairs that look wrong are found, and how many are shown."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from trope.errors import suggestion
from trope.explain.wrong.scores import SCORES, Hearing
from trope.explain.wrong.sides import Ties
from trope.spaces import Doc2Vec, Sentence, Space, Visual


@dataclass(frozen=True)
class WrongSettings(Hearing):
    """What pairs are judged by (`score`), in which spaces, and how much is told.

    `k` neighbors foretell what a pair should have, and so does a regression of a given `strength`;
    `trust` is the vote of what the pair has itself. Nothing is foretold by the pair; with
    `tied = "components"`, nor by pairs that share a group, a picture or a text with it. `shown`
    pairs stand on the page, `listed` in the JSON file, all of them in the tables; shares are
    counted on a `sample` of others. Where no network is named, `sentence` and `visual` are those of
    the run whose data are judged, or the usual ones.
    """

    score: str = "support"
    space: Literal["doc2vec", "sentence"] = "sentence"
    tied: Ties = "pairs"
    shown: int = 24
    listed: int = 1_000
    sample: int = 1_000
    seed: int = 0
    doc2vec: Doc2Vec = field(default_factory=Doc2Vec)
    sentence: Sentence | None = None
    visual: Visual | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.score not in SCORES:
            raise ValueError(f"no score '{self.score}'{suggestion(self.score, SCORES)}")
        for name in ("shown", "listed", "sample"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, found {getattr(self, name)}")

    @property
    def text_space(self) -> Space:
        """The space in which texts are compared."""
        return self.doc2vec if self.space == "doc2vec" else self.sentence or Sentence()

    @property
    def image_space(self) -> Visual:
        """The space in which pictures are compared."""
        return self.visual or Visual()

    def named(self) -> WrongSettings:
        """The same with networks that are all named."""
        return replace(self, sentence=self.sentence or Sentence(), visual=self.image_space)
