"""The whole job: from a finished run to a page about the weights of its training pairs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from trope import config
from trope.data.pairs import Pairs
from trope.explain.page import write_page
from trope.explain.tables import write_tables
from trope.explain.weights.findings import Numbers, RunWeights, run_weights
from trope.explain.weights.plot import panels
from trope.files import refuse_existing, replacing_folder, write_json
from trope.reports import plots
from trope.runtime import generator, provenance
from trope.training import WeighedRun, weigh_run
from trope.weights import MEASURES, WEIGHTS, PairWeight, Semantic


@dataclass(frozen=True)
class WeightsSettings:
    """How many pairs are shown at each end, and of which weight: none, that of the run.

    A run without a weight that looks at neighbors is shown with `diversity` and `discrepancy`.
    """

    pairs: int = 12
    weight: Mapping[str, Any] | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.pairs < 1:
            raise ValueError(f"pairs must be at least 1, found {self.pairs}")


def explain_run(
    run: str | os.PathLike[str],
    out: str | os.PathLike[str],
    data: Path | Pairs | None = None,
    settings: WeightsSettings | None = None,
) -> tuple[RunWeights, dict[str, Any]]:
    """Write `index.html` with a plot and pictures, `weights.json`, and all pairs as tables.

    Returns what was found, and the JSON document that was written.
    """
    settings, run, out = settings or WeightsSettings(), Path(run), Path(out)
    plots.require()
    refuse_existing(out)
    weighed = weigh_run(run, data, settings.weight)
    chosen = weights_of(weighed, settings)
    found = run_weights(run, weighed, chosen, settings.pairs)
    made = {"config": config.plain(settings), "provenance": provenance()}
    document = found.document() | made
    with replacing_folder(out, fresh=True) as folder:
        plots.draw(panels(found), folder / "weights")
        write_page(folder, "weights.html", weighed.pairs, found, small=found.cards())
        write_tables(folder, "weights", found.table)
        write_json(folder / "weights.json", document)
    return found, document


def weights_of(weighed: WeighedRun, settings: WeightsSettings) -> dict[str, Numbers]:
    """The weights that are shown, by name: the one asked for, the run's, or one by each measure."""
    table = settings.weight or weighed.settings.weight
    if table and issubclass(WEIGHTS[table["name"]], Semantic):
        return {str(table["name"]): weighed.weighed.weights}
    everyone = np.arange(len(weighed.train))[None]
    random = generator(settings.seed, "weights")
    found = {}
    for name in MEASURES:
        weight = WEIGHTS[name]()
        assert isinstance(weight, PairWeight)
        found[name] = weight.over(weighed.weighed.scores, everyone, random)[0]
    return found
