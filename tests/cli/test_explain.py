"""`trope explain` from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import orjson
import pytest
from PIL import Image

from trope.cli import main
from trope.data.pairs import Pairs
from trope.spaces import Vectors, Visual

TINY = ["--set", "doc2vec.training.size=8", "--set", "doc2vec.training.epochs=3"]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    random = np.random.default_rng(0)
    words = ["law", "court", "ship", "sea"]
    return write(tmp_path / "data", [" ".join(random.choice(words, 5)) for _ in range(8)])


def write(folder: Path, texts: list[str]) -> Path:
    folder.mkdir()
    random = np.random.default_rng(1)
    rows = []
    for i, text in enumerate(texts):
        pixels = random.integers(0, 255, (32, 32, 3), np.uint8)
        Image.fromarray(pixels).save(folder / f"{i}.png")
        rows.append({"id": f"r{i}", "image": f"{i}.png", "text": text, "split": "train"})
    (folder / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return folder


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def vectors(_: Visual, pairs: Pairs) -> Vectors:
        values = np.random.default_rng(0).normal(size=(len(pairs), 4)).astype(np.float32)
        return Vectors(values, np.arange(len(pairs)), "noise", "data")

    monkeypatch.setattr(Visual, "vectors", vectors)


def call(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return int(stop.value.code or 0), out, err


def test_one_json_document(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "out"
    code, out, err = call(
        capsys, "explain", "--data", data, "--out", folder, "-k", 3, "--json", "--recall", *TINY
    )
    assert code == 0, err
    document = orjson.loads(out)
    assert document == orjson.loads((folder / "neighbors.json").read_bytes())
    assert document["config"]["k"] == 3
    assert 0 <= document["recall"]["value"] <= 1
    assert {len(pair["neighbors"]) for pair in document["pairs"]} <= {1, 2, 3}
    assert (folder / "index.html").exists()


def test_for_people(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = ["--data", data, "--out", tmp_path / "out"]
    code, out, _ = call(
        capsys, "explain", *where, "--pair", "r1", "--pair", "r5", "--recall", *TINY
    )
    assert code == 0
    assert "texts in the space doc2vec. All 7 other pairs are among the 12 nearest" in out
    assert "HNSW recall@12 against exact on a sample of 8 rows: " in out
    assert "r1" in out
    assert "r5" in out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--pair", "r77"], "no pair 'r77'; ids look like 'r0'"),
        (["--space", "doc2vek"], "expected one of doc2vec, sentence"),
        (["-k", "0"], "k must be at least 1, found 0"),
        (["--set", "alike=2"], "alike must be a share"),
        (["--set", "alik=0.1"], "did you mean 'alike'?"),
        (["--set", "agree=topic", *TINY], "no column 'topic'"),
    ],
)
def test_one_line_for_wrong_use(
    data: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    told: str,
) -> None:
    code, out, err = call(capsys, "explain", "--data", data, "--out", tmp_path / "out", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("trope: ")
    assert err.count("\n") == 1
    assert told in err
    assert not (tmp_path / "out").exists()


ODD = ["", "  ", "…!?", "law", "law court " * 100_000, "ሰላም ለዓለም", "x" * 1_000_000, "law sea ship"]


@pytest.mark.usefixtures("untyped")
def test_odd_texts_and_a_large_k(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Empty, one word, a megabyte, a script of its own: what has a known word is compared."""
    usual = [json.loads(line)["text"] for line in (data / "pairs.jsonl").read_text().splitlines()]
    odd = write(tmp_path / "odd", usual + ODD)
    where = ["--data", odd, "--out", tmp_path / "out", "-k", 10**9, "--recall", "--json"]
    known = [f"r{i}" for i in (*range(8), *range(11, 16))]
    asked = [word for name in known for word in ("--pair", name)]
    rare = ["--set", "doc2vec.training.min_count=1"]
    code, out, err = call(capsys, "explain", *where, *asked, *TINY, *rare)
    assert code == 0, err
    document = orjson.loads(out)
    assert (document["rows"], document["usable"]) == (16, 13)
    for pair in document["pairs"]:
        assert {other["id"] for other in pair["neighbors"]} == {*known} - {pair["id"]}
    assert document["recall"]["value"] == 1


@pytest.mark.usefixtures("untyped")
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "odd: no words in the texts of split 'train' to learn from"),
        ("Untitled", "odd: the texts to learn from have one word ('untitled') alone"),
    ],
)
def test_one_line_where_nothing_can_be_compared(
    text: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    odd = write(tmp_path / "odd", [text] * 6)
    code, out, err = call(capsys, "explain", "--data", odd, "--out", tmp_path / "out")
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert err.startswith("trope: ")
    assert told in err
    assert not (tmp_path / "out").exists()
