"""Tables, plot and page about label-wise retrieval, from the results alone."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from typing import Any

from trope.config import plain
from trope.experiments.label_wise import LabelWise
from trope.experiments.runs.labels import (
    MODALITIES,
    WAYS,
    differences,
    named,
    predicted,
    retrieved,
    sentence,
)
from trope.experiments.runs.tables import NONE, command, listed, made, points, spans
from trope.reports.plots import Panel
from trope.reports.tables import Table

Results = Mapping[str, Any]

PUBLISHED = {  # micro-F1 of images and texts on COCO: 1K, then 5K
    "independent": (0.628, 0.623, 0.624, 0.617),
    "dscmr": (0.627, 0.614, 0.538, 0.538),
    "sharing-consistency": (0.683, 0.632, 0.685, 0.630),
    "sharing": (0.692, 0.635, 0.689, 0.633),
}


def tables(results: Results) -> tuple[Table, ...]:
    """Labels, what the paper has, retrieval in the whole gallery and in folds, differences."""
    found, ndcg = results["recipes"], named(results["cut"])
    made = [predicted(found, "Predicted labels (the paper's Table 1)"), _published(found)]
    made.append(retrieved(found, "Retrieval by shared labels, whole gallery", "", ndcg))
    if all("folds.image_to_text" in known for known in found.values()):
        title = "Retrieval by shared labels, in folds (the 1K protocol)"
        made.append(retrieved(found, title, "folds.", ndcg))
    return (*made, differences(results["comparisons"], ndcg))


def panels(results: Results) -> tuple[Panel, ...]:
    """Micro-F1 of each modality, and NDCG of each direction."""
    sides = {f"Micro-F1 of {name}": side for side, name in MODALITIES.items()}
    sides |= {f"NDCG, {name}": way for way, name in WAYS.items()}
    return tuple(
        Panel(title, title, estimates=spans({n: k[side] for n, k in results["recipes"].items()}))
        for title, side in sides.items()
    )


def page(results: Results) -> str:
    """The page for the docs, from everything that `results.json` holds."""
    text = resources.files(__package__).joinpath("page.md").read_text(encoding="utf-8")
    chosen = results["settings"]
    ndcg = named(results["cut"])
    return text.format(
        **results,
        made=made(results),
        command=command("label-wise", results, plain(LabelWise())),
        changes=f" All runs had these changes: {listed(chosen['sets'])}." if chosen["sets"] else "",
        least=points(chosen["least"]),
        ndcg=ndcg,
        folds=chosen["folds"],
        split=chosen["split"],
        shows="\n".join(f"- {sentence(pair, ndcg)}" for pair in results["comparisons"]),
        tables="\n".join(table.markdown() for table in tables(results)),
    )


def _published(found: Mapping[str, Results]) -> Table:
    rows = [
        [f"`{name}`", *(f"{value:.3f}" for value in PUBLISHED[name])]
        if name in PUBLISHED
        else [f"`{name}`", *[NONE] * 4]
        for name in found
    ]
    columns = ["recipe", "COCO1K, images", "texts", "COCO5K, images", "texts"]
    return Table("Micro-F1 as published (other features, all of COCO)", columns, rows)
