"""Tables with a column for each data set, in the shape of the paper's Table 2."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trope.experiments.complementary import BASE, CONTROLS, EVEN
from trope.experiments.complementary_overview import orders
from trope.experiments.complementary_overview.reasons import reasons
from trope.experiments.runs.tables import NONE, gap, spans
from trope.reports.plots import Panel
from trope.reports.tables import Table

Results = Mapping[str, Any]


def tables(results: Results) -> tuple[Table, ...]:
    """Recall, what each gains over the unweighted model and its controls, the orders, the why."""
    columns = results["columns"]
    names = list(dict.fromkeys(name for found in columns.values() for name in found["recipes"]))
    pairs = orders.measured(columns)
    return (
        Table("Recall@1, mean of both ways", ["recipe", *columns], _recalls(columns, names)),
        _gaps(f"Points gained over `{BASE}`", columns, [p for p in pairs if p[1] == BASE]),
        _gaps("Points gained over controls", columns, [p for p in pairs if is_control(p)]),
        orders.table(columns),
        Table("Effective share of a batch", ["recipe", *columns], _shares(columns, names)),
        _ratios(columns),
        reasons(columns),
    )


def panels(results: Results) -> tuple[Panel, ...]:
    """For each data set, what every recipe gains over the unweighted model."""
    return tuple(
        Panel(name, f"{found['ways']}-way Recall@1 − {BASE}", estimates=_spans(found), mark=0.0)
        for name, found in results["columns"].items()
    )


def is_control(pair: orders.Pair) -> bool:
    """Whether the right one has the same weights or λ, and only the left one knows more."""
    return pair[1] == EVEN or pair[1].endswith(CONTROLS)


def _spans(found: Results) -> list[Any]:
    return spans({p["left"]: p["both"] for p in found["comparisons"] if p["right"] == BASE})


def _recalls(columns: Results, names: list[str]) -> list[list[str]]:
    """The best of each data set is marked."""
    best = {
        name: max(one["value"] for one in found["recipes"].values())
        for name, found in columns.items()
    }
    return [[n, *(_recall(found, n, best[c]) for c, found in columns.items())] for n in names]


def _recall(found: Results, name: str, best: float) -> str:
    if name not in found["recipes"]:
        return NONE
    value = found["recipes"][name]["value"]
    return f"**{value:.3f}**" if value == best else f"{value:.3f}"


def _gaps(title: str, columns: Results, pairs: list[orders.Pair]) -> Table:
    rows = [
        [" − ".join(pair), *(_gap(found, pair) for found in columns.values())] for pair in pairs
    ]
    return Table(title, ["points", *columns], rows)


def _gap(found: Results, pair: orders.Pair) -> str:
    known = orders.compared(found, pair)
    return NONE if known is None else f"{gap(known['both'])}, {known['both']['verdict']}"


def _shares(columns: Results, names: list[str]) -> list[list[str]]:
    weighted = [n for n in names if any(found["weights"].get(n) for found in columns.values())]
    return [[n, *(_share(found, n) for found in columns.values())] for n in weighted]


def _share(found: Results, name: str) -> str:
    value = found["weights"].get(name, {}).get("ess")
    return NONE if value is None else f"{value:.3f}"


def _ratios(columns: Results) -> Table:
    """What the sweeps chose, by seeds, and what the statistics gave, their mean."""
    chosen = [", ".join(f"{r} ({n})" for r, n in c["chosen"].items()) for c in columns.values()]
    given = [_ratio(found["weights"].get("combined-stats", {})) for found in columns.values()]
    rows = [["combined-val (seeds)", *(c or NONE for c in chosen)], ["combined-stats", *given]]
    return Table("β : γ of diversity and discrepancy", ["recipe", *columns], rows)


def _ratio(weights: Results) -> str:
    return f"{weights['beta']:.2g} : {weights['gamma']:.2g}" if "beta" in weights else NONE
