"""Other texts for the same pictures: whose rows stay, what they say, and that no split is kept."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

import trope
from trope.data.retold import retold
from trope.data.splits import SplitPlan, split
from trope.errors import DataError, UsageError


def dataset(folder: Path, *told: object) -> trope.Pairs:
    rows = [
        {"id": str(i), "image": f"{i}.jpg", "text": f"story {i}", "split": "train", "literal": what}
        for i, what in enumerate(told)
    ]
    (folder / "pairs.jsonl").write_bytes(b"\n".join(map(orjson.dumps, rows)))
    return trope.open(folder)


def test_rows_with_something_in_the_column_say_that(tmp_path: Path) -> None:
    found = retold(dataset(tmp_path, "a dog", None, "  ", "a cat"), "literal")
    assert [(pair.id, pair.image, pair.texts, pair.split) for pair in found] == [
        ("0", "0.jpg", ("a dog",), None),
        ("3", "3.jpg", ("a cat",), None),
    ]


def test_rows_with_the_same_new_text_come_into_one_split(tmp_path: Path) -> None:
    told = [f"scene {i % 10}" for i in range(60)]
    parted, _ = split(retold(dataset(tmp_path, *told), "literal"), SplitPlan())
    sides = {text: {p.split for p in parted if p.texts == (text,)} for text in told}
    assert all(len(side) == 1 for side in sides.values())
    assert set().union(*sides.values()) == {"train", "val", "test"}


def test_what_cannot_be_told_is_said(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no row has a text in column 'literal'"):
        retold(dataset(tmp_path, "", " "), "literal")
    with pytest.raises(UsageError, match="no column 'litteral'; did you mean 'literal'"):
        retold(dataset(tmp_path, "a dog"), "litteral")
    with pytest.raises(UsageError, match="column 'literal' holds no texts but int64"):
        retold(dataset(tmp_path, 1, 2), "literal")
