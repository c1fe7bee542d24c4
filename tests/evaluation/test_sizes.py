"""Sizes that do not fit a gallery: refused where they are named, else left out and told."""

from __future__ import annotations

import pytest
from evaluation_samples import plain_gallery

from trope.errors import UsageError
from trope.evaluation.folds import folds_of
from trope.evaluation.selection import request
from trope.evaluation.settings import EvaluationSettings
from trope.evaluation.sizes import Room, refuse_oversized, rooms_of, too_small_for

PLAIN = EvaluationSettings()
ROOMS = [Room("image to text", 6, 3), Room("text to image", 3, 2)]


def test_the_room_of_both_directions() -> None:
    assert rooms_of(folds_of(plain_gallery([2, 3, 1]), 0)) == ROOMS
    folds = rooms_of(folds_of(plain_gallery([2, 1, 1, 3]), 2))
    assert folds == [Room("image to text", 3, 1), Room("text to image", 2, 1)]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("recall@1/5-way", "text to image, a query has only 2 wrong items; the largest task is 3"),
        ("mean-rank/4-way", "text to image, a query has only 2 wrong items; the largest task is 3"),
        ("recall@6", "there are only 3 items; the largest is recall@2"),
    ],
)
def test_what_is_named_and_does_not_fit_is_refused(name: str, said: str) -> None:
    with pytest.raises(UsageError, match=f"--metrics {name}: the gallery is too small: .*{said}"):
        refuse_oversized(ROOMS, request([name]), PLAIN)


def test_sizes_of_tasks_must_fit_too() -> None:
    settings = EvaluationSettings(ways=(3, 4))
    with pytest.raises(UsageError, match=r"--ways 4: .*text to image.* largest task is 3-way"):
        refuse_oversized(ROOMS, request(["recall/c-way"]), settings)
    refuse_oversized(ROOMS, request(["recall/c-way", "recall@2/3-way", "recall@5"]), PLAIN)


def test_what_is_left_out_is_told_with_its_direction() -> None:
    assert too_small_for(ROOMS, request(["recall", "recall/c-way"]), PLAIN) == (
        "left out, the gallery is too small: recall@5 (text to image), recall@10, recall@50, "
        "recall@1/5-way, recall@1/20-way, recall@1/100-way"
    )
    assert too_small_for(ROOMS, request(["recall@4"]), PLAIN).endswith("recall@4 (text to image)")
    assert too_small_for(ROOMS, request(["recall@2", "map"]), PLAIN) == ""
