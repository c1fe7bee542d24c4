"""Folds: each is a gallery of its own, the results are their mean."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from evaluation_samples import plain_gallery, random_embedded

from trope.errors import UsageError
from trope.evaluation.embedded import Embedded
from trope.evaluation.folds import folds_of
from trope.evaluation.measuring import Plan, measure
from trope.evaluation.queries import write_queries
from trope.evaluation.relevance import Captions
from trope.evaluation.results import summarized
from trope.evaluation.selection import request
from trope.metrics.asp import Asp
from trope.metrics.rank import MeanRank, MedianRank
from trope.metrics.recall import Recall
from trope.metrics.tasks import TaskRank
from trope.views import Encoded

METRICS = (Recall((1, 5)), MedianRank(), MeanRank(), Asp())
COUNTS = [2, 1, 3, 1, 2, 2, 1, 1, 4, 1, 2]


def test_whole_folds_in_the_order_of_the_data() -> None:
    folds = folds_of(plain_gallery(COUNTS), 4)
    assert [fold.images.tolist() for fold in folds] == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert folds[0].texts.tolist() == list(range(7))
    assert folds[1].texts.tolist() == list(range(7, 13))
    (whole,) = folds_of(plain_gallery(COUNTS), 0)
    assert whole.whole
    assert len(whole.texts) == sum(COUNTS)


@pytest.mark.parametrize(("size", "said"), [(12, "only 11 pictures"), (1, "at least two")])
def test_folds_that_cannot_be_are_refused(size: int, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        folds_of(plain_gallery(COUNTS), size)


def test_results_are_the_mean_over_the_galleries_of_folds() -> None:
    embedded = random_embedded(0, COUNTS)
    found = measure(embedded, Plan(METRICS, ("cider",), folds=4))
    names = request(["recall@1", "recall@5", "median-rank", "mean-rank"])
    result = summarized([found], names)
    parts = [
        summarized([measure(embedded.take(images), Plan(METRICS[:3]))], names)
        for images in (np.arange(4), np.arange(4, 8))
    ]
    for side in ("image_to_text", "text_to_image"):
        for name, value in getattr(result, side).items():
            wanted = np.mean([getattr(part, side)[name].value for part in parts])
            assert value.value == pytest.approx(wanted), name
            assert value.low <= value.value <= value.high
    assert result.chance["image_to_text"]["recall@1"] == pytest.approx(
        np.mean([part.chance["image_to_text"]["recall@1"] for part in parts])
    )


def test_pictures_in_no_fold_are_asked_nothing() -> None:
    found = measure(random_embedded(0, COUNTS), Plan(METRICS, folds=4))
    assert found.folds is not None
    assert found.folds["image"].tolist() == [0] * 4 + [1] * 4 + [-1] * 3
    assert np.isnan(found.values["image_to_text"]["recall@1"][8:]).all()
    assert not np.isnan(found.values["image_to_text"]["recall@1"][:8]).any()


def test_folds_of_queries_count_from_one(tmp_path: Path) -> None:
    found = measure(random_embedded(0, COUNTS), Plan(METRICS, folds=4))
    write_queries(tmp_path / "q", {"run": found})
    folds = pq.read_table(tmp_path / "q")["fold"].to_pylist()
    assert folds[: len(COUNTS)] == [1] * 4 + [2] * 4 + [None] * 3


def test_random_draws_differ_between_folds_and_directions() -> None:
    """The same vectors in both folds, and on both sides."""
    made = random_embedded(0, [1] * 12)
    part = torch.nn.functional.normalize(made.image.mean[:6] + made.text.mean[:6], dim=1)
    noisy = torch.nn.functional.normalize(part + 0.8 * made.text.mean[6:], dim=1)
    sides = [Encoded(torch.cat([some, some])) for some in (part, noisy)]
    found = measure(Embedded(made.gallery, *sides), Plan((TaskRank((3,), draws=5),), folds=6))
    ranks = found.values["image_to_text"]["mean-rank/3-way"]
    assert not np.array_equal(ranks[:6], ranks[6:])


def test_words_are_weighted_by_the_whole_split() -> None:
    embedded = random_embedded(0, COUNTS)
    captions = Captions(embedded.gallery, ("cider",))
    rows = np.arange(4)
    texts = embedded.gallery.texts_of(rows)
    whole = captions.matrix("cider").rows(rows)[:, texts]
    np.testing.assert_array_equal(captions.graded("image", rows, texts)["cider"](rows), whole)
    turned = captions.graded("text", rows, texts)["cider"](np.arange(len(texts)))
    np.testing.assert_array_equal(turned, whole.T)
