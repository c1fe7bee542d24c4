"""The paper's order of recipes against ours, data set by data set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from trope.experiments.complementary import EVEN
from trope.experiments.complementary_overview.paper import ABSTRACT, LITERAL, order, reported
from trope.experiments.runs.tables import NONE, gap
from trope.reports.tables import Table

Results = Mapping[str, Any]
Pair = tuple[str, str]

TOLD = ("better", "worse")  # verdicts that are an order


def measured(columns: Results) -> list[Pair]:
    """All pairs of recipes that were compared on some data, each once."""
    every = [pair for found in columns.values() for pair in found["comparisons"]]
    return list(dict.fromkeys((pair["left"], pair["right"]) for pair in every))


def pairs(columns: Results) -> list[Pair]:
    """Whose order both tell of."""
    return [pair for pair in measured(columns) if reported(*pair)]


def table(columns: Results) -> Table:
    """A row for each order, the paper's figures first."""
    rows = [
        [" − ".join(pair), *_paper(pair), *(_cell(found, pair) for found in columns.values())]
        for pair in pairs(columns)
    ]
    others = ", ".join(ABSTRACT)
    heads = ["points", f"paper: {LITERAL}", f"paper: {others}", *columns]
    return Table("The paper's order, and ours", heads, rows)


def counted(columns: Results) -> str:
    """How many orders hold, over all data sets."""
    said = Counter(
        holds(pair, found, known)
        for pair in pairs(columns)
        for found in columns.values()
        if (known := compared(found, pair)) is not None
    )
    return ", ".join(f"{said[name]} {name}" for name in sorted(said)) or "none measured"


def lines(columns: Results) -> Iterator[str]:
    """Where an order holds, where it is turned round, and what equal weights do there."""
    for pair in pairs(columns):
        told = [
            f"{name} {verdict} ({100 * known['both']['difference']:+.1f}{_even(found, pair)})"
            for name, found in columns.items()
            if (known := compared(found, pair)) is not None
            and (verdict := holds(pair, found, known)) in ("holds", "opposite")
        ]
        if told:
            yield f"`{pair[0]}` against `{pair[1]}`: {'; '.join(told)}."


def compared(found: Results, pair: Pair) -> Results | None:
    """What was measured of two recipes."""
    for known in found["comparisons"]:
        if (known["left"], known["right"]) == pair:
            return dict(known)
    return None


def holds(pair: Pair, found: Results, known: Results) -> str:
    """The paper's order `holds`, is the `opposite` or not seen here; or it has `no order`."""
    verdict: str = known["both"]["verdict"]
    sign = order(*pair, found["literal"])
    if not sign:
        return "no order"
    if verdict not in TOLD:
        return verdict
    return "holds" if (sign > 0) == (verdict == "better") else "opposite"


def _cell(found: Results, pair: Pair) -> str:
    known = compared(found, pair)
    if known is None:
        return NONE
    told = holds(pair, found, known)
    ours = f", {known['both']['verdict']}" if told == "no order" else ""
    return f"{gap(known['both'])}{ours}, {told}"


def _paper(pair: Pair) -> list[str]:
    """The paper's points, on literal data and on the others."""
    told = {name: f"{value:+.1f}" for name, value in reported(*pair).items()}
    return [told.get(LITERAL, NONE), ", ".join(told.get(name, NONE) for name in ABSTRACT)]


def _even(found: Results, pair: Pair) -> str:
    """The same of equal weights with the λ of the left one, which is multiplied by it."""
    left, right = pair
    recipes = found["recipes"]
    if EVEN not in recipes or EVEN in pair or compared(found, (left, EVEN)) is None:
        return ""
    if right not in recipes or compared(found, (right, EVEN)) is not None:
        return ""
    return f"; `{EVEN}` {100 * (recipes[EVEN]['value'] - recipes[right]['value']):+.1f}"
