"""The page about measures of relevance: what was trained, what the figures say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import resources
from typing import Any

from trope.config import plain
from trope.experiments.daa import Measures
from trope.experiments.daa.figures import WAYS, tables, told
from trope.experiments.daa.measure import ASPS, METRICS, RECALL, named, own
from trope.experiments.daa.published import LOW, SETTING, gain_1
from trope.experiments.runs.tables import command, gap, listed, made, points
from trope.wording import counted

Results = Mapping[str, Any]

SMALL = 0.05  # points, below which the paper's tables show none

SMALL_SGR = (
    "- SGR is a small one on cells of a frozen backbone (`trope recipes` has `sgr-paper` for the "
    "paper's size): a model that finds less has other gains to make."
)
OTHER_MODELS = (
    "- The paper's model is SGR, of another size: what it gains is not said by other models."
)


def page(results: Results) -> str:
    """The page for the docs, from everything that `results.json` holds."""
    text = resources.files(__package__).joinpath("page.md").read_text(encoding="utf-8")
    low = results["low"]
    return text.format(
        **{key: value for key, value in results.items() if key not in ("settings", "low")},
        **shared(results),
        command=command("daa", results, plain(Measures())),
        shows="\n".join(f"- {line}" for line in (*_summary(results), *_lines(results))),
        low_daa=points(low["cider-daa"]),
        low_cider=points(low["cider"]),
        low_without=points(low["without itself"]),
        low_paper=points(LOW),
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
        "limits": SMALL_SGR if settings["models"] == ["sgr"] else OTHER_MODELS,
        "by_seeds": f"by {counted(results['seeds'], 'seed')}",
        "held": "other seeds and other pictures" if results["seeds"] > 1 else "other pictures",
        "asp_chance": _chance(results["chance"]),
        "recipes": ", ".join(f"`{model}-daa`" for model in settings["models"]),
    }


def _chance(chance: Mapping[str, float]) -> str:
    """What ASP is by chance: a little above a half, the more the smaller the gallery."""
    some = next(iter(ASPS))  # by relevance of any kind it is the same
    return " and ".join(
        f"{100 * chance[named(way, some)]:.1f} {words}" for way, words in WAYS.items()
    )


def _summary(results: Results) -> Iterator[str]:
    """How many gains are above or below none, over all models, measures and directions."""
    gained = [
        (kind, gains[way])
        for found in results["models"].values()
        for kind, gains in found["gains"].items()
        for way in WAYS
    ]
    both = {
        "Recall@1": [known[RECALL] for _, known in gained],
        "the ASP of its own measure": [known[own(kind)] for kind, known in gained],
    }
    for name, known in both.items():
        above = sum(one["low"] is not None and one["low"] > 0 for one in known)
        below = sum(one["high"] is not None and one["high"] < 0 for one in known)
        yield (
            f"**On {name}** DAA gains in {above} of {len(known)} cases, loses in {below}, and in "
            f"{len(known) - above - below} the interval has both."
        )


def _lines(results: Results) -> Iterator[str]:
    """For each model and measure: the gain on Recall@1 and on its own ASP, beside the paper's."""
    for model, found in results["models"].items():
        for kind, gains in found["gains"].items():
            for side, (way, words) in enumerate(WAYS.items()):
                known = gains[way]
                said = [
                    f"{name} {gap(known[metric])}{_beside(known[metric], kind, side, metric)}"
                    for name, metric in (("R@1", RECALL), ("its own ASP", own(kind)))
                ]
                yield f"`{model}` {told(kind)}, {words}: {'; '.join(said)}."


def _beside(gain: Results, kind: str, side: int, metric: str) -> str:
    """The paper's gain, and whether ours points the same way."""
    paper = gain_1(kind, side, list(METRICS).index(metric))
    return "" if paper is None else f", the paper {paper:+.1f}: {way_of(gain, paper)}"


def way_of(known: Results, paper: float) -> str:
    """Whether a difference points the way the paper's does, as far as that can be told."""
    if abs(paper) < SMALL:
        return "no difference there"
    if abs(100 * known["difference"]) < SMALL:
        return "no difference here"
    way = "the same way" if known["difference"] * paper > 0 else "the other way"
    if known["low"] is None:
        return f"{way} by one seed, which says little"
    return f"{way}, but not told from none" if known["low"] <= 0 <= known["high"] else way
