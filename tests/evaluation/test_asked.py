"""Several sides are averaged and compared query by query: they must have been asked the same."""

from __future__ import annotations

from dataclasses import replace

import pytest
from evaluation_samples import random_embedded

from trope.errors import UsageError
from trope.evaluation.answers import Answers
from trope.evaluation.asked import refuse_other_queries
from trope.evaluation.gallery import Gallery
from trope.evaluation.job import evaluated
from trope.evaluation.measuring import Plan, measure
from trope.evaluation.selection import request
from trope.metrics.recall import Recall


def answered(seed: int, images: int = 6) -> Answers:
    found = measure(random_embedded(seed, [2] * images), Plan((Recall((1,)),)))
    return Answers(found, request(["recall@1"]))


def told(ours: Gallery, theirs: Gallery) -> str:
    with pytest.raises(UsageError) as error:
        refuse_other_queries({"one": ours, "two": theirs})
    return str(error.value)


def test_runs_on_the_same_queries_are_averaged() -> None:
    one, two = answered(0), answered(1)
    both = evaluated({"a": one, "b": two}).image_to_text["recall@1"].value
    each = [evaluated({"a": run}).image_to_text["recall@1"].value for run in (one, two)]
    assert both == pytest.approx(sum(each) / 2)


def test_runs_on_other_queries_are_not() -> None:
    with pytest.raises(UsageError, match=r"a and b were asked other queries .6 images and 12"):
        evaluated({"a": answered(0), "b": answered(1, images=7)})


def test_what_differs_is_named() -> None:
    ours = random_embedded(0, [2] * 3).gallery
    assert "3 images and 6 texts against 4" in told(ours, random_embedded(0, [2] * 4).gallery)
    assert "row 'r1' against row 'x'" in told(ours, replace(ours, ids=["r0", "x", "r2"]))
    words = [*ours.words[:-1], "something else"]
    assert "row 'r2' has another text" in told(ours, replace(ours, words=words))
    assert "other pictures" in told(ours, replace(ours, starts=ours.starts[[0, 2, 1, 3]]))
    refuse_other_queries({"one": ours, "two": replace(ours, words=())})


def test_a_run_without_a_space_leaves_preservation_out_of_the_mean() -> None:
    one, two = answered(0), answered(1)
    values = one.measurements.values
    more = replace(one.measurements, values=values | {"image": values["image_to_text"]})
    assert evaluated({"a": replace(one, measurements=more), "b": two}).image == {}
