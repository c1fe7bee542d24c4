"""Results of an evaluation for people: tables that fit a terminal."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from trope.cli.output import say, table
from trope.wording import counted

if TYPE_CHECKING:
    from trope.evaluation.contest import Contest, Rivals
    from trope.evaluation.intervals import Result
    from trope.evaluation.results import Evaluation

DIRECTIONS = {"image_to_text": "image to text", "text_to_image": "text to image"}
MODALITIES = {"image": "images", "text": "texts"}
FEW = 10  # components


def show(found: Contest) -> None:
    """What was evaluated, its numbers beside those of chance, and comparisons."""
    result = found.evaluation
    where = f" on {found.split} of {found.data}" if found.data else ""
    say(f"{', '.join(found.names)}{where}", style="bold")
    counts = {"image": result.images, "text": result.texts, "component": result.components}
    for line in (", ".join(counted(n, noun) for noun, n in counts.items()), *result.told):
        say(line)
    _sides(result, DIRECTIONS)
    _sides(result, MODALITIES)
    for name, value in result.both.items():
        say(f"{name} of both directions: {shown(value)}")
    for rivals in found.rivals:
        _compared(found, rivals)


def _sides(result: Evaluation, sides: Mapping[str, str]) -> None:
    """A table of two sides, each with its column of chance."""
    found = {side: getattr(result, side) for side in sides}
    names = list(dict.fromkeys(name for results in found.values() for name in results))
    if not names:
        return
    columns = [""]
    for title in sides.values():
        columns += [title, "chance"]
    rows: list[Sequence[object]] = []
    for name in names:
        row: list[object] = [name]
        for side, results in found.items():
            chance = result.chance.get(side, {}).get(name)
            row += [shown(results[name]) if name in results else "", number(chance)]
        rows.append(row)
    table("", columns, rows)


def _compared(found: Contest, rivals: Rivals) -> None:
    say(f"{', '.join(found.names)} minus {', '.join(rivals.names)}", style="bold")
    components = found.evaluation.components
    if components < FEW:
        say(f"{counted(components, 'component')} alone: hardly enough to decide anything")
    for side, title in (DIRECTIONS | MODALITIES | {"both": "both directions"}).items():
        rows = [
            [
                name,
                number(one.difference, signed=True),
                f"{number(one.low, signed=True)} to {number(one.high, signed=True)}",
                number(one.detectable),
                one.verdict,
            ]
            for name, one in rivals.differences.get(side, {}).items()
        ]
        if rows:
            table("", [title, "difference", "95 % interval", "detectable", ""], rows)


def shown(result: Result) -> str:
    """An estimate with its interval."""
    return f"{number(result.value)} ({number(result.low)}–{number(result.high)})"


def number(value: float | None, signed: bool = False) -> str:
    """Three decimals for shares, fewer for ranks."""
    if value is None or math.isnan(value):
        return ""
    if math.isinf(value):
        return "?"
    form = ".3f" if abs(value) < 10 else ".1f" if abs(value) < 1_000 else ",.0f"
    return f"{value:+{form}}" if signed else f"{value:{form}}"
