"""The page about complementary pairs: what was trained, what the figures say, what they cannot."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from typing import Any

from trope.config import plain
from trope.experiments.complementary import (
    BASE,
    EVEN,
    EVENED,
    PERMUTED,
    SCALED,
    SHUFFLED,
    Complementary,
)
from trope.experiments.complementary.figures import tables
from trope.experiments.runs.recipes import ENCODERS, ranking, verdict
from trope.experiments.runs.tables import command, listed, made, points
from trope.wording import counted

Results = Mapping[str, Any]

BASES = {
    "mithun": "`mithun` takes the hardest negative and a margin of 0.2 as its authors do",
    "hal": "`hal` has a loss of its own",
    "pvse-neighborhoods-triplet": "`pvse-neighborhoods-triplet` has two more terms",
    "neighborhoods": "`neighborhoods` is the angular loss with such terms and one sense",
    "infonce": "`infonce` is the plain model that a user of CLIP-style training would take",
}
EVENLY = (
    " The papers' weights have a mean of λ/B, so that the triplet loss counts more beside PVSE's "
    "other terms: what is due to λ alone is told by `uniform-lambda`, with which recipes of the "
    "same λ are compared too."
)
MORE = "other seeds *and* other components"
ONE = "other components and this one seed: of other seeds nothing is known, and nothing is decided"
CHOSEN = (
    "\n- Epochs were chosen on the rows that are measured here: good for a choice among settings, "
    "too high as a figure of what a model does on other data."
)
AMRANI = (
    "- Amrani's weights are made after their description: the exact formula is not public. Their "
    "mean is below 1, so that the triplet loss counts less beside PVSE's other terms.\n"
)


def page(results: Results) -> str:
    """The page for the docs, from everything that `results.json` holds."""
    text = resources.files(__package__).joinpath("page.md").read_text(encoding="utf-8")
    settings = results["settings"]
    pairs = [pair for found in results["encoders"].values() for pair in found["comparisons"]]
    return text.format(
        **results,
        asked=_asked(results["data"], settings),
        made=made(results),
        command=command("complementary", results, plain(Complementary())),
        split=settings["split"],
        by=counted(results["seeds"], "seed"),
        held=MORE if results["seeds"] > 1 else ONE,
        by_chance=results["chance"]["image_to_text"],
        others=results["ways"] - 1,
        least=points(settings["least"]),
        comparisons=len(pairs),
        taken=_taken(settings["rows"], settings["text"]),
        changes=_changes(settings["sets"]),
        bases=_bases(settings["recipes"]),
        controls=_controls(settings["recipes"], settings["own"]),
        chosen=CHOSEN if settings["split"] == "val" else "",
        amrani=AMRANI if "amrani" in settings["recipes"] else "",
        own=_own(settings["own"]),
        shows=_shows(results),
        tables="\n".join(table.markdown() for table in tables(results)),
    )


def _asked(data: str, settings: Results) -> str:
    column = f" ({settings['text']})" if settings["text"] else ""
    return data + column + (", on validation" if settings["split"] == "val" else "")


def _bases(recipes: list[str]) -> str:
    """What the recipes that were run stand on."""
    told = [sentence for name, sentence in BASES.items() if name in recipes]
    both = " and ".join([", ".join(told[:-1]), told[-1]]) if len(told) > 1 else "".join(told)
    same = f"All weights stand on `{BASE}` (triplet loss) and are all that differs from it"
    return f"{same}; but {both}." if told else f"{same}."


def _controls(recipes: list[str], own: Results) -> str:
    """Those there are."""
    told = EVENLY if EVEN in recipes and set(SCALED) & set(recipes) else ""
    if any(name.endswith(PERMUTED) for name in own):
        told += (
            " What is due to who gets which weight is told by the same weights *permuted*: given "
            "to the pairs of a batch at random, anew in every epoch."
        )
    if any(name.endswith(SHUFFLED) for name in own):
        told += (
            " *Shuffled* weights are those of other pairs, the same in all epochs: as many pairs "
            "count less for good, only not those that the weight would choose."
        )
    if any(name.endswith(EVENED) for name in own):
        told += " *Even* weights are all the same, with the mean of those that they stand beside."
    return f"- **Controls.**{told}\n" if told else ""


def _taken(rows: int, text: str) -> str:
    told = f" Texts are those of the column `{text}`, and splits made for them." if text else ""
    return told + (f" Of the training rows {rows:,} were taken." if rows else "")


def _changes(sets: list[str]) -> str:
    return f" All runs had these changes: {listed(sets)}." if sets else ""


def _own(own: Mapping[str, list[str]]) -> str:
    if not own:
        return ""
    named = "; ".join(f"*{name}*: {listed(changes)}" for name, changes in own.items())
    return f"\n- **Beside the recipes.** Changes of `pvse`: {named}."


def _shows(results: Results) -> str:
    """Sentences that follow from the figures, whatever these are."""
    return "\n\n".join(
        f"**{ENCODERS[encoder]}**\n\n" + "\n".join(f"- {line}" for line in _lines(found))
        for encoder, found in results["encoders"].items()
    )


def _lines(found: Results) -> list[str]:
    pairs = found["comparisons"]
    return [
        f"Recall@1, mean of both ways: {ranking(found)}.",
        *(f"{verdict(pair)}." for pair in pairs),
        _counted(pairs),
    ]


def _counted(pairs: list[Results]) -> str:
    """How the verdicts are spread: what chance alone would bring is easily forgotten."""
    said = [pair["both"]["verdict"] for pair in pairs]
    counts = ", ".join(f"{said.count(name)} {name}" for name in dict.fromkeys(sorted(said)))
    return f"Of {len(pairs)} comparisons: {counts}."
