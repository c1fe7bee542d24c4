"""Tables, plot and page about consistency, from the results alone."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from typing import Any

from trope.config import plain
from trope.experiments.consistency import Consistency
from trope.experiments.runs.labels import differences, named, predicted, retrieved, sentence
from trope.experiments.runs.tables import command, listed, made, points
from trope.reports.plots import Line, Panel
from trope.reports.tables import Table

Results = Mapping[str, Any]

WATCHED = {
    "val_f1_image": "Micro-F1 of images",
    "val_f1_text": "Micro-F1 of texts",
    "val_ndcg_image_to_text": "NDCG, image to text",
    "val_ndcg_text_to_image": "NDCG, text to image",
}


def tables(results: Results) -> tuple[Table, ...]:
    """Labels, retrieval and differences at the end, on the split that is measured."""
    ndcg = named(results["cut"])
    return (
        predicted(results["recipes"], "Predicted labels"),
        retrieved(results["recipes"], "Retrieval by shared labels", "", ndcg),
        differences(results["comparisons"], ndcg),
    )


def panels(results: Results) -> tuple[Panel, ...]:
    """What is watched, epoch by epoch on validation, the mean of all seeds in their range."""
    return tuple(
        Panel(
            title,
            "epoch",
            lines=[
                Line(
                    variant,
                    list(range(1, 1 + len(known[name]["mean"]))),
                    known[name]["mean"],
                    known[name]["low"],
                    known[name]["high"],
                )
                for variant, known in results["curves"].items()
            ],
        )
        for name, title in WATCHED.items()
    )


def page(results: Results) -> str:
    """The page for the docs, from everything that `results.json` holds."""
    text = resources.files(__package__).joinpath("page.md").read_text(encoding="utf-8")
    chosen = results["settings"]
    ndcg = named(results["cut"])
    return text.format(
        **results,
        made=made(results),
        command=command("consistency", results, plain(Consistency())),
        changes=f" All runs had these changes: {listed(chosen['sets'])}." if chosen["sets"] else "",
        least=points(chosen["least"]),
        eta=chosen["eta"],
        split=chosen["split"],
        shows="\n".join(f"- {sentence(pair, ndcg)}" for pair in results["comparisons"]),
        tables="\n".join(table.markdown() for table in tables(results)),
    )
