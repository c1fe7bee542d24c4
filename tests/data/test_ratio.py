"""Shares of the training data: nested, by captions or by pairs, other splits untouched."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import orjson
import pytest

import trope
from trope.data.ratio import training_ratio
from trope.errors import DataError


def dataset(folder: Path, texts: int, rows: int = 50) -> trope.Pairs:
    lines = [
        orjson.dumps(
            {
                "id": str(i),
                "image": f"{i}.jpg",
                "texts": [f"text {i} {k}" for k in range(texts)],
                "split": "train" if i % 5 else "test",
            }
        )
        for i in range(rows)
    ]
    (folder / "pairs.jsonl").write_bytes(b"\n".join(lines))
    return trope.open(folder)


@pytest.mark.parametrize("ratio", [0.2, 0.4, 0.6, 0.8, 1.0])
def test_several_captions_lose_captions_not_images(tmp_path: Path, ratio: float) -> None:
    kept = training_ratio(dataset(tmp_path, texts=5), ratio)
    assert len(kept) == 50
    for pair in kept:
        assert len(pair.texts) == (round(5 * ratio) if pair.split == "train" else 5)
        assert all(text.startswith(f"text {pair.id} ") for text in pair.texts)


@pytest.mark.parametrize("ratio", [0.2, 0.6, 1.0])
def test_single_captions_lose_pairs(tmp_path: Path, ratio: float) -> None:
    kept = training_ratio(dataset(tmp_path, texts=1), ratio)
    assert len(kept.in_split("train")) == round(40 * ratio)
    assert len(kept.in_split("test")) == 10


@pytest.mark.parametrize("texts", [1, 5])
def test_a_smaller_share_is_part_of_a_larger_one(tmp_path: Path, texts: int) -> None:
    pairs = dataset(tmp_path, texts)
    shares = [
        {text for pair in training_ratio(pairs, ratio, seed=7) for text in pair.texts}
        for ratio in (0.2, 0.4, 0.6, 0.8, 1.0)
    ]
    assert all(small < large for small, large in pairwise(shares))


def test_rows_that_share_an_image_count_as_its_captions(tmp_path: Path) -> None:
    rows = [
        {"id": f"{i}-{k}", "image": f"{i}.jpg", "text": f"{i} {k}", "split": "train"}
        for i in range(10)
        for k in range(5)
    ]
    (tmp_path / "pairs.jsonl").write_bytes(b"\n".join(map(orjson.dumps, rows)))
    kept = training_ratio(trope.open(tmp_path), 0.4)
    assert len(kept) == 20
    assert {pair.image for pair in kept} == {f"{i}.jpg" for i in range(10)}


@pytest.mark.parametrize("ratio", [0.6, 0.7, 0.8, 0.9])
def test_shares_that_are_no_whole_captions_are_met_on_average(tmp_path: Path, ratio: float) -> None:
    pairs = dataset(tmp_path, texts=2, rows=2_000)
    kept = training_ratio(pairs, ratio).in_split("train").text_counts.sum()
    assert kept / pairs.in_split("train").text_counts.sum() == pytest.approx(ratio, abs=0.02)


def test_without_training_rows_there_is_nothing_to_share(tmp_path: Path) -> None:
    pairs = dataset(tmp_path, texts=1).in_split("test")
    with pytest.raises(DataError, match="no row is in train"):
        training_ratio(pairs, 0.5)


@pytest.mark.parametrize("ratio", [0.0, -1.0, 1.5])
def test_a_ratio_outside_its_range_is_refused(tmp_path: Path, ratio: float) -> None:
    with pytest.raises(ValueError, match="ratio"):
        training_ratio(dataset(tmp_path, 1), ratio)
