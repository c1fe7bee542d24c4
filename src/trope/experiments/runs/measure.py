"""What is measured of a run, query by query: 5-way recall, and how meaning's neighbors are kept."""

from __future__ import annotations

from pathlib import Path

from trope.data.pairs import Pairs
from trope.evaluation import evaluate_run
from trope.evaluation.gallery import Side
from trope.experiments.runs.outcome import Answers

RECALL, PRESERVATION = "recall@1/5-way", "preservation"
# Of each direction the recall, of each modality the share of neighbors that are kept (Table 3).
MEASURED: dict[str, tuple[Side, str]] = {
    "image_to_text": ("image", RECALL),
    "text_to_image": ("text", RECALL),
    "image": ("image", PRESERVATION),
    "text": ("text", PRESERVATION),
}


def measured(run: Path, pairs: Pairs, split: str) -> tuple[dict[str, Answers], dict[str, float]]:
    """A number for every query of a split, by direction and modality; and what chance gives."""
    metrics = (RECALL, PRESERVATION)
    (found,) = evaluate_run(run, pairs, split, metrics=metrics).measurements
    answers = {
        name: Answers(
            tuple(found.gallery.names_of(side)),
            found.values[name][metric],
            found.gallery.clusters_of(side),
        )
        for name, (side, metric) in MEASURED.items()
    }
    return answers, {name: found.chance[name][metric] for name, (_, metric) in MEASURED.items()}
