"""The page about measures of relevance: what was trained, what the figures say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import resources
from typing import Any

from trope.config import plain
from trope.experiments.daa import Measures
from trope.experiments.daa.figures import WAYS, percent, tables, told
from trope.experiments.daa.measure import RECALL
from trope.experiments.daa.published import LOW, SETTING, gain_1
from trope.experiments.runs.tables import command, gap, listed, made, points

Results = Mapping[str, Any]


def page(results: Results) -> str:
    """The page for the docs, from everything that `results.json` holds."""
    text = resources.files(__package__).joinpath("page.md").read_text(encoding="utf-8")
    low = results["low"]
    return text.format(
        **{key: value for key, value in results.items() if key not in ("settings", "low")},
        **shared(results),
        command=command("daa", results, plain(Measures())),
        shows="\n".join(f"- {line}" for line in _lines(results)),
        low_daa=percent(low["cider-daa"]),
        low_cider=percent(low["cider"]),
        low_without=percent(low["without itself"]),
        low_paper=percent(LOW),
        tables="\n".join(table.markdown() for table in tables(results)),
    )


def shared(results: Results) -> dict[str, str]:
    """What both pages say alike."""
    settings = results["settings"]
    return {
        "made": made(results),
        "least": points(settings["least"]),
        "folds": f"{settings['folds']:,}",
        "changes": listed(settings["sets"]),
        "published": SETTING,
        "recipes": ", ".join(f"`{model}-daa`" for model in settings["models"]),
    }


def _lines(results: Results) -> Iterator[str]:
    """For each model and measure: the gain on Recall@1 and on its own ASP, beside the paper's."""
    for model, found in results["models"].items():
        for kind, gains in found["gains"].items():
            own = f"asp/{kind}"
            for side, (way, words) in enumerate(WAYS.items()):
                recall, asp = gains[way][RECALL], gains[way][own]
                place = ["recall@1", "asp/cider", "asp/bleu", "asp/rouge", "asp/mean"].index(own)
                paper = [gain_1(kind, side, 0), gain_1(kind, side, place)]
                beside = "" if None in paper else f" (paper: {paper[0]:+.1f} and {paper[1]:+.1f})"
                yield (
                    f"`{model}` {told(kind)}, {words}: R@1 {gap(recall)}, "
                    f"{recall['verdict']}; its own ASP {gap(asp)}, {asp['verdict']}{beside}."
                )
