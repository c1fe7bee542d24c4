from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from trope.errors import TropeError
from trope.experiments.crisscrossed import CAPTIONS, read


def by_hand(data: Path, name: str) -> list[tuple[str, str, float]]:
    with (data / "cxc" / f"{name}_test.csv").open() as file:
        return [(row[0], row[1], float(row[2])) for row in list(csv.reader(file))[1:]]


def test_judged_pairs_are_those_of_the_files(data: Path) -> None:
    found = read(str(data))
    assert len(found.pairs) == 16
    assert found.owners.tolist() == np.repeat(np.arange(16), 3).tolist()
    pairs = zip(found.sits.captions, found.sits.queries, found.sits.scores, strict=True)
    named = [(f"sentid:{770_000 + 13 * c}", f"{391_000 + 7 * i:012d}.jpg", s) for c, i, s in pairs]
    listed = [(c.split(":", 1)[1], i[-16:], s) for c, i, s in by_hand(data, "sits")]
    assert sorted(named) == sorted(listed)
    assert found.sits.unknown == found.sts.unknown == 0
    assert len(found.sts) == 2 * len(by_hand(data, "sts"))


def test_queries_are_in_order_and_own_pairs_are_known(data: Path) -> None:
    found = read(data)
    for judged in (found.sits, found.sts):
        assert (np.diff(judged.queries) >= 0).all()
        assert (judged.own == (judged.images == found.owners[judged.captions])).all()
    assert found.sits.own.sum() >= 16
    assert (found.sts.images == found.owners[found.sts.queries]).all()


def test_pairs_without_captions_here_are_counted(data: Path) -> None:
    path = data / "cxc" / "sts_test.csv"
    known = len(read(data).sts)
    added = "COCO_val2014:sentid:770000,COCO_val2014:sentid:5,1.5,some\n"
    path.write_text(path.read_text() + added)
    judged = read(data).sts
    assert (len(judged), judged.unknown) == (known, 1)


def test_of_two_captions_each_is_the_query_once(data: Path) -> None:
    judged = read(data).sts
    ways = set(zip(judged.queries, judged.captions, judged.scores, strict=True))
    assert judged.ways == 2
    assert {(b, a, score) for a, b, score in ways} == ways
    first, second, score = by_hand(data, "sts")[0]
    numbers = [(int(name.rsplit(":", 1)[1]) - 770_000) // 13 for name in (first, second)]
    assert {(*numbers, score), (*numbers[::-1], score)} <= ways


def replaced(name: str, old: str, new: str) -> Callable[[Path], None]:
    def change(data: Path) -> None:
        text = (data / name).read_text()
        assert old in text
        (data / name).write_text(text.replace(old, new, 1))

    return change


def first_score(text: str) -> Callable[[Path], None]:
    def change(data: Path) -> None:
        path = data / "cxc/sts_test.csv"
        head, first, rest = path.read_text().split("\n", 2)
        a, b, _, d = first.split(",")
        path.write_text("\n".join([head, f"{a},{b},{text},{d}", rest]))

    return change


BAD: dict[str, tuple[Callable[[Path], None], str]] = {
    "no file": (lambda data: (data / "cxc/sits_test.csv").unlink(), "no such file"),
    "no captions": (lambda data: (data / CAPTIONS).unlink(), "no such file"),
    "a score too high": (first_score("7"), "row 1: the score is not a number"),
    "no score": (first_score(""), "row 1: the score is not a number"),
    "a score in words": (first_score("good"), "not a table of judgments"),
    "no column": (replaced("cxc/sts_test.csv", "agg_score", "mean"), "not a table of judgments"),
    "no name": (replaced("cxc/sits_test.csv", ".jpg", ".jpg?"), "row 1: "),
    "other data": (
        lambda data: (data / "cxc/sts_test.csv").write_text(
            "caption1,caption2,agg_score,sampling_method\na:1,b:2,3,some\n"
        ),
        "none of its pairs",
    ),
    "no ids": (
        replaced(str(CAPTIONS), '"caption_ids":[770000,', '"caption_ids":['),
        "line 2: caption_ids and texts",
    ),
    "no test split": (
        lambda data: (data / CAPTIONS).write_text(
            (data / CAPTIONS).read_text().replace('"test"', '"train"')
        ),
        "no row is in the test split",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files_are_told_in_one_line(case: str, data: Path) -> None:
    change, told = BAD[case]
    change(data)
    with pytest.raises(TropeError) as error:
        read(data)
    assert told in str(error.value)
    assert "\n" not in str(error.value)
