"""The page over several data sets: what was asked of each, and what they say together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from importlib import resources
from typing import Any

from trope.config import plain
from trope.experiments.complementary import BASE, EVEN, PERMUTED
from trope.experiments.complementary_overview import Overview, orders
from trope.experiments.complementary_overview.figures import is_control, tables
from trope.experiments.complementary_overview.paper import SPREAD
from trope.experiments.runs.tables import command, listed, points
from trope.wording import counted

Results = Mapping[str, Any]

FOUR = ("discrepancy", "diversity", "combined-val", "combined-stats")  # of the papers
LITTLE = 0.05  # above chance: less says little about anything


def page(results: Results) -> str:
    """The page for the docs, from everything that `results.json` holds."""
    text = resources.files(__package__).joinpath("page.md").read_text(encoding="utf-8")
    columns = results["columns"]
    return text.format(
        command=command("complementary-overview", results, plain(Overview())),
        made="{date:.10}, {commit}".format(**results["provenance"]),
        base=BASE,
        data="\n".join(_about(name, found) for name, found in columns.items()),
        gains=_counted(columns, lambda pair: pair[1] == BASE),
        controls=_counted(columns, is_control),
        four=", ".join(f"`{name}`" for name in FOUR),
        even=EVEN,
        even_gaps=_between(columns, [(name, EVEN) for name in FOUR]),
        measures=_between(columns, [("diversity", "discrepancy")]),
        scores=_between(columns, [("ess", "ess" + PERMUTED)]),
        spread=SPREAD,
        orders=orders.counted(columns),
        lines="\n".join(f"- {line}" for line in orders.lines(columns)) or "- None.",
        low=_low(columns),
        notes="".join(f"- {note}\n" for note in results["settings"]["notes"]),
        tables="\n".join(table.markdown() for table in tables(results)),
    )


def _about(name: str, found: Results) -> str:
    pictures, texts = counted(found["images"], "picture"), counted(found["texts"], "text")
    settings, kind = found["settings"], "literal" if found["literal"] else "abstract"
    taken = f", {settings['rows']:,} training rows" if settings["rows"] else ""
    taken += f", texts of the column `{settings['text']}`" if settings["text"] else ""
    taken += f", with {listed(settings['sets'])}" if settings["sets"] else ""
    return (
        f"- **{name}** ({kind}): {found['ways']}-way "
        f"(chance {found['chance']['image_to_text']:g}), "
        f"{pictures} and {texts} of {found['clusters']:,} components asked about, "
        f"{counted(found['seeds'], 'seed')}{taken}; trained by {', '.join(found['commits'])}."
    )


def _low(columns: Results) -> str:
    """Data on which equal may mean that nothing was learned."""
    low = [
        f"{name} (at most {best:.3f}, by chance {found['chance']['image_to_text']:g})"
        for name, found in columns.items()
        if (best := max(one["value"] for one in found["recipes"].values()))
        < found["chance"]["image_to_text"] + LITTLE
    ]
    if not low:
        return ""
    return (
        f"\n- On {'; '.join(low)} no recipe is {100 * LITTLE:.0f} points above chance: verdicts of "
        "*equal* there say that little was learned, not that weights do no harm or good."
    )


def _between(columns: Results, pairs: list[orders.Pair]) -> str:
    """The verdicts on some pairs over all data sets, and how far apart they are at most."""
    found = [known["both"] for column in columns.values() for pair in pairs
             if (known := orders.compared(column, pair)) is not None]  # fmt: skip
    if not found:
        return "not measured"
    most = max(abs(both["difference"]) for both in found)
    said = _counted(columns, set(pairs).__contains__)
    return f"{said}, at most {points(most)} points apart"


def _counted(columns: Results, chosen: Any) -> str:
    """How verdicts are spread over all data sets."""
    said = Counter(
        pair["both"]["verdict"]
        for found in columns.values()
        for pair in found["comparisons"]
        if chosen((pair["left"], pair["right"]))
    )
    return ", ".join(f"{said[name]} {name}" for name in sorted(said)) or "none made"
