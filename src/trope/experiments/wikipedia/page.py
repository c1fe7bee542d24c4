"""The page about Wikipedia: what was done, what came out, what it cannot say."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from typing import Any

from trope.config import plain
from trope.experiments.runs.recipes import SAID
from trope.experiments.runs.tables import command, gap, listed, made, points
from trope.experiments.wikipedia import Wikipedia
from trope.experiments.wikipedia.figures import tables

Results = Mapping[str, Any]


def page(results: Results) -> str:
    """The page for the docs, from everything that `results.json` holds."""
    text = resources.files(__package__).joinpath("page.md").read_text(encoding="utf-8")
    sets = results["settings"]["sets"]
    return text.format(
        **results,
        made=made(results),
        command=command("wikipedia", results, plain(Wikipedia())),
        changes=f" All runs had these changes: {listed(sets)}." if sets else "",
        least=points(results["settings"]["least"]),
        chosen=_chosen(results["classic"]),
        shows=_shows(results),
        tables="\n".join(table.markdown() for table in tables(results)),
    )


def _chosen(classic: Results) -> str:
    return "; ".join(
        f"{name}: " + ", ".join(f"{option} {value:g}" for option, value in known["chosen"].items())
        for name, known in classic.items()
    )


def _shows(results: Results) -> str:
    """Sentences that follow from the figures, whatever these are."""
    known = {**results["classic"], **results["recipes"]}
    means = {
        name: (some["image_to_text"]["value"] + some["text_to_image"]["value"]) / 2
        for name, some in known.items()
    }
    ranked = sorted(means, key=lambda name: -means[name])
    lines = ["Mean of both directions: " + ", ".join(f"{n} {means[n]:.3f}" for n in ranked) + "."]
    lines += [
        f"`{pair['left']}` {SAID[pair['both']['verdict']]} `{pair['right']}` by NDCG: "
        f"{gap(pair['both'])} points."
        for pair in results["comparisons"]
    ]
    return "\n".join(f"- {line}" for line in lines)
