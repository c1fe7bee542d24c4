"""Statistics equal plain counting; the vocabulary is the training split's."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

import trope
from trope.data.statistics import describe

ROWS = [
    {"image": "a.jpg", "text": "One two two", "labels": ["x", "y"], "split": "train"},
    {"image": "a.jpg", "text": "two three", "group": "g", "split": "train"},
    {"image": "b.jpg", "texts": ["two four", "five five five one"], "split": "test"},
    {"text": "no split at all", "labels": ["z"]},
]


@pytest.fixture
def pairs(tmp_path: Path) -> trope.Pairs:
    (tmp_path / "pairs.jsonl").write_bytes(b"\n".join(map(orjson.dumps, ROWS)))
    return trope.open(tmp_path)


def test_counts(pairs: trope.Pairs) -> None:
    found = describe(pairs)
    assert (found.rows, found.images, found.texts, found.labels, found.groups) == (4, 2, 5, 3, 1)
    assert found.vocabulary == len({"one", "two", "three"})
    assert set(found.splits) == {"train", "test"}
    train, test = found.splits["train"], found.splits["test"]
    assert (train.rows, train.images, train.texts) == (2, 1, 2)
    assert (train.words_per_text, train.words_per_text_sd) == (2.5, 0.5)
    assert train.unknown_words == 0
    assert test.unknown_words == pytest.approx(4 / 6)
    assert train.labels_per_row == 1


def test_rare_words_are_unknown(pairs: trope.Pairs) -> None:
    found = describe(pairs, min_count=2)
    assert found.vocabulary == 1
    assert found.splits["train"].unknown_words == pytest.approx(2 / 5)
