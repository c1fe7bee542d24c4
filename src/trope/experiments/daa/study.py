"""Table 1: every model without DAA, and with it by each measure of relevance."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from trope.data.readers import open as open_pairs
from trope.experiments.daa import Measures, Ranking
from trope.experiments.daa.agreeing import low_shares
from trope.experiments.daa.figures import panels, tables
from trope.experiments.daa.measure import ASPS, Semantic, figures, gains
from trope.experiments.daa.page import page
from trope.experiments.daa.ready import refuse_models, refuse_unready
from trope.experiments.runs import Series, Variant, train_all
from trope.experiments.runs.summary import whole
from trope.experiments.spec import Findings

BASE = "base"


def run(data: Path, parts: Path, settings: Measures) -> Findings:
    """Train, compare with the base, and describe what came out."""
    refuse_models(settings.models)
    variants = {
        model: [variant(model, settings, kind) for kind in (BASE, *settings.relevance)]
        for model in settings.models
    }
    found = trained([one for some in variants.values() for one in some], settings, data, parts)
    models = {model: _model(found, model, settings) for model in settings.models}
    results = described(data, found, settings) | {
        "models": models,
        "low": low_shares(open_pairs(data).in_split("test")),
    }
    return Findings(results, tables(results), panels(results), page)


def variant(model: str, settings: Ranking, kind: str, share: float = 1.0) -> Variant:
    """A model without DAA, or with it by a measure, on a share of the captions."""
    change = "daa=none" if kind == BASE else f"daa.relevance={kind}"
    name = f"{model}, {kind}" + ("" if share == 1 else f", {share:g}")
    sets = (*settings.sets, change)
    rows, asked = settings.rows, settings.asked
    return Variant(name, f"{model}-daa", sets, rows=rows, share=share, asked=asked)


def trained(variants: list[Variant], settings: Ranking, data: Path, parts: Path) -> Series:
    """All runs, measured on the test split, if the data is fit for it."""
    refuse_unready(data, variants, settings.folds)
    return train_all(
        variants,
        settings.seeds,
        data,
        parts,
        measure=Semantic(settings.folds),
        workers=settings.workers,
        finished=settings.finished,
    )


def described(data: Path, found: Series, settings: Ranking) -> dict[str, Any]:
    """What both tables say of themselves: the size of the training data beside what all runs do."""
    pairs = open_pairs(data)
    one = variant(settings.models[0], settings, BASE).taken(pairs).in_split("train")
    return {
        "data": data.resolve().name,
        **whole(found),
        "train_rows": len(one),
        "train_texts": int(one.text_counts.sum()),
    }


def _model(found: Series, model: str, settings: Measures) -> dict[str, Any]:
    base = found[f"{model}, {BASE}"]
    asp = tuple(ASPS)
    return {
        "rows": {
            kind: figures(found[f"{model}, {kind}"], asp) for kind in (BASE, *settings.relevance)
        },
        "gains": {
            kind: gains(found[f"{model}, {kind}"], base, asp, settings.least)
            for kind in settings.relevance
        },
    }
