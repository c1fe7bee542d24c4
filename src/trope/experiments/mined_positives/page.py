"""The page about mined positives: what was done, what the figures say, what they cannot say."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from typing import Any

from trope.experiments.mined_positives.figures import FEWEST, NAMES, TASKS, shown, tables
from trope.experiments.mined_positives.places import NEAR
from trope.experiments.mined_positives.scorers import LABELS

Results = Mapping[str, Any]


def page(results: Results) -> str:
    """The page for the docs, from everything that `results.json` holds."""
    text = resources.files(__package__).joinpath("page.md").read_text(encoding="utf-8")
    counts = {
        f"{task}_{what}": results["tasks"][task][f"{what}_other"]
        for task in TASKS
        for what in ("judged", "positive")
    }
    made = tables(results, results["settings"]["share"])
    return text.format(
        **counts,
        **results,
        fewest=FEWEST,
        near=NEAR,
        shows=_shows(results),
        tables="\n".join(table.markdown() for table in made),
        made="{date:.10}, {machine}, {commit}".format(**results["provenance"]),
    )


def _shows(results: Results) -> str:
    """Sentences that follow from the figures, whatever these are."""
    parts = [_task(title, results["tasks"][task]) for task, title in TASKS.items()]
    return "\n\n".join(parts)


def _task(title: str, task: Results) -> str:
    known = {m: found for m, found in task["measures"].items() if m != "chance"}
    correlated = {m: found["spearman_other"]["value"][0] for m, found in known.items()}
    lines = [f"Rank correlation on captions of other images: {_order(correlated)}."]
    halfway = {m: found["agreement_at_half"]["value"][0] for m, found in known.items()}
    lines.append(f"Agreement where half of the positives are found: {_order(halfway)}.")
    for k, place in shown(task).items():
        agreed = {m: found["agreement"]["value"][place] for m, found in known.items()}
        lines.append(f"Agreement at {k:,}: {_order(agreed)}.{_against(known, place)}")
    if LABELS in known:
        lines.append(_effort({m: found["needed"]["value"][0] for m, found in known.items()}))
    return f"**{title}**\n\n" + "\n".join(f"- {line}" for line in lines)


def _order(values: Mapping[str, float]) -> str:
    """Names and values, the best first."""
    ranked = sorted(values, key=lambda measure: -values[measure])
    return ", ".join(f"{NAMES[measure]} {values[measure]:.2f}" for measure in ranked)


def _against(known: Results, place: int) -> str:
    """Which measures do not lie above class labels, by the interval of the paired difference."""
    gains = {NAMES[m]: found["gain"] for m, found in known.items() if "gain" in found}
    below = [m for m, gain in gains.items() if gain["high"][place] < 0]
    unclear = [m for m, gain in gains.items() if gain["low"][place] <= 0 <= gain["high"][place]]
    told = f" Below class labels: {', '.join(below)}." if below else ""
    return told + (f" No clear difference from them: {', '.join(unclear)}." if unclear else "")


def _effort(needed: Mapping[str, float]) -> str:
    """How many times fewer pairs the measures of text need than class labels."""
    times = {m: needed[LABELS] / pairs for m, pairs in needed.items() if m != LABELS}
    ranked = sorted(times, key=lambda measure: -times[measure])
    fewer = ", ".join(f"{NAMES[measure]} {times[measure]:.1f}" for measure in ranked)
    return (
        f"To find the same share of people's positives, class labels must mine "
        f"{needed[LABELS] / 1e6:,.2f} million pairs; times fewer with: {fewer}."
    )
