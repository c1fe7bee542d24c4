"""Shares and their chance level, against plain loops."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import trope
from trope.data.pairs import Pairs
from trope.errors import UsageError
from trope.explain import shares
from trope.explain.shares import agreement, groups_of, share


@pytest.fixture
def pairs(tmp_path: Path) -> Pairs:
    topics = ["law", "law", "bread", None, "law", "sea", "sea", "bread"]
    labels = [["a", "b"], ["b"], [], ["c", "c"], ["a"], ["c"], ["b", "c"], ["d"]]
    words = [["a", None], [None, "b"], None, ["c", None], [None], ["c"], [None, "c"], [None]]
    rows = [
        {"id": str(i), "text": "t", "topic": topic, "labels": some, "words": others}
        for i, (topic, some, others) in enumerate(zip(topics, labels, words, strict=True))
    ]
    (tmp_path / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return trope.open(tmp_path)


def values_of(pairs: Pairs, column: str) -> list[set[str]]:
    found = pairs.column(column).to_pylist()
    return [set(v if isinstance(v, list) else [v]) - {None} for v in found]


@pytest.mark.parametrize("block", [1, 2**22])
@pytest.mark.parametrize("column", ["topic", "labels", "words"])
def test_agreement_is_a_common_value(
    pairs: Pairs, column: str, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shares, "BLOCK", block)
    rows = np.array([0, 3, 5])
    ids = np.array([[1, 4, 2], [5, 6, -1], [3, 6, 7]])
    usable = np.ones(8, bool)
    usable[4] = False
    values = values_of(pairs, column)
    means, chances = [], []
    for row, some in zip(rows, ids, strict=True):
        hits = [bool(values[row] & values[i]) for i in some if i >= 0]
        means.append(np.mean(hits))
        others = [i for i in np.flatnonzero(usable) if i != row]
        chances.append(np.mean([bool(values[row] & values[i]) for i in others]))
    found = agreement(pairs, column, usable, rows, ids)
    assert found.value == pytest.approx(np.mean(means))
    assert found.chance == pytest.approx(np.mean(chances))
    assert found.pairs == 3


def test_rows_without_neighbors_are_left_out() -> None:
    hits = np.array([[True, True], [True, False], [True, True], [False, False]])
    there = np.array([[True, True], [True, True], [False, False], [True, False]])
    chance, groups = np.array([0.1, 0.2, 0.9, 0.3]), np.arange(4)
    found = share(hits, there, chance, groups)
    assert (found.value, found.pairs, found.groups) == (0.5, 3, 3)
    assert found.chance == pytest.approx(0.2)
    spread = np.std([1, 0.5, 0], ddof=1) / np.sqrt(3)
    assert found.low == pytest.approx(max(0, 0.5 - 1.959964 * spread))
    assert share(hits, np.zeros_like(there), chance, groups).value == 0
    one = share(hits[:1], there[:1], chance[:1], groups[:1])
    assert (one.value, one.low, one.high) == (1, 0, 1)  # one row says nothing of the others


def test_intervals_hold_where_rows_come_in_groups() -> None:
    """19 of 20 cover the true share, though the rows of a group are all alike."""
    random, covered = np.random.default_rng(0), []
    for _ in range(400):
        level = random.uniform(0.2, 0.6, 60)  # 0.4 on average
        groups = np.repeat(np.arange(60), 10)
        hits = random.random((600, 8)) < level[groups][:, None]
        order = random.permutation(600)
        found = share(hits[order], np.ones((600, 8), bool), np.zeros(600), groups[order])
        assert found.groups == 60
        covered.append(found.low <= 0.4 <= found.high)
    assert 0.92 <= np.mean(covered) <= 0.98


def test_rows_without_a_group_stand_alone(tmp_path: Path) -> None:
    names = ["a", "b", None, "a", None, ""]
    rows = [{"id": str(i), "text": "t", "group": name} for i, name in enumerate(names)]
    (tmp_path / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)))
    groups = groups_of(trope.open(tmp_path)).tolist()
    assert groups[0] == groups[3]
    assert len(set(groups)) == 5


@pytest.mark.parametrize("several", [False, True])
def test_chance_takes_little_memory(
    several: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All rows share a value: 12 million pairs of rows meet."""
    count = 20_000
    rows = [{"id": str(i), "text": "t", "labels": ["a"] + ["b"] * several} for i in range(count)]
    (tmp_path / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)))
    pairs = trope.open(tmp_path)
    some, ids = np.arange(600), np.arange(1, 601)[:, None]
    monkeypatch.setattr(shares, "BLOCK", 2**18)
    tracemalloc.start()
    found = agreement(pairs, "labels", np.ones(count, bool), some, ids)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (found.value, found.chance) == (1, 1)
    assert peak < 20e6


def test_a_column_that_is_not_there_is_told(pairs: Pairs) -> None:
    rows, ids = np.array([0]), np.array([[1]])
    with pytest.raises(UsageError, match="did you mean 'topic'"):
        agreement(pairs, "topics", np.ones(8, bool), rows, ids)
