"""What is measured of a run, query by query: c-way recall, and how meaning's neighbors are kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from trope.data.pairs import Pairs
from trope.evaluation import evaluate_run
from trope.evaluation.gallery import Side
from trope.experiments.runs.outcome import Answers

PRESERVATION = "preservation"


@runtime_checkable
class Asked(Protocol):
    """What is measured of runs: a dataclass, whose settings are part of a run's name."""

    @property
    def metrics(self) -> Mapping[str, tuple[Side, str]]:
        """By the name that answers get: whose queries, and the metric."""
        ...

    @property
    def options(self) -> Mapping[str, Any]:
        """Settings of the evaluation."""
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
    def options(self) -> dict[str, Any]:
        """Over the whole split."""
        return {}


USUAL = Measure()


def measured(
    run: Path, pairs: Pairs, split: str, measure: Asked
) -> tuple[dict[str, Answers], dict[str, float]]:
    """A number for every query of a split, by direction and modality; and what chance gives."""
    wanted = measure.metrics
    names = tuple(dict.fromkeys(metric for _, metric in wanted.values()))
    (found,) = evaluate_run(run, pairs, split, metrics=names, **measure.options).measurements
    answers = {
        name: Answers(
            tuple(found.gallery.names_of(side)),
            found.values[_direction(name)][metric],
            found.gallery.clusters_of(side),
        )
        for name, (side, metric) in wanted.items()
    }
    chance = {name: found.chance[_direction(name)][metric] for name, (_, metric) in wanted.items()}
    return answers, chance


def _direction(name: str) -> str:
    """Of a name such as `image_to_text asp/cider`."""
    return name.partition(" ")[0]
