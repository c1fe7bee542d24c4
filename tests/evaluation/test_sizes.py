"""Sizes that do not fit a gallery: refused where they are named, else left out and told."""

from __future__ import annotations

import pytest
from evaluation_samples import plain_gallery

from trope.errors import UsageError
from trope.evaluation.folds import folds_of
from trope.evaluation.selection import request
from trope.evaluation.settings import EvaluationSettings
from trope.evaluation.sizes import (
    Neighborhood,
    Ranking,
    Room,
    refuse_oversized,
    rooms_of,
    too_small_for,
    ways_of,
)

PLAIN = EvaluationSettings()
ROOMS: list[Room] = [
    Ranking("image to text", 6, 3),
    Ranking("text to image", 3, 2),
    Neighborhood("images", 2),
    Neighborhood("texts", 3),
]


def rooms(counts: list[int], size: int = 0) -> list[Room]:
    gallery = plain_gallery(counts)
    return rooms_of(gallery, folds_of(gallery, size))


def test_the_room_of_both_directions() -> None:
    assert rooms([2, 3, 1]) == ROOMS
    folds = rooms([2, 1, 1, 3], 2)
    assert folds[:2] == [Ranking("image to text", 3, 1), Ranking("text to image", 2, 1)]
    assert folds[2:] == [Neighborhood("images", 3), Neighborhood("texts", 4)]  # never in folds


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("recall@1/5-way", "text to image, a query has only 2 wrong items; the largest task is 3"),
        ("mean-rank/4-way", "text to image, a query has only 2 wrong items; the largest task is 3"),
        ("recall@6", "there are only 3 items; the largest is recall@2"),
        ("ndcg@9", "there are only 3 items; the largest is ndcg@2"),
        ("gain@200/bleu", "there are only 3 items; the largest is gain@2/bleu"),
        ("preservation@3", "images, there are only 2 others; the largest is preservation@1"),
    ],
)
def test_what_is_named_and_does_not_fit_is_refused(name: str, said: str) -> None:
    with pytest.raises(UsageError, match=f"--metrics {name}: the gallery is too small: .*{said}"):
        refuse_oversized(ROOMS, request([name]), PLAIN)


def test_sizes_of_tasks_must_fit_too_and_the_smaller_direction_is_told() -> None:
    """At once: 4-way would fit image to text, and be refused next for the other."""
    for ways in ((3, 4), (5,)):
        settings = EvaluationSettings(ways=ways)
        with pytest.raises(UsageError, match=r"--ways .: .*text to image.* largest task is 3-way"):
            refuse_oversized(ROOMS, request(["recall/c-way"]), settings)
    refuse_oversized(ROOMS, request(["recall/c-way", "recall@2/3-way", "recall@5"]), PLAIN)


def test_neighborhoods_of_all_others_are_refused() -> None:
    settings = EvaluationSettings(neighbors=1_000_000)
    with pytest.raises(UsageError, match=r"--set neighbors=1000000: .*the largest is preserv.*@1$"):
        refuse_oversized(ROOMS, request(["preservation"]), settings)
    one_side = EvaluationSettings(neighbors=2)
    refuse_oversized(ROOMS, request(["preservation"]), one_side)
    assert too_small_for(ROOMS, request(["preservation"]), one_side).endswith(
        "too small: preservation@2 (images)"
    )


def test_what_is_left_out_is_told_with_its_direction() -> None:
    names = [f"recall@{k}/{c}-way" for c in (5, 20, 100) for k in (1, 3)]
    assert too_small_for(ROOMS, request(["recall", "recall/c-way"]), PLAIN) == (
        "left out, the gallery is too small: recall@5 (text to image); "
        f"recall@10, recall@50, {', '.join(names)} (both directions)"
    )
    assert too_small_for(ROOMS, request(["mean-rank/c-way"]), PLAIN).endswith(
        "mean-rank/5-way, mean-rank/20-way, mean-rank/100-way (both directions)"
    )
    for name in ("recall@4", "ndcg@5", "gain@4/cider"):
        told = too_small_for(ROOMS, request([name]), PLAIN)
        assert told.endswith(f"too small: {name} (text to image)")
    assert "ndcg@500 (both directions)" in too_small_for(ROOMS, request(["ndcg"]), PLAIN)
    assert "recall@10 (both directions)" in too_small_for(ROOMS, request(["rsum"]), PLAIN)
    assert too_small_for(ROOMS, request(["recall@2", "map"]), PLAIN) == ""


def test_the_sizes_of_tasks_that_were_measured() -> None:
    assert ways_of(["recall@1/20-way", "mean-rank/5-way", "recall@3/5-way", "recall@9"]) == [5, 20]
