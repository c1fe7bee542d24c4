from __future__ import annotations

import json
from pathlib import Path

import pytest

import trope
from trope.data.kept import FILE, keep_splits, with_kept_splits
from trope.data.pairs import Pairs
from trope.data.splits import SplitPlan, split
from trope.errors import DataError

PLAN = SplitPlan(images="path")


def opened(folder: Path, rows: list[dict[str, object]]) -> Pairs:
    folder.mkdir(exist_ok=True)
    (folder / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return trope.open(folder)


def made(count: int, first: int = 0) -> list[dict[str, object]]:
    return [
        {"id": f"r{i}", "image": f"{i}.jpg", "text": f"text {i}"}
        for i in range(first, first + count)
    ]


def splits(pairs: Pairs) -> dict[str, str | None]:
    return dict(zip(pairs.ids, pairs.column("split").to_pylist(), strict=True))


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """Thirty rows as a run has split them."""
    pairs, _ = split(opened(tmp_path / "data", made(30)), PLAN)
    keep_splits(tmp_path / FILE, pairs)
    return tmp_path / FILE


def test_the_same_data_is_parted_the_same(kept: Path) -> None:
    pairs = trope.open(kept.parent / "data")
    planned = splits(split(pairs, PLAN)[0])
    assert set(planned.values()) == {"train", "val", "test"}
    assert splits(with_kept_splits(kept, pairs, PLAN)) == planned
    other = SplitPlan(images="path", seed=9)
    assert splits(split(pairs, other)[0]) != planned
    assert splits(with_kept_splits(kept, pairs, other)) == planned


def test_rows_keep_their_split_when_the_data_grows(kept: Path) -> None:
    before = splits(with_kept_splits(kept, trope.open(kept.parent / "data"), PLAN))
    grown = opened(kept.parent / "grown", [*made(50, first=30)[::-1], *made(30)])
    found = splits(with_kept_splits(kept, grown, PLAN))
    assert {name: found[name] for name in before} == before
    assert splits(split(grown, PLAN)[0]) != found  # splitting anew would not
    new = [found[f"r{i}"] for i in range(30, 80)]
    assert {name: new.count(name) for name in set(new)} == {"train": 40, "val": 5, "test": 5}


def test_a_new_row_joins_what_it_belongs_to(kept: Path) -> None:
    before = splits(with_kept_splits(kept, trope.open(kept.parent / "data"), PLAN))
    first = {name: next(i for i in before if before[i] == name)[1:] for name in before.values()}
    rows = [{"id": f"image-{s}", "image": f"{i}.jpg", "text": s} for s, i in first.items()]
    rows += [
        {"id": f"text-{s}", "image": f"{s}.jpg", "text": f"Text  {i}"} for s, i in first.items()
    ]
    rows += [
        {"id": "train-and-test", "image": f"{first['train']}.jpg", "text": f"text {first['test']}"},
    ]
    found = splits(with_kept_splits(kept, opened(kept.parent / "grown", [*made(30), *rows]), PLAN))
    assert {name: found[name] for name in before} == before
    assert found["train-and-test"] == "train"
    # test rows of that component are still where they were; its new ones are all of train
    assert found["image-train"] == found["text-train"] == found["text-test"] == "train"
    assert found["image-val"] == found["text-val"] == "val"


def test_a_row_may_change_its_text_or_its_image(kept: Path) -> None:
    before = splits(with_kept_splits(kept, trope.open(kept.parent / "data"), PLAN))
    rows = made(30)
    for i, row in enumerate(rows):
        row.update({"text": f"corrected {i}"} if i % 2 else {"image": f"new/{i}.jpg"})
    found = with_kept_splits(kept, opened(kept.parent / "edited", rows), PLAN)
    assert splits(found) == before


def test_other_data_with_the_same_ids_is_split_as_planned(kept: Path) -> None:
    rows = made(30)
    for i, row in enumerate(rows):
        row |= {"image": f"other/{i}.jpg", "text": f"else {i}", "split": "test"}
    other = opened(kept.parent / "other", rows)
    assert set(splits(with_kept_splits(kept, other, PLAN)).values()) == {"test"}


def test_splits_that_new_rows_bring_hold(kept: Path) -> None:
    new = [row | {"split": "test"} for row in made(9, first=30)]
    grown = opened(kept.parent / "grown", [*made(30), *new])
    found = splits(with_kept_splits(kept, grown, PLAN))
    assert {found[f"r{i}"] for i in range(30, 39)} == {"test"}
    again = SplitPlan(images="path", again=True)
    found = splits(with_kept_splits(kept, grown, again))
    assert {found[f"r{i}"] for i in range(30, 39)} != {"test"}


def test_a_new_row_is_not_of_test_where_the_run_has_learned_from_its_image(kept: Path) -> None:
    """Whatever it brings; one that brings an earlier split than its known neighbors keeps it."""
    before = splits(with_kept_splits(kept, trope.open(kept.parent / "data"), PLAN))
    first = {name: next(i for i in before if before[i] == name)[1:] for name in before.values()}
    rows = [
        {"id": f"{s}-{own}", "image": f"{i}.jpg", "text": f"{s} {own}", "split": own}
        for s, i in first.items()
        for own in ("train", "val", "test")
    ]
    grown = opened(kept.parent / "grown", [*made(30), *rows])
    found = splits(with_kept_splits(kept, grown, PLAN))
    assert {name: found[name] for name in before} == before
    assert [found[f"train-{own}"] for own in ("train", "val", "test")] == ["train"] * 3
    assert [found[f"val-{own}"] for own in ("train", "val", "test")] == ["train", "val", "val"]
    assert [found[f"test-{own}"] for own in ("train", "val", "test")] == ["train", "val", "test"]


def test_without_kept_splits_the_plan_holds(tmp_path: Path) -> None:
    pairs = opened(tmp_path / "data", made(20))
    assert splits(with_kept_splits(tmp_path / FILE, pairs, PLAN)) == splits(split(pairs, PLAN)[0])


def test_a_damaged_file_is_told(kept: Path) -> None:
    kept.write_bytes(kept.read_bytes()[:40])
    with pytest.raises(DataError, match=f"{FILE}: damaged"):
        with_kept_splits(kept, trope.open(kept.parent / "data"), PLAN)
