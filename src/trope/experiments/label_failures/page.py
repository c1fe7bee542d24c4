"""Tables, plot and page about failures, from the results alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

from trope.config import plain
from trope.experiments.label_failures import LabelFailures
from trope.experiments.runs.labels import WAYS
from trope.experiments.runs.tables import NONE, command, listed, made
from trope.reports.plots import Estimate, Panel
from trope.reports.tables import Table
from trope.wording import counted

Results = Mapping[str, Any]

CLASS = "super-class confusion"
NAMED = 3  # labels of no super-class that are listed


def tables(results: Results) -> tuple[Table, ...]:
    """How many results are wrong, and by which cause; then the queries of the gallery."""
    rows = [
        [
            WAYS[way],
            f"{known['queries']:,}",
            f"{known['wrong'] / known['results']:.1%}",
            *map(_percent, (_share(known), known["chance"], _share(known, "rest"))),
        ]
        for way, known in results["causes"].items()
    ]
    columns = ["direction", "queries", "results that are wrong", f"of these, {CLASS}"]
    columns += ["by chance", "the rest: semantic confusion"]
    first = Table("Wrong results and their causes", columns, rows)
    return (first, *(_queries(way, some) for way, some in results["shown"].items() if some))


def panels(results: Results) -> tuple[Panel, ...]:
    """Of wrong results, the share that is of the query's super-class, beside chance."""
    found = []
    for way, known in results["causes"].items():
        shares = {WAYS[way]: _share(known), f"{WAYS[way]}, by chance": known["chance"]}
        found += [Estimate(name, x, x, x) for name, x in shares.items() if x is not None]
    return (Panel("Wrong, but of the super-class", "share of wrong results", estimates=found),)


def page(results: Results) -> str:
    """The page for the docs, from everything that `results.json` holds."""
    text = resources.files(__package__).joinpath("page.md").read_text(encoding="utf-8")
    chosen = results["settings"]
    return text.format(
        **results,
        without=_without(results["unlabeled"]),
        unclassed_labels=_unclassed(results["unclassed"], results["labels"]),
        fewer=_fewer(results),
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


def _share(known: Results, cause: str = "super_class") -> float | None:
    """Of wrong results, those of a cause; of none there is no share."""
    return known[cause] / known["wrong"] if known["wrong"] else None


def _percent(share: float | None) -> str:
    return NONE if share is None else f"{share:.1%}"


def _line(way: str, known: Results) -> str:
    share, chance, wrong = _share(known), known["chance"], known["wrong"] / known["results"]
    told = f"- {WAYS[way].capitalize()}: {wrong:.1%} of the first results share no label with the "
    if share is None:
        return f"{told}query."
    times = f"{share / chance:.1f} times what chance gives" if chance else "chance gives none"
    return f"{told}query. {share:.1%} of these are of its super-class, {times}."


def _without(unlabeled: Results) -> str:
    if not unlabeled["images"]:
        return ""
    pictures, texts = counted(unlabeled["images"], "picture"), counted(unlabeled["texts"], "text")
    return (
        f" Left out, as queries and as results: {pictures} without labels and {texts} of theirs, "
        "for which nobody knows what is right."
    )


def _unclassed(names: Sequence[str], labels: int) -> str:
    """Labels that are not COCO's, by which nothing can be of the same super-class."""
    if not names:
        return ""
    some = ", ".join(names[:NAMED]) + (", …" if names[NAMED:] else "")
    return (
        f" {len(names):,} of {counted(labels, 'label')} {'is' if len(names) == 1 else 'are'} in no "
        f"super-class of COCO ({some}) and never the cause of super-class confusion."
    )


def _fewer(results: Results) -> str:
    """Of directions where not as many queries failed as were asked for."""
    wanted = results["settings"]["queries"]
    return "".join(
        f" {WAYS[way].capitalize()}: "
        f"{counted(len(some), 'query has', 'queries have')} a wrong result."
        for way, some in results["shown"].items()
        if len(some) < wanted
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
