"""Predicted labels in files: F1 of both modalities, as scikit-learn has it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from evaluation_samples import pairs_of
from safetensors.torch import save_file
from sklearn.metrics import f1_score

from trope.data.pairs import Pairs
from trope.errors import DataError, UsageError
from trope.evaluation import evaluate_embeddings
from trope.evaluation.arrays import read_arrays

KNOWN = ["sea", "dog", "sky", "never"]  # the last is predicted, and right for nobody
LABELS = ["dog", "sea", "sky", "cup"]  # the last is right, and never predicted


@pytest.fixture
def pairs(tmp_path: Path) -> Pairs:
    """Twenty pictures with one or two texts; the last has no labels."""
    random = np.random.default_rng(0)
    rows = []
    for i in range(20):
        labels = [name for name in LABELS if random.random() < 0.4] or ["dog"]
        texts = [f"text {i}", f"other {i}"][: 1 + i % 2]
        row = {"id": f"r{i}", "image": f"{i}.jpg", "texts": texts, "split": "test"}
        rows.append(row | ({"labels": labels} if i < 19 else {}))
    return pairs_of(tmp_path / "data", rows)


def vectors(**more: Any) -> dict[str, Any]:
    random = np.random.default_rng(1)
    made = {
        "image": random.normal(size=(20, 4)).astype(np.float32),
        "text": random.normal(size=(30, 4)).astype(np.float32),
        "image_labels": random.random((20, 4)).astype(np.float32),
        "text_labels": random.random((30, 4)) < 0.5,
        "labels": np.array(KNOWN),
    }
    return {name: value for name, value in (made | more).items() if value is not None}


def truth(pairs: Pairs) -> np.ndarray:
    names = [*KNOWN, "cup"]
    rows = pairs.column("labels").to_pylist()
    return np.array([[name in (row or []) for name in names] for row in rows])[:19]


def saved(path: Path, **more: Any) -> Path:
    np.savez(path, **vectors(**more))
    return path


def test_f1_of_both_modalities(tmp_path: Path, pairs: Pairs) -> None:
    file = saved(tmp_path / "v.npz")
    found = evaluate_embeddings(file, pairs, threshold=0.6)
    owners = np.repeat(np.arange(20), [1 + i % 2 for i in range(20)])
    right, made = truth(pairs), vectors()
    for side, scores, wanted in (
        ("image", made["image_labels"][:19], right),
        ("text", made["text_labels"][owners < 19], right[owners[owners < 19]]),
    ):
        guessed = np.concatenate([scores >= 0.6, np.zeros((len(scores), 1), bool)], axis=1)
        results = getattr(found, side)
        for average in ("micro", "macro"):
            expected = f1_score(wanted, guessed, average=average, zero_division=0)
            result = results[f"{average}-f1"]
            assert result.value == pytest.approx(expected), (side, average)
            assert result.low < result.value < result.high
    assert "micro-f1" not in found.image_to_text
    assert "recall@1" in found.image_to_text


def test_labels_are_known_by_name(tmp_path: Path, pairs: Pairs) -> None:
    """Columns in another order, and in the other kind of file: the same figures."""
    one = evaluate_embeddings(saved(tmp_path / "v.npz"), pairs, metrics="micro-f1,macro-f1")
    made, turned = vectors(), [3, 1, 0, 2]
    names = json.dumps([KNOWN[i] for i in turned])
    tensors = {k: torch.from_numpy(v) for k, v in made.items() if k != "labels"}
    for name in ("image_labels", "text_labels"):
        tensors[name] = tensors[name][:, turned].contiguous()
    save_file(tensors, tmp_path / "v.safetensors", {"labels": names})
    two = evaluate_embeddings(tmp_path / "v.safetensors", pairs, metrics="micro-f1,macro-f1")
    for side in ("image", "text"):
        assert getattr(one, side).keys() == {"micro-f1", "macro-f1"}
        for name, result in getattr(one, side).items():
            assert getattr(two, side)[name].value == pytest.approx(result.value)


def test_they_are_left_out_where_nothing_is_right(tmp_path: Path, pairs: Pairs) -> None:
    bare = pairs_of(
        tmp_path / "bare",
        [{"id": f"r{i}", "image": f"{i}.jpg", "text": f"t{i}", "split": "test"} for i in range(20)],
    )
    made = vectors()
    file = saved(tmp_path / "v.npz", text=made["text"][:20], text_labels=made["text_labels"][:20])
    assert not evaluate_embeddings(file, bare).image
    with pytest.raises(UsageError, match="micro-f1: the data has no labels"):
        evaluate_embeddings(file, bare, metrics="micro-f1")
    owners = np.repeat(np.arange(20), [1 + i % 2 for i in range(20)])
    alone = saved(tmp_path / "a.npz", owners=owners)
    assert not evaluate_embeddings(alone).image
    with pytest.raises(UsageError, match=r"micro-f1: needs labels .*name the data with --data"):
        evaluate_embeddings(alone, metrics="micro-f1")
    plain = saved(tmp_path / "p.npz", image_labels=None, text_labels=None, labels=None)
    with pytest.raises(UsageError, match="needs predicted labels, and there are none"):
        evaluate_embeddings(plain, pairs, metrics="macro-f1")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"labels": None}, "one is missing"),
        ({"text_labels": None}, "one is missing"),
        ({"labels": np.array(["a", "a", "b", "c"])}, "twice"),
        ({"labels": np.array(["a", "b", "c"])}, r"expected floats .* of shape \(20, 3\)"),
        ({"image_labels": np.zeros((20, 4), np.int64)}, "type int64"),
        ({"labels": np.array([1.5, 2.5])}, "labels must be a list of strings"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path: Path, more: dict[str, Any], said: str) -> None:
    with pytest.raises(DataError, match=said):
        read_arrays([saved(tmp_path / "v.npz", **more)])


def test_scores_must_be_numbers(tmp_path: Path, pairs: Pairs) -> None:
    scores = vectors()["image_labels"]
    scores[3, 1] = np.nan
    with pytest.raises(DataError, match="not a finite number"):
        evaluate_embeddings(saved(tmp_path / "v.npz", image_labels=scores), pairs)
