"""Pairs that look wrong, from a folder to the page and the tables."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow.csv
import pyarrow.parquet
import pytest
import run_samples
from page_reader import Page, check_alone
from PIL import Image
from run_samples import trained

import trope
from trope import config
from trope.data.pairs import Pairs
from trope.errors import DataError, UsageError
from trope.explain.wrong import SCORES, WrongSettings, find_wrong
from trope.explain.wrong.findings import NOTHING
from trope.explain.wrong.job import drawn, gathered, judge, of_run
from trope.spaces import Sentence, Vectors, Visual

WORDS = ("law", "sea", "bread", "snow", "drum", "horse")
COLORS = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0, 1, 1], [1, 0, 1]]) * 180 + 37
WRONG = {"r3": "r10", "r10": "r3", "r20": "r31", "r31": "r20"}
SMALL = WrongSettings(k=5, shown=3)


@pytest.fixture(autouse=True)
def _counted_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """No network: the vector of a text is how often it has each word."""

    def vectors(_: Sentence, pairs: Pairs) -> Vectors:
        texts, owners = pairs.flat_texts()
        counts = [[text.lower().count(word) for word in WORDS] for text in texts.to_pylist()]
        values = np.array(counts, np.float32).reshape(-1, len(WORDS))
        return Vectors(values, owners, "words", "data")

    monkeypatch.setattr(Sentence, "vectors", vectors)


def write(
    folder: Path, rows: Mapping[str, Mapping[str, Any]] | None = None, count: int = 60
) -> Path:
    """Pictures in the color of their subject and texts about it; two times two are swapped."""
    random = np.random.default_rng(0)
    folder.mkdir(parents=True)
    texts = {}
    for i in range(count):
        subject = i % len(WORDS)
        pixels = COLORS[subject] + random.integers(-35, 35, (6, 8, 3))
        Image.fromarray(pixels.astype(np.uint8)).save(folder / f"{i}.png")
        words = [WORDS[subject]] * 3 + list(random.choice(WORDS, 2))
        texts[f"r{i}"] = " ".join([*words, f"page {i}"])
    lines = []
    for i, name in enumerate(texts):
        row = {"id": name, "image": f"{i}.png", "text": texts[WRONG.get(name, name)]}
        row |= (rows or {}).get(name, {})
        lines.append(json.dumps({k: v for k, v in row.items() if v is not None}))
    (folder / "pairs.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return folder


def test_the_swapped_pairs_come_first_everywhere(tmp_path: Path) -> None:
    pairs = trope.open(write(tmp_path / "data"))
    found, document = find_wrong(pairs, tmp_path / "out", SMALL)
    assert {row["id"] for row in document["pairs"][:4]} == set(WRONG)
    assert orjson.loads((tmp_path / "out/wrong.json").read_bytes()) == orjson.loads(
        orjson.dumps(document)
    )
    table = pyarrow.parquet.read_table(tmp_path / "out/wrong.parquet")
    assert table.to_pylist() == document["pairs"] == found.table.to_pylist()
    written = pyarrow.csv.read_csv(tmp_path / "out/wrong.csv")
    assert written.column("id").to_pylist() == table.column("id").to_pylist()
    assert sorted(table.column("id").to_pylist()) == sorted(pairs.ids)
    scores = table.column("score").to_pylist()
    assert scores == sorted(scores, reverse=True)
    assert table.column("rank").to_pylist() == list(range(1, 61))
    assert "suit better" in document["pairs"][0]["why"]
    assert document["pairs"][-1]["why"] == NOTHING


def test_the_page_shows_the_first_with_their_witnesses(tmp_path: Path) -> None:
    pairs = trope.open(write(tmp_path / "data"))
    found, document = find_wrong(pairs, tmp_path / "out", SMALL)
    page = Page(tmp_path / "out/index.html")
    check_alone(page)
    assert [pair.id for pair in found.shown] == [row["id"] for row in document["pairs"][:3]]
    for pair in found.shown:
        assert pair.texts[0] in page.text
    assert "of one in 60, in the means" in page.text
    for pair in found.shown:
        assert pair.why[1:] in page.text
        assert len(pair.look) == len(pair.meaning) == 5
        for other in (*pair.look, *pair.meaning):
            assert other.row != pair.row
            assert other.id in page.text
    shown = sum(1 + len(pair.look) + len(pair.meaning) for pair in found.shown)
    assert len(page.attributes("img", "src")) == shown


def test_what_rows_say_is_text(tmp_path: Path) -> None:
    attack = "<script>alert('law')</script> <img src=x onerror=alert(1)> snow"
    name = "=1+1<b onmouseover='x'>\u202e"
    data = write(tmp_path / "data", {"r3": {"text": attack, "id": name, "group": "</style>"}})
    find_wrong(trope.open(data), tmp_path / "out", replace(SMALL, shown=60))
    page = Page(tmp_path / "out/index.html")
    check_alone(page)
    assert "<script>alert('law')</script>" in page.text
    assert name in page.text


def test_rows_that_lack_something_are_left_out(tmp_path: Path) -> None:
    odd = {"r5": {"text": None}, "r6": {"image": None}, "r7": {"text": "…"}, "r8": {"image": "no"}}
    pairs = trope.open(write(tmp_path / "data", odd))
    found = judge(pairs, SMALL)
    assert (found.rows, found.usable) == (60, 56)
    assert not {"r5", "r6", "r7", "r8"} & set(found.table.column("id").to_pylist())
    assert any("no usable picture" in remark for remark in found.remarks)
    few = trope.open(write(tmp_path / "few", count=2))
    with pytest.raises(DataError, match=r"2 of 2 rows .* 3 are needed to compare"):
        find_wrong(few, tmp_path / "out", SMALL)
    assert not (tmp_path / "out").exists()


def test_a_row_with_several_texts_is_judged_by_all(tmp_path: Path) -> None:
    texts = ["law law law", "law", "law bread"]  # r0 is about the first subject
    rows = {"r0": {"text": None, "texts": texts}, "r12": {"text": None, "texts": ["sea"] * 2}}
    found = judge(trope.open(write(tmp_path / "data", rows)), SMALL)
    order = found.table.column("id").to_pylist()
    assert order.index("r12") < 5
    assert order.index("r0") > 20


def test_copies_do_not_vouch_for_each_other(tmp_path: Path) -> None:
    """A wrong pair that is there six times is as wrong as one that is there once."""
    copy = {"image": "3.png", "text": "sea sea sea"}
    again = {f"r{i}": copy for i in (3, 9, 15, 21, 27, 33)}
    found = judge(trope.open(write(tmp_path / "data", again)), SMALL)
    assert set(again) <= set(found.table.column("id").to_pylist()[:9])  # and those swapped


def test_components_can_be_left_out(tmp_path: Path) -> None:
    groups = {f"r{i}": {"group": f"g{i // 6}"} for i in range(60)}
    pairs = trope.open(write(tmp_path / "data", groups))
    rows, sides, remarks = gathered(pairs, replace(SMALL, tied="components"))
    assert not remarks
    expected = np.arange(60) // 6
    same = sides.tied[:, None] == sides.tied
    assert (same >= (expected[:, None] == expected)).all()
    assert len(rows) == 60
    alone = gathered(pairs, SMALL)[1].tied
    assert len(np.unique(alone)) == 60
    one = trope.open(write(tmp_path / "one", {f"r{i}": {"group": "all"} for i in range(60)}))
    _, sides, remarks = gathered(one, replace(SMALL, tied="components"))
    assert len(np.unique(sides.tied)) == 60
    assert "60 of 60 pairs belong together" in remarks[0]


def test_neighbors_are_a_tenth_at_most(tmp_path: Path) -> None:
    pairs = trope.open(write(tmp_path / "data"))
    found = judge(pairs, replace(SMALL, k=100_000))
    assert found.settings.k == 6
    assert "k lowered from 100,000 to 6: a tenth of 60 pairs" in found.remarks
    assert set(found.table.column("id").to_pylist()[:4]) == set(WRONG)
    assert not any("lowered" in remark for remark in judge(pairs, SMALL).remarks)
    three = judge(trope.open(write(tmp_path / "three", count=3)), SMALL)
    assert (three.usable, three.settings.k) == (3, 1)


@pytest.mark.parametrize("score", SCORES)
def test_every_score_gives_a_table(score: str, tmp_path: Path) -> None:
    found = judge(trope.open(write(tmp_path / "data")), replace(SMALL, score=score))
    assert found.table.column_names == ["rank", "id", "score", "why", *SCORES[score]]


def test_the_same_every_time(tmp_path: Path) -> None:
    pairs = trope.open(write(tmp_path / "data"))
    for name in ("one", "two"):
        find_wrong(pairs, tmp_path / name, replace(SMALL, sample=20))
    for file in ("index.html", "wrong.csv", "wrong.parquet"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_shares_are_counted_on_a_sample_that_the_seed_decides() -> None:
    assert drawn(5, SMALL).tolist() == [0, 1, 2, 3, 4]
    some = replace(SMALL, sample=10)
    assert len(set(drawn(100, some).tolist())) == 10
    assert drawn(100, some).tolist() == drawn(100, some).tolist()
    assert drawn(100, some).tolist() != drawn(100, replace(some, seed=1)).tolist()


def test_networks_are_those_of_the_run_unless_named(tmp_path: Path) -> None:
    """Also where the one that is named is the usual one."""
    trained("angular", run_samples.write(tmp_path / "data"), tmp_path / "run")
    usual = Visual().backbone
    assert usual != "precomputed"
    _, settings, _ = of_run(tmp_path / "run", None, WrongSettings())
    assert settings.image_space.backbone == "precomputed"
    asked = config.load(WrongSettings, None, [f"visual.backbone={usual}"])
    _, settings, _ = of_run(tmp_path / "run", None, asked)
    assert settings.image_space.backbone == usual
    plain = config.plain(WrongSettings().named())
    assert plain["visual"] == {"backbone": usual}
    assert plain["sentence"] == config.plain(Sentence())


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"score": "suport"}, "did you mean 'support'"),
        ({"k": 0}, "k must be at least 1"),
        ({"strength": 0.0}, "strength must be above 0"),
        ({"trust": -1.0}, "trust must be at least 0"),
        ({"shown": 0}, "shown must be at least 1"),
    ],
)
def test_wrong_settings_are_told(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        WrongSettings(**changes)


def test_a_folder_that_is_not_empty_is_refused(tmp_path: Path) -> None:
    pairs = trope.open(write(tmp_path / "data"))
    with pytest.raises(UsageError, match="not empty"):
        find_wrong(pairs, tmp_path / "data", SMALL)


@pytest.mark.parametrize("same", ["texts", "pictures"])
def test_where_all_are_equal_nobody_is_accused(tmp_path: Path, same: str) -> None:
    folder = write(tmp_path / "data")
    rows = [json.loads(line) for line in (folder / "pairs.jsonl").read_text().splitlines()]
    for row in rows:
        row |= {"text": "law and sea"} if same == "texts" else {"image": rows[0]["image"]}
    (folder / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(DataError, match=f"all 60 {same} that can be used are equal"):
        find_wrong(trope.open(folder), tmp_path / "out", SMALL)
    assert not (tmp_path / "out").exists()
