from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import planted
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import trope
from trope.training import train
from trope.training.validation import Validation, differing, labeled, recall
from trope.views import Encoded

SHORT = [*planted.PRECOMPUTED, "training.epochs=2"]


def slow(scores: np.ndarray, same: np.ndarray) -> float | None:
    """Every pair, every choice of four others that are wrong; of equals each is first as often."""
    means = []
    for i in range(len(scores)):
        wrong = [j for j in range(len(scores)) if not same[i, j]]
        tasks = [scores[i, list(four)] for four in combinations(wrong, 4)]
        own = scores[i, i]
        found = [
            (task > own).any() * 0.0 or (task <= own).all() / (1 + (task == own).sum())
            for task in tasks
        ]
        means += [np.mean(found)] if found else []
    return float(np.mean(means)) if means else None


@settings(max_examples=40)
@given(count=st.integers(1, 9), seed=st.integers(0, 99), groups=st.integers(1, 9))
def test_recall_equals_plain_loops(count: int, seed: int, groups: int) -> None:
    random = np.random.default_rng(seed)
    scores = random.integers(0, 6, (count, count)).astype(np.float32)  # many are equal
    group = random.integers(0, groups, count)
    same = group[:, None] == group
    found, expected = recall(scores, same), slow(scores, same)
    assert found == (None if expected is None else pytest.approx(expected))


def test_by_guessing_several_right_items_help_nothing() -> None:
    """The best of five right texts would be first in 5 of 9 tasks."""
    random = np.random.default_rng(0)
    same = np.kron(np.eye(60), np.ones((5, 5))).astype(bool)
    assert recall(random.random((300, 300)), same) == pytest.approx(0.2, abs=0.03)


def test_better_scores_are_better() -> None:
    scores = np.random.default_rng(0).random((20, 20))
    better = scores + 0.3 * np.eye(20)
    found = [recall(s, np.eye(20, dtype=bool)) for s in (scores, better, scores + np.eye(20))]
    assert found[0] is not None
    assert found[1] is not None
    assert found[0] < found[1] < 1.0 == found[2]


def test_too_few_pairs_for_recall_are_told_and_the_loss_decides(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = planted.write(tmp_path / "data", rows=64)
    lines = [json.loads(line) for line in (data / "pairs.jsonl").read_text().splitlines()]
    kept = [line for line in lines if line["split"] != "val"]
    kept += [line for line in lines if line["split"] == "val"][:4]
    (data / "pairs.jsonl").write_text("\n".join(map(json.dumps, kept)))
    done = train("angular", trope.open(data), tmp_path / "run", sets=SHORT)
    told = capsys.readouterr().err
    assert "too few validation pairs for 5-way recall: the lowest loss selects the model" in told
    assert "nan" not in told
    assert "recall 0" not in told
    losses = [line["val_loss"] for line in done.progress.history]
    assert done.progress.best_epoch == int(np.argmin(losses))
    assert "val_image_to_text" not in done.progress.history[0]
    assert b"nan" not in (tmp_path / "run" / "metrics.jsonl").read_bytes().lower()


@settings(max_examples=60)
@given(count=st.integers(1, 5), kinds=st.integers(1, 3), seed=st.integers(0, 999))
def test_labels_differ_where_orders_have_different_ndcg(count: int, kinds: int, seed: int) -> None:
    """Any two orders of the items of a query: NDCG is 1 of both unless labels differ."""
    random = np.random.default_rng(seed)
    labels = random.random((count, kinds)) < 0.6
    known = labels[labels.any(axis=1)].astype(int)
    gains = known @ known.T
    assert differing(labels) == any(len(set(row)) > 1 for row in gains.tolist())
    items = Encoded(torch.zeros(count, 2), logits=torch.zeros(count, kinds))
    found = labeled(random.random((count, count)), items, items, labels)
    assert ("ndcg_image_to_text" in found) == differing(labels)
    assert ("f1_image" in found) == bool(len(known))


def test_of_single_labels_the_highest_score_counts() -> None:
    """The right label is the highest of each, and no threshold takes it alone."""
    logits = torch.tensor([[-3.0, -5.0], [2.0, 3.0]])
    items, right = Encoded(torch.zeros(2, 2), logits=logits), np.eye(2, dtype=bool)
    assert labeled(np.eye(2), items, items, right, single=True)["f1_image"] == 1
    assert labeled(np.eye(2), items, items, right)["f1_text"] < 1


def test_what_is_there_selects() -> None:
    both, recalled = Validation(0.7, 0.2, 0.4, 0.8, 0.9), Validation(0.7, 0.2, 0.4)
    assert both.chosen_by("labels") == pytest.approx(0.85)
    assert both.chosen_by("recall") == recalled.chosen_by("labels") == pytest.approx(0.3)
    assert both.chosen_by("loss") == Validation(0.7).chosen_by("labels") == -0.7
