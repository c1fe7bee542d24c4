"""What two answers to the same question do not have in common."""

from __future__ import annotations

from typing import Literal

from trope.web.answers import Answer, Comparison, Difference


def compared(left: Answer, right: Answer) -> Comparison:
    """Both answers, and for each item where it stands in them."""
    before = {hit.key: hit.rank for hit in left.hits}
    after = {hit.key: hit.rank for hit in right.hits}
    keys = dict.fromkeys([*before, *after])
    differences = tuple(
        Difference(key, before.get(key), after.get(key), change(before.get(key), after.get(key)))
        for key in keys
    )
    shared = sum(key in before and key in after for key in keys)
    return Comparison(left, right, differences, shared / len(keys) if keys else 1.0)


def change(
    left: int | None, right: int | None
) -> Literal["same", "up", "down", "only left", "only right"]:
    """How an item moved from the left answer to the right; up is nearer to the first."""
    if right is None:
        return "only left"
    if left is None:
        return "only right"
    return "same" if left == right else "up" if right < left else "down"
