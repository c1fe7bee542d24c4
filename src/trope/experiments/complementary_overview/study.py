"""What several data sets say, gathered from what each experiment wrote."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from trope.errors import DataError, UsageError
from trope.experiments.complementary_overview import Overview
from trope.experiments.complementary_overview.figures import panels, tables
from trope.experiments.complementary_overview.page import page
from trope.experiments.spec import Findings

SOURCE = "complementary"
KEPT = (
    "settings",
    "provenance",
    "commits",
    "seeds",
    "images",
    "texts",
    "clusters",
    "ways",
    "chance",
)


def run(data: Path, settings: Overview) -> Findings:
    """Read `results.json` of every folder inside; they are taken as they are."""
    columns = {
        f"{path.parent.name}, {encoder}": _column(read, encoder)
        | {"literal": path.parent.name in settings.literal}
        for path in sorted(data.glob("*/results.json"))
        if (read := _read(path)) is not None
        for encoder in read["encoders"]
    }
    if not columns:
        raise DataError(f"{data}: no folder in it was made by `trope experiment {SOURCE}`")
    if unknown := set(settings.literal) - {name.split(", ")[0] for name in columns}:
        raise UsageError(f"literal: {data} has no results in a folder '{min(unknown)}'")
    results = {"columns": columns}
    return Findings(results, tables(results), panels(results), page)


def _read(path: Path) -> dict[str, Any] | None:
    """The results of an experiment, none if they are of another."""
    try:
        found = orjson.loads(path.read_bytes())
        return dict(found) if found["experiment"] == SOURCE else None
    except (orjson.JSONDecodeError, KeyError, TypeError):
        raise DataError(f"{path}: not written by `trope experiment`") from None


def _column(results: Mapping[str, Any], encoder: str) -> dict[str, Any]:
    """What one data set says with one text encoder, without the runs it is made of."""
    found = results["encoders"][encoder]
    both = {name: known["both"] for name, known in found["recipes"].items()}
    recalls = {
        name: {key: one[key] for key in ("value", "low", "high")} for name, one in both.items()
    }
    pairs = [
        {"left": pair["left"], "right": pair["right"], "both": pair["both"]}
        for pair in found["comparisons"]
    ]
    weights = {name: _means(known["weights"]) for name, known in found["recipes"].items()}
    about = {key: results[key] for key in KEPT}
    said = {"encoder": encoder, "recipes": recalls, "comparisons": pairs, "weights": weights}
    chosen = _chosen(found["recipes"].get("combined-val", {}).get("weights", []))
    return about | said | {"chosen": chosen}


def _means(weights: list[Mapping[str, float]]) -> dict[str, float]:
    """What weights were like, over the seeds."""
    each = {name: [one[name] for one in weights] for name in (weights[0] if weights else {})}
    return {name: sum(some) / len(some) for name, some in each.items()}


def _chosen(weights: list[Mapping[str, float]]) -> dict[str, int]:
    """How many seeds chose each ratio of beta and gamma, the most frequent first."""
    ratios = Counter(f"{one['beta']:g}:{one['gamma']:g}" for one in weights if "beta" in one)
    return dict(ratios.most_common())
