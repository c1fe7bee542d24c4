"""Tables of what labels tell about runs: F1 of predictions, NDCG and mAP, and differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trope.experiments.runs.measure import LabelMeasure
from trope.experiments.runs.outcome import Outcome
from trope.experiments.runs.recipes import SAID
from trope.experiments.runs.summary import described, mean_of
from trope.experiments.runs.tables import cell, gap, points, spread
from trope.reports.tables import Table

Results = Mapping[str, Any]

WAYS = {"image_to_text": "image to text", "text_to_image": "text to image"}
MODALITIES = {"image": "images", "text": "texts"}


def figures(outcomes: Sequence[Outcome], measure: LabelMeasure) -> dict[str, Any]:
    """All figures of one variant."""
    names = [name for one in measure.passes for name in one.wanted]
    more = {name: mean_of(outcomes, name) for name in names if "." in name}
    return described(outcomes) | more


def predicted(found: Mapping[str, Results], title: str) -> Table:
    """F1 of both modalities."""
    rows = [
        [
            f"`{name}`",
            *(cell(known[side]) for side in MODALITIES),
            *(cell(known[f"macro.{side}"]) for side in MODALITIES),
            spread(known["within"]),
        ]
        for name, known in found.items()
    ]
    columns = ["recipe", "micro-F1 of images", "of texts", "macro-F1 of images", "of texts"]
    return Table(title, [*columns, "seeds differ by"], rows)


def retrieved(found: Mapping[str, Results], title: str, before: str, ndcg: str) -> Table:
    """NDCG and mAP of both directions."""
    rows = [
        [
            f"`{name}`",
            *(cell(known[f"{before}{way}"]) for way in WAYS),
            *(cell(known[f"{before}map.{way}"]) for way in WAYS),
        ]
        for name, known in found.items()
    ]
    columns = ["recipe", *(f"{ndcg}, {way}" for way in WAYS.values())]
    return Table(title, [*columns, *(f"mAP, {way}" for way in WAYS.values())], rows)


def differences(pairs: Sequence[Results], ndcg: str) -> Table:
    """Paired differences in points, of F1 and of NDCG; a verdict on the mean of each two."""
    sides = {"image": "F1 of images", "text": "of texts", "both": f"{ndcg}, mean of both"}
    rows = [
        [
            f"{pair['left']} − {pair['right']}",
            *(gap(pair[side]) for side in sides),
            points(pair["both"]["detectable"]),
            pair["within"]["verdict"],
            pair["both"]["verdict"],
        ]
        for pair in pairs
    ]
    more = ["detectable", "verdict on F1", "verdict on NDCG"]
    return Table("Paired differences, points", ["pair", *sides.values(), *more], rows)


def sentence(pair: Results, ndcg: str) -> str:
    """What a comparison says."""
    f1, found = pair["within"], pair["both"]
    return (
        f"`{pair['left']}` {SAID[f1['verdict']]} `{pair['right']}` by micro-F1 ({gap(f1)} points), "
        f"and {SAID[found['verdict']]} it by {ndcg} ({gap(found)} points)."
    )


def named(cut: int) -> str:
    """What NDCG is called."""
    return f"NDCG@{cut}" if cut else "NDCG"
