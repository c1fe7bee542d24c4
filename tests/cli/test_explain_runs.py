"""`trope explain` of runs and of wrong pairs, from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import orjson
import pytest
from PIL import Image

from trope.cli import main
from trope.data.pairs import Pairs
from trope.spaces import Sentence, Vectors
from trope.training import train

pytest.importorskip("matplotlib")

QUICK = (
    "image.backbone=precomputed",
    "text.hidden=8",
    "text.words=8",
    "head.size=8",
    "training.batch=8",
    "training.epochs=2",
)


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def vectors(_: Sentence, pairs: Pairs) -> Vectors:
        texts, owners = pairs.flat_texts()
        values = [[text.count(f"word{i}") for i in range(6)] for text in texts.to_pylist()]
        return Vectors(np.array(values, np.float32), owners, "words", "data")

    monkeypatch.setattr(Sentence, "vectors", vectors)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data set with pictures and their features, and two runs on it."""
    folder = tmp_path_factory.mktemp("runs")
    random = np.random.default_rng(0)
    (folder / "data/features").mkdir(parents=True)
    topics = np.arange(48) % 6
    features = random.normal(size=(6, 8))[topics] + 0.3 * random.normal(size=(48, 8))
    np.save(folder / "data/features/image.npy", features.astype(np.float32))
    rows = []
    for i, topic in enumerate(topics.tolist()):
        Image.new("RGB", (8, 8), (5 * i, 40 * topic, 90)).save(folder / f"data/{i}.png")
        words = f"word{topic} word{topic} word{random.integers(6)} page{i}"
        split = ["train", "train", "val", "test"][i // 12]
        rows.append({"id": f"r{i}", "image": f"{i}.png", "image_feature": i, "text": words})
        rows[-1]["split"] = split
    (folder / "data/pairs.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TROPE_CACHE", str(folder / ".cache"))
        for name, recipe in (("one", "neighborhoods"), ("other", "angular")):
            train(recipe, folder / "data", folder / name, sets=QUICK, quiet=True)
    return folder


def call(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return int(stop.value.code or 0), out, err


@pytest.mark.parametrize(
    ("arguments", "name", "told"),
    [
        (["{}/one"], "weights", "How uneven the weights are"),
        (["{}/one", "--against", "{}/other"], "against", "one keeps"),
        (
            ["--data", "{}/data", "--wrong", "--set", "visual.backbone=precomputed"],
            "wrong",
            "48 pairs",
        ),
        (["{}/one", "--wrong"], "wrong", "48 pairs"),
    ],
)
def test_a_page_and_one_json_document(
    arguments: list[str],
    name: str,
    told: str,
    place: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = [argument.format(place) for argument in arguments]
    code, out, err = call(capsys, "explain", *given, "--out", tmp_path / "json", "--json")
    assert code == 0, err
    document = orjson.loads(out)
    assert document == orjson.loads((tmp_path / "json" / f"{name}.json").read_bytes())
    assert (tmp_path / "json/index.html").exists()
    code, out, err = call(capsys, "explain", *given, "--out", tmp_path / "page")
    assert code == 0, err
    assert told in out
    assert str(tmp_path / "page/index.html") in "".join(out.split("\n"))


def test_a_run_names_its_data_and_its_networks(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    code, printed, err = call(
        capsys, "explain", place / "one", "--wrong", "-k", 4, "--out", out, "--json"
    )
    assert code == 0, err
    document = orjson.loads(printed)
    assert document["data"] == "data"
    assert document["config"]["visual"]["backbone"] == "precomputed"
    assert document["config"]["k"] == 4
    code, printed, err = call(
        capsys,
        "explain",
        place / "one",
        "--data",
        place / "data",
        "--out",
        tmp_path / "o",
        "--json",
    )
    assert code == 0, err
    assert orjson.loads(printed)["pairs"] == 24


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "name a run, or data with --data"),
        (["--data", "{}/data", "--against", "{}/one"], "trope explain RUN --against RUN"),
        (["{}/one", "--against", "{}/other", "--wrong"], "two pages: leave one of them out"),
        (["{}/one", "--against", "{}/one"], "not compared with itself"),
        (["{}/one", "-k", "3"], "-k does not go with a run"),
        (["{}/one", "--pair", "r1"], "--pair does not go with a run"),
        (["{}/one", "--wrong", "--recall"], "--recall does not go with --wrong"),
        (["{}/none"], "no such file"),
        (["{}/one", "--set", "pair=3"], "did you mean 'pairs'?"),
        (["{}/one", "--set", "pairs=0"], "pairs must be at least 1"),
        (["{}/one", "--wrong", "--set", "score=x"], "no score 'x'"),
        (["{}/one", "--against", "{}/other", "--set", "split=all"], "expected one of"),
    ],
)
def test_one_line_for_wrong_use(
    arguments: list[str],
    told: str,
    place: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = [argument.format(place) for argument in arguments]
    code, out, err = call(capsys, "explain", *given, "--out", tmp_path / "out")
    assert (code, out) == (2, "")
    assert err.startswith("trope: ")
    assert err.count("\n") == 1
    assert told in err
    assert not (tmp_path / "out").exists()
