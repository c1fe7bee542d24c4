"""The whole job on a small data set: numbers, page, pictures, and every kind of bad input."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import orjson
import pytest
from explain_samples import SMALL, write
from page_reader import Page
from PIL import Image

import trope
from trope.errors import DataError, UsageError
from trope.explain import ExplainSettings, explain
from trope.neighbors import Search, neighbors
from trope.spaces import Visual


def test_the_numbers_are_those_of_the_spaces(tmp_path: Path) -> None:
    pairs = trope.open(write(tmp_path / "data"))
    found, document = explain(pairs, tmp_path / "out", replace(SMALL, alike=0.3), ["r3", "r7"])
    assert orjson.loads((tmp_path / "out/neighbors.json").read_bytes()) == orjson.loads(
        orjson.dumps(document)
    )
    vectors = SMALL.doc2vec.vectors(pairs)
    table = neighbors(vectors.values, Search(4), vectors.owners)
    looks = Visual().vectors(pairs).values
    unit = looks / np.linalg.norm(looks.astype(np.float64), axis=1, keepdims=True)
    assert [pair.id for pair in found.pairs] == ["r3", "r7"]
    for pair in found.pairs:
        assert [other.row for other in pair.neighbors] == table.ids[pair.row].tolist()
        cosines = unit @ unit[pair.row]
        cosines[pair.row] = -np.inf
        for place, other in enumerate(pair.neighbors):
            assert other.distance == pytest.approx(float(table.distances[pair.row, place]))
            assert other.similarity == pytest.approx(float(cosines[other.row]), abs=1e-5)
            rank = 1 + int((cosines > cosines[other.row]).sum())
            assert other.look_rank == rank
            assert other.looks_alike == (rank <= 3)  # 30 % of 11
    assert found.looks_alike.chance == pytest.approx(3 / 11)
    assert document["shares"]["looks_alike"]["pairs"] == 12


def test_pairs_asked_for_change_no_share(tmp_path: Path) -> None:
    rows = {i: {"topic": "abc"[i % 3]} for i in range(30)}
    pairs = trope.open(write(tmp_path / "data", 30, rows))
    settings = replace(SMALL, sample=5, agree="topic")
    free, _ = explain(pairs, tmp_path / "free", settings)
    asked, _ = explain(pairs, tmp_path / "asked", settings, [f"r{i}" for i in range(20)])
    assert len(asked.pairs) == 20
    assert asked.looks_alike == free.looks_alike
    assert asked.looks_alike.pairs == 5
    assert asked.agree == free.agree


def test_folders_above_the_data_are_told_to_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = write(tmp_path / "secret" / "archive")
    found, document = explain(trope.open(data), tmp_path / "out", SMALL)
    assert document["data"] == found.name == "archive"
    for name in ("index.html", "neighbors.json"):
        assert "secret" not in (tmp_path / "out" / name).read_text(encoding="utf-8")
    monkeypatch.chdir(data)
    assert explain(trope.open("."), tmp_path / "here", SMALL)[0].name == "archive"


def test_groups_are_counted(tmp_path: Path) -> None:
    rows = {i: {"group": "abcd"[i % 4]} for i in range(12)}
    pairs = trope.open(write(tmp_path / "data", rows=rows))
    found, document = explain(pairs, tmp_path / "out", SMALL)
    assert document["shares"]["looks_alike"]["groups"] == found.looks_alike.groups == 4
    assert "mean over 12 pairs of 4 groups" in Page(tmp_path / "out/index.html").text


def test_the_page_shows_every_neighbor_and_asks_nobody(tmp_path: Path) -> None:
    pairs = trope.open(write(tmp_path / "data"))
    found, _ = explain(pairs, tmp_path / "out", SMALL, recall=True)
    page, html = Page(tmp_path / "out/index.html"), (tmp_path / "out/index.html").read_text("utf-8")
    names = [attributes["src"] for tag, attributes in page.tags if tag == "img"]
    assert len(names) == sum(1 + len(p.neighbors) + len(p.lookalikes) for p in found.pairs)
    assert len(found.pairs) == 2
    for name in names:
        with Image.open(tmp_path / "out" / str(name)) as picture:
            assert picture.format == "JPEG"
    for tag, attributes in page.tags:
        assert tag not in ("script", "link", "iframe")
        for value in attributes.values():
            assert "//" not in (value or "")
        if tag == "img":
            assert attributes["alt"]
    assert "url(" not in html
    for pair in found.pairs:
        assert pair.texts[0] in page.text
    shown = [other.id for p in found.pairs for other in (p, *p.neighbors, *p.lookalikes)]
    assert re.findall(r'<p class="id"><bdi>(.*?)</bdi>', html) == shown
    assert re.search(r"HNSW recall@4 against exact on a sample of 12 rows: [01]\.\d{4}", page.text)


def test_what_rows_say_is_text(tmp_path: Path) -> None:
    attack = "<script>alert('law')</script> \"judge\" <img src=x onerror=alert(1)> & court\x01"
    name = "<b onmouseover='x'>\u202e\"r\"</b>"
    data = write(tmp_path / "data", rows={2: {"text": attack, "id": name, "labels": ["</style>"]}})
    explain(trope.open(data), tmp_path / "out", SMALL, [name])
    page = Page(tmp_path / "out/index.html")
    assert "<script>alert('law')</script>" in page.text
    assert name in page.text
    assert "</style>" in page.text
    assert {"script", "b onmouseover"} & {tag for tag, _ in page.tags} == set()
    for _, attributes in page.tags:
        assert not {"onerror", "onmouseover"} & attributes.keys()
    assert "\x01" not in page.text


def test_texts_in_any_script_are_shown(tmp_path: Path, script: str) -> None:
    pairs = trope.open(
        write(tmp_path / "data", rows={1: {"text": script}, 4: {"text": script * 2}})
    )
    explain(pairs, tmp_path / "out", SMALL, ["r1"])
    plain = " ".join(script.split())
    shown = "".join("\ufffd" if c < " " or "\x7f" <= c < "\xa0" else c for c in plain)
    assert shown in Page(tmp_path / "out/index.html").text


def test_odd_texts_and_pictures_do_not_stop_it(tmp_path: Path) -> None:
    odd = {
        0: {"text": ""},
        1: {"text": "judge"},
        2: {"text": "law ship bread " * 70_000},  # a megabyte
        3: {"text": "ሰላም ለዓለም"},
        4: {"image": None},
        5: {"image": "gone.png"},
        6: {"text": "…!?"},
    }
    pairs = trope.open(write(tmp_path / "data", 16, odd))
    found, _ = explain(pairs, tmp_path / "out", replace(SMALL, k=500), ["r2", "r1"])
    assert found.usable == 12  # without 0, 4, 5 and 6
    for pair in found.pairs:
        rows = {other.row for other in pair.neighbors}
        assert len(pair.neighbors) == 11
        assert not rows & {0, 4, 5, 6, pair.row}
    assert (tmp_path / "out/index.html").stat().st_size < 100_000
    assert any("no usable picture" in remark for remark in found.remarks)
    for name, lack in {"r0": "text with a known word", "r4": "picture that can be used"}.items():
        with pytest.raises(DataError, match=f"pair '{name}' has no {lack}"):
            explain(pairs, tmp_path / "other", SMALL, [name])
    assert not (tmp_path / "other").exists()


def test_splits_are_made_for_doc2vec_where_there_are_none(tmp_path: Path) -> None:
    rows = {i: {"split": None} for i in range(12)}
    found, _ = explain(trope.open(write(tmp_path / "data", rows=rows)), tmp_path / "out", SMALL)
    assert "no row was in split 'train'" in found.remarks[0]


def test_agreement_is_told(tmp_path: Path) -> None:
    rows = {i: {"topic": "abc"[i % 3]} for i in range(12)}
    pairs = trope.open(write(tmp_path / "data", rows=rows))
    found, document = explain(pairs, tmp_path / "out", replace(SMALL, agree="topic"))
    assert document["shares"]["agree"]["column"] == "topic"
    assert document["shares"]["agree"]["chance"] == pytest.approx(3 / 11)
    assert "agree in topic" in Page(tmp_path / "out/index.html").text
    assert found.agree is not None


def test_the_same_every_time(tmp_path: Path) -> None:
    pairs = trope.open(write(tmp_path / "data"))
    settings = replace(SMALL, sample=7)
    for name in ("one", "two"):
        explain(pairs, tmp_path / name, settings)
    assert (tmp_path / "one/index.html").read_bytes() == (tmp_path / "two/index.html").read_bytes()


def test_wrong_use_is_told_before_any_work(tmp_path: Path) -> None:
    pairs = trope.open(write(tmp_path / "data", 3))
    with pytest.raises(UsageError, match=r"no pair 'r99'; ids look like 'r0'"):
        explain(pairs, tmp_path / "out", SMALL, ["r99"])
    (tmp_path / "full").mkdir()
    (tmp_path / "full/mine").write_text("keep")
    with pytest.raises(UsageError, match="not empty"):
        explain(pairs, str(tmp_path / "full"), SMALL)
    with pytest.raises(UsageError, match=r"ids: a list is wanted, found 'r1' \(str\)"):
        explain(pairs, tmp_path / "out", SMALL, "r1")
    with pytest.raises(ValueError, match="alike"):
        ExplainSettings(alike=1.5)
    with pytest.raises(ValueError, match="k must be"):
        ExplainSettings(k=0)


def test_too_little_to_compare(tmp_path: Path) -> None:
    pairs = trope.open(write(tmp_path / "data", 3, {1: {"text": ""}, 2: {"image": None}}))
    told = "of 3 rows, 1 have no text with a known word, 1 have no picture that can be used"
    with pytest.raises(DataError, match=f"two pairs are needed to compare; {told}"):
        explain(pairs, tmp_path / "out", SMALL)
    two = trope.open(write(tmp_path / "two", 2))
    found, _ = explain(two, tmp_path / "out", replace(SMALL, k=9))
    assert [len(pair.neighbors) for pair in found.pairs] == [1, 1]
    assert found.lead.startswith("All 1 other pairs are among the 9 nearest")


def test_equal_texts_are_no_neighbors(tmp_path: Path) -> None:
    rows = {i: {"text": "the same law for all"} for i in range(6)}
    pairs = trope.open(write(tmp_path / "data", 6, rows))
    found, document = explain(pairs, tmp_path / "out", SMALL, recall=True)
    assert found.pairs == ()
    assert "No pair has a neighbor in meaning" in Page(tmp_path / "out/index.html").text
    assert found.recall_line == "HNSW recall@4: no neighbor is there to be found"
    written = orjson.loads((tmp_path / "out/neighbors.json").read_bytes())
    assert written["recall"]["value"] is None
    assert np.isnan(document["recall"]["value"])
