"""Whether data can be asked these questions, before anything is trained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from trope.data.pairs import Pairs
from trope.data.ratio import has_several_texts
from trope.data.readers import open as open_pairs
from trope.errors import UsageError, suggestion
from trope.experiments.runs import Variant
from trope.experiments.runs.room import refuse_small
from trope.training import recipe_names

OFF = 0.02  # by which the share of captions may differ from the one that is asked for
ENDING = "-daa"


def refuse_unready(data: Path, variants: Sequence[Variant], folds: int) -> None:
    """Refuse one text an image, shares that cannot be had, and folds larger than the test split."""
    pairs, first = open_pairs(data), variants[0]
    whole = replace(first, share=1.0).taken(pairs)
    if not has_several_texts(whole):
        raise UsageError(f"{data}: most training images have one text; this needs several an image")
    for variant in {one.share: one for one in variants}.values():
        _refuse_share(variant, pairs, _texts(whole))
    refuse_small(data, first, "test", 0, folds)


def refuse_models(models: Sequence[str]) -> None:
    """Refuse what is no recipe with DAA, less that ending."""
    known = sorted(name.removesuffix(ENDING) for name in recipe_names() if name.endswith(ENDING))
    for model in models:
        if model not in known:
            there = f"there is {', '.join(known)}"
            raise UsageError(f"models: no model '{model}'{suggestion(model, known)}; {there}")


def _refuse_share(variant: Variant, pairs: Pairs, whole: int) -> None:
    if variant.share == 1:
        return
    real = _texts(variant.taken(pairs)) / whole
    if abs(real - variant.share) > OFF:
        raise UsageError(
            f"ratios: {variant.share:g} of the training texts cannot be had, as every image keeps "
            f"at least one: the nearest is {real:.3g}"
        )


def _texts(pairs: Pairs) -> int:
    """The number of training texts."""
    return int(pairs.in_split("train").text_counts.sum())
