"""The page over several data sets: what was asked of each, and what they say together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from importlib import resources
from typing import Any

from trope.experiments.complementary import BASE, CLAIMED
from trope.experiments.complementary_overview.figures import Pair, is_control, tables
from trope.wording import counted

Results = Mapping[str, Any]


def page(results: Results) -> str:
    """The page for the docs, from everything that `results.json` holds."""
    text = resources.files(__package__).joinpath("page.md").read_text(encoding="utf-8")
    columns = results["columns"]
    return text.format(
        made="{date:.10}, {commit}".format(**results["provenance"]),
        base=BASE,
        data="\n".join(_about(name, found) for name, found in columns.items()),
        gains=_counted(columns, lambda pair: pair[1] == BASE),
        controls=_counted(columns, is_control),
        claims="\n".join(f"- {_claim(columns, pair)}" for pair in CLAIMED),
        tables="\n".join(table.markdown() for table in tables(results)),
    )


def _about(name: str, found: Results) -> str:
    pictures, texts = counted(found["images"], "picture"), counted(found["texts"], "text")
    rows, column = found["settings"]["rows"], found["settings"]["text"]
    taken = f", {rows:,} training rows" if rows else ""
    taken += f", texts of the column `{column}`" if column else ""
    return (
        f"- **{name}**: {found['ways']}-way (chance {found['chance']['image_to_text']:g}), "
        f"{pictures} and {texts} of {found['clusters']:,} components asked about, "
        f"{counted(found['seeds'], 'seed')}{taken}; trained by {', '.join(found['commits'])}."
    )


def _counted(columns: Results, chosen: Any) -> str:
    """How verdicts are spread over all data sets."""
    said = Counter(
        pair["both"]["verdict"]
        for found in columns.values()
        for pair in found["comparisons"]
        if chosen((pair["left"], pair["right"]))
    )
    return ", ".join(f"{said[name]} {name}" for name in sorted(said)) or "none made"


def _claim(columns: Results, pair: Pair) -> str:
    """On which data a claimed order holds, and on which it does not."""
    told = [
        f"{name} {known['both']['verdict']} ({100 * known['both']['difference']:+.1f})"
        for name, found in columns.items()
        for known in found["comparisons"]
        if (known["left"], known["right"]) == pair
    ]
    return f"`{pair[0]}` before `{pair[1]}`: {'; '.join(told) or 'not measured'}."
