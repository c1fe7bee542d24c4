"""Tables and plot about shares of the training data, from the results alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from trope.experiments.daa.figures import WAYS
from trope.experiments.daa.measure import RECALL
from trope.experiments.daa.published import SETTING, TABLE_2, gain_2, shared_ratios
from trope.experiments.runs.tables import NONE, gap, points
from trope.reports.plots import Line, Panel
from trope.reports.tables import Table

Results = Mapping[str, Any]

ASP = "asp/cider-daa"
COLUMNS = ["i2t R@1", "i2t ASP", "t2i R@1", "t2i ASP"]
CELLS = [(way, metric) for way in WAYS for metric in (RECALL, ASP)]


def tables(results: Results) -> tuple[Table, ...]:
    """For each model its rows, what DAA gained, and the slopes of that; the paper's rows last."""
    own = [
        table
        for model, found in results["models"].items()
        for table in (_rows(model, found), _gains(model, found), _slopes(model, found))
    ]
    return (*own, _published())


def panels(results: Results) -> tuple[Panel, ...]:
    """For each model gains over the share of the data, of Recall@1 and of ASP."""
    return tuple(
        _panel(model, found, metric, name)
        for model, found in results["models"].items()
        for metric, name in ((RECALL, "R@1"), (ASP, "ASP (CIDEr)"))
    )


def published_slopes() -> list[float]:
    """Of the paper's gains, in points for a whole data set more, where its base converged."""
    ratios = shared_ratios()
    each = [[gain_2(ratio, column) or 0.0 for ratio in ratios] for column in range(len(CELLS))]
    return [float(np.polyfit(ratios, gained, 1)[0]) for gained in each]


def _rows(model: str, found: Results) -> Table:
    rows = [
        [
            _share(ratio),
            name,
            *(points(known[kind][way][metric]["value"]) for way, metric in CELLS),
        ]
        for ratio, known in found["ratios"].items()
        for kind, name in (("base", model), ("daa", f"{model} + DAA"))
    ]
    return Table(f"{model}: points", ["data", "", *COLUMNS], rows)


def _gains(model: str, found: Results) -> Table:
    rows = []
    for ratio, known in found["ratios"].items():
        rows.append([_share(ratio), *(gap(known["gains"][way][metric]) for way, metric in CELLS)])
        paper = [gain_2(float(ratio), column) for column in range(len(CELLS))]
        rows.append(["paper (SGR)", *(NONE if one is None else f"{one:+.1f}" for one in paper)])
    return Table(f"{model}: gained by DAA", ["data", *COLUMNS], rows)


def _slopes(model: str, found: Results) -> Table:
    low, high = shared_ratios()[0], shared_ratios()[-1]
    kinds = {"slopes": "all shares", "shared_slopes": f"{_share(str(low))} to {_share(str(high))}"}
    rows = [
        [f"{model}, {name}", *(gap(found[kind][way][metric]) for way, metric in CELLS)]
        for kind, name in kinds.items()
        if found[kind]
    ]
    rows.append(
        [f"paper (SGR), {kinds['shared_slopes']}", *map("{:+.1f}".format, published_slopes())]
    )
    return Table(f"{model}: how the gain changes for a data set more", ["", *COLUMNS], rows)


def _published() -> Table:
    rows = [
        [
            _share(str(ratio)),
            name,
            *([NONE] * len(CELLS) if values is None else (f"{value:.1f}" for value in values)),
        ]
        for ratio, both in TABLE_2.items()
        for name, values in zip(("SGR", "SGR + DAA"), both, strict=True)
    ]
    return Table(f"Published: {SETTING}", ["data", "", *COLUMNS], rows)


def _panel(model: str, found: Results, metric: str, name: str) -> Panel:
    x = [100 * float(ratio) for ratio in found["ratios"]]
    lines = []
    for way, words in WAYS.items():
        known = [one["gains"][way][metric] for one in found["ratios"].values()]
        y = [one["difference"] for one in known]
        low = [one["difference"] if one["low"] is None else one["low"] for one in known]
        high = [one["difference"] if one["high"] is None else one["high"] for one in known]
        lines.append(Line(words, x, y, low, high))
    return Panel(model, "% of the training captions", f"gained on {name}", lines)


def _share(ratio: str) -> str:
    return f"{100 * float(ratio):g} %"
