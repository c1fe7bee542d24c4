"""What is compared, how, and how many pairs are shown."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from trope.neighbors.rows import Metric
from trope.spaces import Doc2Vec, Sentence, Space, Visual


@dataclass(frozen=True)
class ExplainSettings:
    """Neighbors by meaning (`space`, `k`, `metric`) and when a picture looks alike (`alike`).

    `alike` is a share: a picture looks like another when it is among this share of all pictures
    nearest to it, so that chance is known. Shares are measured on `sample` pairs, of which `pairs`
    are shown. `agree` names a column: how often do neighbors have the same value there?
    """

    space: Literal["doc2vec", "sentence"] = "doc2vec"
    k: int = 12
    metric: Metric = "l2"
    alike: float = 0.05
    pairs: int = 6
    sample: int = 1_000
    agree: str | None = None
    seed: int = 0
    doc2vec: Doc2Vec = field(default_factory=Doc2Vec)
    sentence: Sentence = field(default_factory=Sentence)
    visual: Visual = field(default_factory=Visual)

    def __post_init__(self) -> None:
        for name in ("k", "pairs", "sample"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, found {getattr(self, name)}")
        if not 0 < self.alike < 1:
            raise ValueError(f"alike must be a share between 0 and 1, found {self.alike}")

    @property
    def text_space(self) -> Space:
        """The space whose neighbors are shown."""
        return self.doc2vec if self.space == "doc2vec" else self.sentence
