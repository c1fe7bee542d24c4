"""Results: averages of runs, sums of directions, comparisons, files of queries."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from evaluation_samples import random_embedded

from trope.errors import UsageError
from trope.evaluation.embedded import Embedded
from trope.evaluation.measuring import Measurements, Plan, measure, preserved, refuse_tiny
from trope.evaluation.queries import write_queries
from trope.evaluation.results import _scale, compared, summarized
from trope.evaluation.selection import request
from trope.metrics.neighborhood import preservation
from trope.metrics.rank import MeanRank, MedianRank
from trope.metrics.recall import Recall
from trope.views import Encoded

NAMES = ["recall@1", "recall@5", "recall@10", "mean-rank", "median-rank", "rsum"]
PLAN = Plan((Recall((1, 5, 10)), MeanRank(), MedianRank()))


def measurements(seed: int, share: float = 0.0, images: int = 30) -> Measurements:
    """Texts that lie near their picture by some share."""
    made = random_embedded(seed, [2] * images)
    own = made.image.mean[torch.from_numpy(made.gallery.owners)]
    text = torch.nn.functional.normalize(share * own + (1 - share) * made.text.mean, dim=1)
    return measure(Embedded(made.gallery, made.image, Encoded(text)), PLAN)


def test_means_medians_and_their_intervals() -> None:
    found = measurements(0)
    result = summarized([found], request(NAMES))
    values = found.values["text_to_image"]
    assert result.text_to_image["recall@5"].value == pytest.approx(values["recall@5"].mean())
    assert result.text_to_image["median-rank"].value == np.median(values["median-rank"])
    assert (result.images, result.texts, result.components) == (30, 60, 15)
    for side in (result.image_to_text, result.text_to_image, result.both):
        for value in side.values():
            assert value.low <= value.value <= value.high


def test_the_sum_of_recalls_of_both_directions() -> None:
    result = summarized([measurements(0)], request(NAMES))
    sides = (result.image_to_text, result.text_to_image)
    total = sum(side[f"recall@{k}"].value for side in sides for k in (1, 5, 10))
    assert result.both["rsum"].value == pytest.approx(total)
    assert "rsum" not in summarized([measurements(0)], request(["recall@1"])).both


def test_a_gallery_too_small_for_a_sum_has_none() -> None:
    found = measurements(0, images=6)
    assert summarized([found], request(NAMES)).both == {}


def test_few_components_are_told() -> None:
    assert summarized([measurements(0)], request(NAMES)).remarks == ()
    few = summarized([measurements(0, images=6)], request(NAMES))
    assert few.remarks == ("3 components alone: intervals are rough",)
    one = summarized([measurements(0, images=2)], request(NAMES))
    assert "one component alone" in one.remarks[0]


def test_several_runs_are_averaged() -> None:
    runs = [measurements(seed) for seed in (1, 2, 3)]
    both = summarized(runs, request(NAMES))
    each = [summarized([run], request(NAMES)).image_to_text["recall@5"].value for run in runs]
    assert both.image_to_text["recall@5"].value == pytest.approx(np.mean(each))


def test_a_better_run_is_better_in_every_sense() -> None:
    good, bad = measurements(0, 0.6), measurements(0)
    found = compared([good], [bad], request(NAMES))
    for side in ("image_to_text", "text_to_image"):
        assert found[side]["median-rank"].difference < 0
        assert found[side]["recall@5"].difference > 0
        assert found[side]["mean-rank"].difference < 0
        assert {one.verdict for one in found[side].values()} == {"better"}
        assert found[side]["recall@5"].clusters == 15
    turned = compared([bad], [good], request(NAMES))
    assert {one.verdict for one in turned["image_to_text"].values()} == {"worse"}
    same = compared([good], [good], request(NAMES))
    assert {one.verdict for one in same["image_to_text"].values()} == {"equal"}


def test_other_queries_are_not_compared() -> None:
    with pytest.raises(UsageError, match="asked other queries"):
        compared([measurements(0)], [measurements(0, images=20)], request(NAMES))


def test_the_document_is_plain() -> None:
    document = summarized([measurements(0)], request(NAMES)).document()
    assert set(document["image_to_text"]["recall@1"]) == {"value", "low", "high"}
    assert document["both"].keys() == {"rsum"}
    assert document["chance"]["image_to_text"]["recall@1"] == pytest.approx(2 / 60)
    assert (document["image"], document["text"]) == ({}, {})


def test_one_picture_alone_is_refused() -> None:
    with pytest.raises(Exception, match="one picture alone"):
        refuse_tiny(random_embedded(0, [3]).gallery, "split 'test'")


def test_preservation_of_pictures_and_texts() -> None:
    made = random_embedded(0, [2] * 10)
    random = np.random.default_rng(1)
    meaning = random.normal(size=(20, 5)).astype(np.float32)
    kept = preserved(made, meaning, [3])
    values, chance = kept.values, kept.chance
    assert kept.near == {}
    assert preserved(made, meaning, [None]).near == {"image": 1, "text": 1}
    pictures = meaning.reshape(10, 2, 5).mean(axis=1)
    wanted = preservation(pictures, made.image, [], 3)
    np.testing.assert_allclose(values["image"]["preservation@3"], wanted.values)
    texts = preservation(meaning, made.text, [made.gallery.owners], 3)
    np.testing.assert_allclose(values["text"]["preservation@3"], texts.values)
    assert chance["image"]["preservation@3"] == pytest.approx(3 / 9)
    assert chance["text"]["preservation@3"] == pytest.approx(3 / 18)
    unit = torch.nn.functional.normalize(torch.from_numpy(meaning), dim=1)
    same = Embedded(made.gallery, made.image, Encoded(unit))
    best = preserved(same, unit.numpy(), [3]).values["text"]["preservation@3"]
    assert best.mean() == 1


def test_every_query_in_a_file(tmp_path: Path) -> None:
    found = measurements(0)
    path = tmp_path / "queries.parquet"
    write_queries(path, {"run": found})
    table = pq.read_table(path).to_pylist()
    assert len(table) == 90
    texts = [row for row in table if row["direction"] == "text_to_image"]
    assert [row["query"] for row in texts[:4]] == ["r0", "r0", "r1", "r1"]
    assert [row["text"] for row in texts[:4]] == [1, 2, 1, 2]
    assert [row["cluster"] for row in texts[:6]] == [0, 0, 0, 0, 1, 1]
    ranks = found.values["text_to_image"]["mean-rank"]
    np.testing.assert_array_equal([row["rank"] for row in texts], ranks)
    hits = found.values["text_to_image"]["recall@5"]
    np.testing.assert_array_equal([row["recall@5"] for row in texts], hits)
    assert table[0]["text"] is None
    write_queries(path, {"run": found, "other": measurements(1)})  # its own it may write over
    assert pq.read_metadata(path).num_rows == 180


@pytest.mark.parametrize("name", ["notes.txt", "table.parquet", "folder"])
def test_nothing_else_is_written_over(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name == "folder":
        path.mkdir()
    elif name == "notes.txt":
        path.write_text("dear to me")
    else:
        pq.write_table(pa.table({"a": [1]}), path)
    before = path.read_bytes() if path.is_file() else b""
    with pytest.raises(UsageError, match="is no file of queries"):
        write_queries(path, {"run": measurements(0)})
    assert not path.is_file() or path.read_bytes() == before


def test_the_median_of_several_runs_is_the_mean_of_their_medians() -> None:
    runs = [measurements(seed, share) for seed, share in ((1, 0.0), (2, 0.3), (3, 0.6))]
    both = summarized(runs, request(NAMES)).image_to_text["median-rank"]
    each = [np.median(run.values["image_to_text"]["median-rank"]) for run in runs]
    pooled = np.mean([run.values["image_to_text"]["median-rank"] for run in runs], axis=0)
    assert both.value == pytest.approx(np.mean(each))
    assert both.value != pytest.approx(np.median(pooled))
    assert 1 <= both.low < both.value < both.high <= 60


def test_intervals_of_several_runs_cover_chance_between_them() -> None:
    apart = [measurements(seed, share) for seed, share in ((1, 0.0), (1, 0.3), (1, 0.6))]
    alike = [apart[1]] * 3
    wide, narrow = (
        summarized(runs, request(NAMES)).text_to_image["recall@5"] for runs in (apart, alike)
    )
    assert wide.high - wide.low > 1.5 * (narrow.high - narrow.low)
    assert 0 <= wide.low < wide.high <= 1


def test_with_folds_the_difference_is_that_of_the_table() -> None:
    """Folds weigh the same, whatever the number of their queries."""
    counts = [1] * 6 + [5] * 6 + [2] * 4
    good, bad = (
        measure(random_embedded(seed, counts), Plan(PLAN.metrics, folds=6)) for seed in (0, 1)
    )
    found = compared([good], [bad], request(NAMES))
    left, right = (summarized([one], request(NAMES)) for one in (good, bad))
    for side in ("image_to_text", "text_to_image"):
        assert found[side].keys() == getattr(left, side).keys()
        for name, one in found[side].items():
            gap = getattr(left, side)[name].value - getattr(right, side)[name].value
            assert one.difference == pytest.approx(gap), name
    pooled = [np.nanmean(run.values["text_to_image"]["mean-rank"]) for run in (good, bad)]
    assert found["text_to_image"]["mean-rank"].difference != pytest.approx(pooled[0] - pooled[1])


def test_ranks_of_folds_are_equal_within_a_hundredth_of_a_fold() -> None:
    found = measure(random_embedded(0, [1] * 40), Plan(PLAN.metrics, folds=10))
    assert _scale(found, "image_to_text", "mean-rank") == 10
    assert _scale(measurements(0), "image_to_text", "mean-rank") == 60
    assert _scale(found, "text_to_image", "mean-rank/5-way") == 5


def test_sums_of_both_directions_are_compared() -> None:
    good, bad = measurements(0, 0.6), measurements(0)
    found = compared([good], [bad], request(NAMES))["both"]["rsum"]
    sums = [summarized([one], request(NAMES)).both["rsum"].value for one in (good, bad)]
    assert found.difference == pytest.approx(sums[0] - sums[1])
    assert found.verdict == "better"
    assert "both" not in compared([good], [bad], request(["recall@1"]))


def test_the_margin_of_equality_can_be_set() -> None:
    good, other = measurements(0, 0.6), measurements(0, 0.61)
    strict, broad = (
        compared([good], [other], request(NAMES), margin)["image_to_text"]["recall@5"].verdict
        for margin in (0.0001, 0.5)
    )
    assert (strict, broad) == ("undecided", "equal")


def test_preservation_stands_beside_the_queries_of_its_modality(tmp_path: Path) -> None:
    made = random_embedded(0, [2] * 10)
    kept = preserved(made, np.random.default_rng(1).normal(size=(20, 5)).astype(np.float32), [3])
    found = measure(made, PLAN)
    write_queries(tmp_path / "q", {"run": replace(found, values=found.values | kept.values)})
    table = pq.read_table(tmp_path / "q")
    assert "mean-rank" not in table.column_names
    rows = table.to_pylist()
    for direction, side in (("image_to_text", "image"), ("text_to_image", "text")):
        values = [row["preservation@3"] for row in rows if row["direction"] == direction]
        np.testing.assert_array_equal(values, kept.values[side]["preservation@3"])
