"""Shares and their chance level, against plain loops."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import trope
from trope.data.pairs import Pairs
from trope.errors import UsageError
from trope.explain.shares import agreement, share


@pytest.fixture
def pairs(tmp_path: Path) -> Pairs:
    topics = ["law", "law", "bread", None, "law", "sea", "sea", "bread"]
    labels = [["a", "b"], ["b"], [], ["c", "c"], ["a"], ["c"], ["b", "c"], ["d"]]
    rows = [
        {"id": str(i), "text": "t", "topic": topic, "labels": some}
        for i, (topic, some) in enumerate(zip(topics, labels, strict=True))
    ]
    (tmp_path / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return trope.open(tmp_path)


def values_of(pairs: Pairs, column: str) -> list[set[str]]:
    found = pairs.column(column).to_pylist()
    return [set(v) if isinstance(v, list) else {v} - {None} for v in found]


@pytest.mark.parametrize("column", ["topic", "labels"])
def test_agreement_is_a_common_value(pairs: Pairs, column: str) -> None:
    rows = np.array([0, 3, 5])
    ids = np.array([[1, 4, 2], [5, 6, -1], [3, 6, 7]])
    usable = np.ones(8, bool)
    usable[4] = False
    values = values_of(pairs, column)
    shares, chances = [], []
    for row, some in zip(rows, ids, strict=True):
        hits = [bool(values[row] & values[i]) for i in some if i >= 0]
        shares.append(np.mean(hits))
        others = [i for i in np.flatnonzero(usable) if i != row]
        chances.append(np.mean([bool(values[row] & values[i]) for i in others]))
    found = agreement(pairs, column, usable, rows, ids)
    assert found.value == pytest.approx(np.mean(shares))
    assert found.chance == pytest.approx(np.mean(chances))
    assert found.pairs == 3


def test_rows_without_neighbors_are_left_out() -> None:
    hits = np.array([[True, True], [True, False], [True, True], [False, False]])
    there = np.array([[True, True], [True, True], [False, False], [True, False]])
    found = share(hits, there, 0.05)
    assert (found.value, found.pairs, found.chance) == (0.5, 3, 0.05)
    spread = np.std([1, 0.5, 0], ddof=1) / np.sqrt(3)
    assert found.low == pytest.approx(max(0, 0.5 - 1.959964 * spread))
    assert share(hits, np.zeros_like(there), 0.05).value == 0


def test_a_column_that_is_not_there_is_told(pairs: Pairs) -> None:
    rows, ids = np.array([0]), np.array([[1]])
    with pytest.raises(UsageError, match="did you mean 'topic'"):
        agreement(pairs, "topics", np.ones(8, bool), rows, ids)
