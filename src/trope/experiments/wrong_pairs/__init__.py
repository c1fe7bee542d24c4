"""Can wrong pairs be found? Some are swapped, and a list is looked through from its top."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from trope.errors import suggestion
from trope.experiments.spec import Experiment, Findings

SCORES = {
    "support": "support: all four witnesses",
    "neighbors": "neighbors of both kinds",
    "image-neighbors": "texts of alike pictures",
    "text-neighbors": "pictures of alike texts",
    "regression": "regression both ways",
    "image-regression": "regression, picture to text",
    "text-regression": "regression, text to picture",
    "support-plain": "support, no trust",
    "ranks": "ranks, no trust",
    "likeness": "correlation of likenesses",
    "support-apart": "support, components left out",
    "regression-seen": "regression, pair seen, no trust",
    "heads": "contrastive heads, out of fold",
    "heads-apart": "heads, components left out",
    "heads-seen": "heads, pair seen",
    "regression-plain": "regression, no trust",
}
OPTIONAL = ("regression-plain",)  # only where asked for
# What the pair has itself has no vote in these: they are compared with each other.
PLAIN = (
    *("support-plain", "ranks", "likeness", "regression-plain", "regression-seen"),
    *("heads", "heads-apart", "heads-seen"),
)


@dataclass(frozen=True)
class WrongPairs:
    """What is swapped, how often, and which scores are to find it.

    A `share` of the pairs exchange their texts: at `random`; with one of the `near` texts that mean
    most alike; or `within` a group. Never, but for the last, with a pair that shares a group, a
    picture or a text. `splits` are those whose rows take part (none: all), of which `rows` are
    drawn (0: all). `k`, `strength` and `trust` are settings of the scores.
    """

    scores: tuple[str, ...] = tuple(score for score in SCORES if score not in OPTIONAL)
    swaps: tuple[Literal["random", "near", "within"], ...] = ("random", "near")
    share: float = 0.05
    near: int = 10
    seeds: int = 5
    splits: tuple[Literal["train", "val", "test"], ...] = ()
    rows: int = 0
    k: int = 10
    strength: float = 1.0
    trust: float = 0.3

    def __post_init__(self) -> None:
        for name in ("scores", "swaps"):
            chosen = getattr(self, name)
            if not chosen or len(set(chosen)) < len(chosen):
                raise ValueError(f"{name} must name at least one, each once")
        for score in self.scores:
            if score not in SCORES:
                raise ValueError(f"no score '{score}'{suggestion(score, SCORES)}")
        if not 0 < self.share <= 0.5:
            raise ValueError(f"share must be above 0 and at most 0.5, found {self.share}")
        if min(self.near, self.seeds, self.k) < 1 or self.rows < 0:
            raise ValueError("near, seeds and k must be at least 1, rows at least 0")


def _run(data: Path, parts: Path, settings: WrongPairs) -> Findings:
    # Imported when it runs: the list of experiments must not cost what an experiment needs.
    from trope.experiments.wrong_pairs.study import run

    return run(data, parts, settings)


EXPERIMENT = Experiment(
    title="Are swapped pairs among those that look wrong?",
    paper="none: it measures `trope explain --wrong`",
    data="any data set of image-text pairs",
    settings=WrongPairs,
    run=_run,
    loose=frozenset({"seeds"}),
)
