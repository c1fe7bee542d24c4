"""Splits: nothing shared across sides, the stated greedy rule, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

import trope
from trope.data.components import components
from trope.data.splits import SplitPlan, assign, folds, split
from trope.errors import DataError, UsageError


def dataset(folder: Path, rows: list[dict[str, Any]]) -> trope.Pairs:
    folder.mkdir(exist_ok=True)
    lines = (orjson.dumps({"id": str(i), **row}) for i, row in enumerate(rows))
    (folder / "pairs.jsonl").write_bytes(b"\n".join(lines))
    return trope.open(folder)


def shared_rows(count: int, seed: int) -> list[dict[str, Any]]:
    random = np.random.default_rng(seed)
    return [
        {
            "image": f"{random.integers(count)}.jpg",
            "texts": [f"text {random.integers(2 * count)}" for _ in range(random.integers(1, 4))],
            "group": f"g{random.integers(2 * count)}" if random.random() < 0.5 else None,
        }
        for _ in range(count)
    ]


def components_by_loop(rows: list[dict[str, Any]]) -> list[frozenset[int]]:
    """Union of rows by brute force: merge until nothing changes."""
    sets = [{i} for i in range(len(rows))]
    keys = [
        {("i", r["image"]), ("g", r["group"]), *(("t", t.lower()) for t in r["texts"])}
        - {("g", None)}
        for r in rows
    ]
    for i in range(len(rows)):
        for j in range(i):
            if keys[i] & keys[j] and sets[i] is not sets[j]:
                sets[i] |= sets[j]
                for member in sets[j]:
                    sets[member] = sets[i]
    return sorted({frozenset(s) for s in sets}, key=min)


@given(count=st.integers(1, 40), seed=st.integers(0, 10_000))
def test_components_equal_brute_force(
    tmp_path_factory: pytest.TempPathFactory, count: int, seed: int
) -> None:
    rows = shared_rows(count, seed)
    belongs = components(dataset(tmp_path_factory.mktemp("data"), rows))
    ours = sorted({frozenset(np.flatnonzero(belongs == c)) for c in set(belongs)}, key=min)
    assert ours == components_by_loop(rows)


def test_texts_are_the_same_up_to_case_space_and_unicode_form(tmp_path: Path) -> None:
    rows = [{"text": "Café  au\tLait"}, {"text": "cafe\u0301 au lait"}, {"text": "tea"}]
    belongs = components(dataset(tmp_path, rows))
    assert belongs[0] == belongs[1] != belongs[2]


def test_empty_texts_and_missing_groups_tie_nothing(tmp_path: Path) -> None:
    rows = [{"image": f"{i}.jpg", "text": "", "group": ""} for i in range(4)]
    assert len(set(components(dataset(tmp_path, rows)))) == 4


def test_identical_bytes_under_two_names_belong_together(tmp_path: Path) -> None:
    pairs = dataset(tmp_path, [{"image": f"{i}.jpg"} for i in range(4)])
    belongs = components(pairs, np.array([b"a", b"b", b"a", b""], "S16"))
    assert belongs[0] == belongs[2]
    assert len(set(belongs)) == 3


def greedy_by_loop(
    belongs: np.ndarray, fractions: tuple[float, ...], filled: list[int]
) -> list[int]:
    """How many rows each part ends with when components are placed one at a time."""
    rows, total = list(filled), len(belongs) + sum(filled)
    for size in sorted(np.bincount(belongs), reverse=True):
        deficits = [fraction * total - have for fraction, have in zip(fractions, rows, strict=True)]
        rows[deficits.index(max(deficits))] += int(size)
    return rows


@given(
    sizes=st.lists(st.integers(1, 30), min_size=1, max_size=60),
    weights=st.lists(st.integers(1, 9), min_size=2, max_size=5),
    seed=st.integers(0, 99),
    data=st.data(),
)
def test_assignment_is_the_greedy_rule(
    sizes: list[int], weights: list[int], seed: int, data: st.DataObject
) -> None:
    belongs = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(sizes)), sizes))
    fractions = tuple(w / sum(weights) for w in weights)
    filled = data.draw(st.lists(st.integers(0, 50), min_size=len(weights), max_size=len(weights)))
    part = assign(belongs, fractions, seed, tuple(filled))
    achieved = np.bincount(part, minlength=len(weights)) + filled
    assert achieved.tolist() == greedy_by_loop(belongs, fractions, filled)
    for component in range(len(sizes)):
        assert len(set(part[belongs == component])) == 1


def test_default_shares_and_determinism(tmp_path: Path) -> None:
    pairs = dataset(tmp_path, [{"image": f"{i}.jpg", "text": f"text {i}"} for i in range(1_000)])
    done, report = split(pairs, SplitPlan(seed=3))
    assert report.rows == {"train": 800, "val": 100, "test": 100}
    again, _ = split(pairs, SplitPlan(seed=3))
    other, _ = split(pairs, SplitPlan(seed=4))
    names = done.column("split").to_pylist()
    assert names == again.column("split").to_pylist()
    assert names != other.column("split").to_pylist()


def test_no_key_crosses_a_split(tmp_path: Path) -> None:
    rows = shared_rows(300, 1)
    done, report = split(dataset(tmp_path, rows), SplitPlan())
    assert report.undecided == 0
    for key in ("image", "group"):
        seen: dict[str, set[str]] = {}
        for row, pair in zip(rows, done, strict=True):
            if row[key] is not None:
                seen.setdefault(row[key], set()).add(str(pair.split))
        assert all(len(splits) == 1 for splits in seen.values())


def test_a_missing_val_is_cut_from_train(tmp_path: Path) -> None:
    rows = [{"text": f"text {i}", "split": "train" if i < 90 else "test"} for i in range(100)]
    done, report = split(dataset(tmp_path, rows), SplitPlan())
    assert report.rows == {"train": 80, "val": 10, "test": 10}
    assert [p.split for p in done][90:] == ["test"] * 10


def test_rows_without_a_split_join_their_component(tmp_path: Path) -> None:
    rows = [
        {"text": "a", "group": "x", "split": "test"},
        {"text": "b", "group": "x"},
        {"text": "c", "group": "y", "split": "train"},
        {"text": "d", "group": "z", "split": "val"},
        {"text": "c", "group": "z"},  # tied to train by its text and to val by its group
    ]
    done, report = split(dataset(tmp_path, rows), SplitPlan())
    assert [p.split for p in done] == ["test", "test", "train", "val", None]
    assert report.undecided == 1


def test_rows_given_are_kept_and_the_rest_fills_up_to_the_shares(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"text": f"t{i}"} for i in range(100)]
    for row in rows[:10]:
        row["split"] = "test"
    done, report = split(dataset(tmp_path, rows), SplitPlan())
    assert report.rows == {"train": 80, "val": 10, "test": 10}
    assert [p.split for p in done][:10] == ["test"] * 10


def test_nothing_is_said_to_be_cut_when_nothing_was(tmp_path: Path) -> None:
    _, report = split(dataset(tmp_path, [{"text": "a"}, {"text": "b"}]), SplitPlan())
    assert report.made == "for all rows"
    assert report.rows["val"] == 0


def test_another_column_can_hold_the_split(tmp_path: Path) -> None:
    names = ["training", "dev", "test", "Train "]
    rows = [{"text": f"t{i}", "fold": name} for i, name in enumerate(names)]
    done, report = split(dataset(tmp_path, rows), SplitPlan(column="fold"))
    assert [p.split for p in done] == ["train", "val", "test", "train"]
    assert report.made == "as given"


def test_unknown_split_names_are_refused(tmp_path: Path) -> None:
    pairs = dataset(tmp_path, [{"text": "a", "split": "holdout"}, {"text": "b", "split": "train"}])
    with pytest.raises(DataError, match="found: holdout"):
        split(pairs, SplitPlan())


def test_splits_that_are_there_are_made_anew_only_when_asked(tmp_path: Path) -> None:
    rows = [{"text": f"t{i}", "split": ["train", "val", "test"][i % 3]} for i in range(90)]
    pairs, shares = dataset(tmp_path, rows), (0.6, 0.2, 0.2)
    assert split(pairs, SplitPlan())[1].made == "as given"
    with pytest.raises(UsageError, match=r"have splits already.* again=true splits anew"):
        split(pairs, SplitPlan(fractions=shares))
    done, report = split(pairs, SplitPlan(fractions=shares, again=True))
    assert report.rows == {"train": 54, "val": 18, "test": 18}
    assert report.made == "for all rows"
    assert [p.split for p in done] != [row["split"] for row in rows]
    with pytest.raises(ValueError, match="column has nothing to say"):
        SplitPlan(column="fold", again=True)


def test_fractions_that_still_have_work_are_not_refused(tmp_path: Path) -> None:
    rows = [{"text": f"t{i}", "split": "train" if i < 80 else "test"} for i in range(100)]
    pairs = dataset(tmp_path, rows)
    assert split(pairs, SplitPlan(fractions=(0.6, 0.2, 0.2)))[1].rows["val"] == 20
    assert split(pairs, SplitPlan(fractions=(0.8, 0.0, 0.2)))[1].rows["val"] == 0


@pytest.mark.parametrize("fractions", [(0.5, 0.4, 0.2), (-0.1, 1.0, 0.1), (0.0, 0.5, 0.5)])
def test_wrong_fractions_are_refused(fractions: tuple[float, float, float]) -> None:
    with pytest.raises(ValueError, match="share"):
        SplitPlan(fractions=fractions)


def test_folds_are_even_and_keep_components_whole(tmp_path: Path) -> None:
    pairs = dataset(tmp_path, [{"text": f"t{i}", "group": f"g{i // 3}"} for i in range(120)])
    fold = folds(pairs, 4)
    assert np.bincount(fold).tolist() == [30, 30, 30, 30]
    assert all(len(set(fold[i : i + 3])) == 1 for i in range(0, 120, 3))


def test_folds_are_refused_when_a_component_is_too_large(tmp_path: Path) -> None:
    pairs = dataset(
        tmp_path, [{"text": f"t{i}", "group": "all" if i < 60 else None} for i in range(100)]
    )
    with pytest.raises(DataError, match=r"60 rows \(60%\) are tied together"):
        folds(pairs, 2)


def test_copies_of_a_picture_stay_on_one_side(tmp_path: Path) -> None:
    rows = [{"image": f"{i}.jpg", "text": f"text {i}"} for i in range(60)]
    pairs = dataset(tmp_path, rows)
    for i in range(60):
        (tmp_path / f"{i}.jpg").write_bytes(b"picture %d" % (i % 30))
    done, report = split(pairs, SplitPlan())
    names = [pair.split for pair in done]
    assert names[:30] == names[30:]
    assert report.components == 30
    assert split(pairs, SplitPlan(images="path"))[1].components == 60
    fold = folds(pairs, 3)
    assert fold[:30].tolist() == fold[30:].tolist()
