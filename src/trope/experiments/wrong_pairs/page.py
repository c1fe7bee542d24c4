"""The page about wrong pairs: what was swapped, what the figures say, what they cannot say."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from typing import Any

from trope.config import plain
from trope.experiments.runs.tables import cell, command
from trope.experiments.wrong_pairs import PLAIN, SCORES, WrongPairs
from trope.experiments.wrong_pairs.figures import SWAPS, comparable, signed, tables

Results = Mapping[str, Any]


def page(results: Results) -> str:
    """The page for the docs, from everything that `results.json` holds."""
    text = resources.files(__package__).joinpath("page.md").read_text(encoding="utf-8")
    return text.format(
        **results,
        made="{date:.10}, {machine}, {commit}".format(**results["provenance"]),
        command=command("wrong-pairs", results, plain(WrongPairs())),
        shows=_shows(results),
        tables="\n".join(table.markdown() for table in tables(results)),
    )


def _shows(results: Results) -> str:
    """Sentences that follow from the figures, whatever these are."""
    return "\n\n".join(_swap(SWAPS[swap], known) for swap, known in results["swaps"].items())


def _swap(title: str, known: Results) -> str:
    scores, chance = known["scores"], known["chance"]
    first = next(iter(scores))
    own = {name: figure["value"] for name, figure in scores[first].items()}
    lines = [
        f"`{first}` reaches an average precision of {own['ap']:.3f} (chance {chance['ap']:.3f}).",
        f"Of the first {known['swapped']:,} pairs by it, {own['precision']:.0%} are wrong (chance "
        f"{chance['precision']:.0%}); who looks through a tenth of all pairs sees "
        f"{own['recall@10%']:.0%} of the wrong ones, through a fifth {own['recall@20%']:.0%}.",
        *_compared(first, scores),
        *_plain(scores),
    ]
    return f"**{title}**\n\n" + "\n".join(f"- {line}" for line in lines)


def _compared(first: str, scores: Results) -> list[str]:
    """What is better than the first score, what is worse, what cannot be told from it.

    Of the scores without a vote of the pair, only support itself is held against one with it.
    """
    kinds: dict[str, list[str]] = {"better": [], "worse": [], "not told apart": []}
    for score, known in scores.items():
        gain = known["gain"]
        if score == first or gain["low"] is None or not comparable(first, score):
            continue
        verdict = "better" if gain["low"] > 0 else "worse" if gain["high"] < 0 else "not told apart"
        kinds[verdict].append(f"{SCORES[score]} {signed(gain)}")
    return [
        f"Points of average precision, {verdict}: {'; '.join(found)}."
        for verdict, found in kinds.items()
        if found
    ]


def _plain(scores: Results) -> list[str]:
    """The scores without a vote of the pair, beside each other."""
    found = [f"{SCORES[score]} {cell(scores[score]['ap'])}" for score in scores if score in PLAIN]
    if len(found) < 2:
        return []
    return [f"Without a vote of what the pair has, average precision: {'; '.join(found)}."]
