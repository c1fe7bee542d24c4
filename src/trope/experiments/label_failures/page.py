"""Tables, plot and page about failures, from the results alone."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from typing import Any

from trope.config import plain
from trope.experiments.label_failures import LabelFailures
from trope.experiments.runs.labels import WAYS
from trope.experiments.runs.tables import command, listed, made
from trope.reports.plots import Estimate, Panel
from trope.reports.tables import Table

Results = Mapping[str, Any]

CLASS = "super-class confusion"


def tables(results: Results) -> tuple[Table, ...]:
    """How many results are wrong, and by which cause; then the queries of the gallery."""
    rows = [
        [
            WAYS[way],
            f"{known['queries']:,}",
            f"{known['wrong'] / known['results']:.1%}",
            f"{_share(known):.1%}",
            f"{known['chance']:.1%}",
            f"{known['rest'] / max(known['wrong'], 1):.1%}",
        ]
        for way, known in results["causes"].items()
    ]
    columns = ["direction", "queries", "results that are wrong", f"of these, {CLASS}"]
    columns += ["by chance", "the rest: semantic confusion"]
    first = Table("Wrong results and their causes", columns, rows)
    return (first, *(_queries(way, some) for way, some in results["shown"].items()))


def panels(results: Results) -> tuple[Panel, ...]:
    """Of wrong results, the share that is of the query's super-class, beside chance."""
    found = []
    for way, known in results["causes"].items():
        share, chance = _share(known), known["chance"]
        found.append(Estimate(WAYS[way], share, share, share))
        found.append(Estimate(f"{WAYS[way]}, by chance", chance, chance, chance))
    return (Panel("Wrong results of the query's super-class", "share", estimates=found),)


def page(results: Results) -> str:
    """The page for the docs, from everything that `results.json` holds."""
    text = resources.files(__package__).joinpath("page.md").read_text(encoding="utf-8")
    chosen = results["settings"]
    return text.format(
        **results,
        made=made(results),
        command=command("label-failures", results, plain(LabelFailures())),
        changes=f" with these changes: {listed(chosen['sets'])}" if chosen["sets"] else "",
        recipe=chosen["recipe"],
        seed=chosen["seed"],
        split=chosen["split"],
        top_texts=chosen["texts"],
        top_images=chosen["images"],
        shows="\n".join(_line(way, known) for way, known in results["causes"].items()),
        tables="\n".join(table.markdown() for table in tables(results)),
    )


def _share(known: Results) -> float:
    return float(known["super_class"] / max(known["wrong"], 1))


def _line(way: str, known: Results) -> str:
    times = _share(known) / known["chance"] if known["chance"] else 0.0
    wrong = known["wrong"] / known["results"]
    return (
        f"- {WAYS[way].capitalize()}: {wrong:.1%} of the first results share no label with the "
        f"query. {_share(known):.1%} of these are of its super-class, {times:.1f} times what "
        "chance gives."
    )


def _queries(way: str, some: list[Results]) -> Table:
    rows = [
        [
            f"{one['text']} ({one['labels']})",
            "; ".join(f"{card['mark']}: {card['text']} ({card['note']})" for card in one["found"]),
        ]
        for one in some
    ]
    return Table(f"Failures, {WAYS[way]}", ["query and its labels", "found, first to last"], rows)
