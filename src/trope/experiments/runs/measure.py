"""What is measured of a run, query by query: recall and neighbors kept, or what labels tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from trope.data.pairs import Pairs
from trope.evaluation.answers import answers
from trope.evaluation.gallery import Side
from trope.evaluation.job import settings_from
from trope.evaluation.runs import open_run
from trope.experiments.runs.outcome import Answers

PRESERVATION = "preservation"


@dataclass(frozen=True)
class Pass:
    """One evaluation: by name, of which side and by which metric; options that differ."""

    wanted: Mapping[str, tuple[Side, str]]
    options: Mapping[str, Any] = field(default_factory=dict)


@runtime_checkable
class Asked(Protocol):
    """What is measured of runs: a dataclass, whose settings are part of a run's name."""

    @property
    def passes(self) -> Sequence[Pass]:
        """All that is evaluated: what for, with which options, under which names."""
        ...


@dataclass(frozen=True)
class Measure:
    """Recall@1 among `ways` items; with `kept`, the share of semantic neighbors that are kept."""

    ways: int = 5
    kept: bool = True

    def __post_init__(self) -> None:
        if self.ways < 2:
            raise ValueError(f"ways must be at least 2, found {self.ways}")

    @property
    def metrics(self) -> dict[str, tuple[Side, str]]:
        """Of each direction the recall, of each modality the neighbors (paper 004, Table 3)."""
        recall = f"recall@1/{self.ways}-way"
        found: dict[str, tuple[Side, str]] = {
            "image_to_text": ("image", recall),
            "text_to_image": ("text", recall),
        }
        if self.kept:
            found |= {"image": ("image", PRESERVATION), "text": ("text", PRESERVATION)}
        return found

    @property
    def passes(self) -> Sequence[Pass]:
        """All that is evaluated: what for, with which options, under which names."""
        return (Pass(self.metrics),)


@dataclass(frozen=True)
class LabelMeasure(Measure):
    """NDCG and mAP by shared labels, and F1 of predicted labels (paper 003).

    NDCG is that of the first `cut` items, 0 for the whole gallery; with `folds`, of folds of so
    many pictures too, as in COCO's 1K protocol.
    """

    cut: int = 500
    folds: int = 0

    @property
    def metrics(self) -> dict[str, tuple[Side, str]]:
        """Of each direction NDCG and mAP, of each modality micro-F1 and macro-F1."""
        ndcg = f"ndcg@{self.cut}" if self.cut else "ndcg"
        return {
            **_both_ways("", ndcg),
            **_both_ways("map.", "semantic-map"),
            "image": ("image", "micro-f1"),
            "text": ("text", "micro-f1"),
            "macro.image": ("image", "macro-f1"),
            "macro.text": ("text", "macro-f1"),
        }

    @property
    def passes(self) -> Sequence[Pass]:
        """The whole gallery, then folds of it."""
        whole = Pass(self.metrics)
        if not self.folds:
            return (whole,)
        ndcg = self.metrics["image_to_text"][1]
        inside = _both_ways("folds.", ndcg) | _both_ways("folds.map.", "semantic-map")
        return (whole, Pass(inside, {"folds": self.folds}))


def _both_ways(before: str, metric: str) -> dict[str, tuple[Side, str]]:
    return {
        f"{before}image_to_text": ("image", metric),
        f"{before}text_to_image": ("text", metric),
    }


USUAL = Measure()


def measured(
    run: Path, pairs: Pairs, split: str, measure: Asked
) -> tuple[dict[str, Answers], dict[str, float]]:
    """A number for every query of a split, by direction and modality; and what chance gives."""
    source, _ = open_run(run, pairs)
    answered: dict[str, Answers] = {}
    chance: dict[str, float] = {}
    for one in measure.passes:
        metrics = tuple(dict.fromkeys(metric for _, metric in one.wanted.values()))
        found = answers(source, split, settings_from(metrics=metrics, **one.options)).measurements
        for name, (side, metric) in one.wanted.items():
            place = name.rpartition(".")[2].partition(" ")[0]  # a direction or a modality
            ids, clusters = found.gallery.names_of(side), found.gallery.clusters_of(side)
            answered[name] = Answers(tuple(ids), found.values[place][metric], clusters)
            if metric in found.chance.get(place, {}):
                chance[name] = found.chance[place][metric]
    return answered, chance
