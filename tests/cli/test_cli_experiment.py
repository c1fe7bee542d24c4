"""`trope experiment` and `trope experiments` through the real command line."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import orjson
import pytest

from trope.cli import main
from trope.errors import TropeError
from trope.experiments import EXPERIMENTS


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    out, err = capsys.readouterr()
    return int(stop.value.code or 0), out, err


def test_experiments_are_listed_with_their_papers(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, "experiments", "--json")
    listed = {row["name"]: row for row in orjson.loads(out)}
    assert code == 0
    assert listed.keys() == EXPERIMENTS.keys()
    assert "Li et al. 2022" in listed["mined-positives"]["paper"]
    assert listed["mined-positives"]["settings"]["positive"] == 3.0
    code, out, _ = call(capsys, "experiments")
    assert code == 0
    assert "mined-positives" in out


def test_the_settings_of_an_experiment_and_what_they_mean(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in EXPERIMENTS:
        code, out, _ = call(capsys, "experiments", name)
        assert code == 0
        assert EXPERIMENTS[name].paper.split(",")[0] in out
        assert all(each.name in out for each in fields(EXPERIMENTS[name].settings))
    code, out, _ = call(capsys, "experiments", "daa", "--json")
    assert [row["name"] for row in orjson.loads(out)] == ["daa"]
    code, out, err = call(capsys, "experiments", "daaa")
    assert (code, out, err) == (2, "", "trope: no experiment 'daaa'; did you mean 'daa'?\n")


def test_missing_data_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for folder in (tmp_path, tmp_path / "none"):
        arguments = ("mined-positives", "--data", str(folder), "--out", str(tmp_path / "out"))
        code, out, err = call(capsys, "experiment", *arguments)
        assert (code, out) == (2, "")
        assert err.count("\n") == 1
        assert "sits_test.csv" in err
        assert not (tmp_path / "out").exists()


def test_an_experiment_runs_and_prints_one_document(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    data = tmp_path / "data"
    (data / "cxc").mkdir(parents=True)
    (data / "coco_captions").mkdir()
    rows = [
        {"id": i, "texts": [f"a {w} here", f"one {w}"], "caption_ids": [10 * i, 10 * i + 1]}
        | {"labels": [w], "split": "test"}
        for i, w in enumerate(["dog", "cat", "dog", "kite"], 1)
    ]
    path = data / "coco_captions" / "karpathy_captions_labels_10k.jsonl"
    path.write_bytes(b"\n".join(map(orjson.dumps, rows)))
    sits = "caption,image,agg_score\nx:30,1.jpg,4\nx:21,1.jpg,1\nx:10,3.jpg,5\nx:40,3.jpg,0\n"
    sts = "caption1,caption2,agg_score\nx:10,x:30,4\nx:10,x:20,1\nx:40,x:20,2\n"
    (data / "cxc" / "sits_test.csv").write_text(sits)
    (data / "cxc" / "sts_test.csv").write_text(sts)
    out = tmp_path / "out"
    few = ("--set", 'measures=["labels", "rouge"]', "--set", "resamples=20")
    arguments = ("mined-positives", "--data", str(data), "--out", str(out), *few)
    code, printed, err = call(capsys, "experiment", *arguments, "--json")
    assert code == 0, err
    document = orjson.loads(printed)
    assert document == orjson.loads((out / "results.json").read_bytes())
    assert document["tasks"]["sits"]["measures"]["labels"]["agreement"]["value"][0] == 1.0
    code, printed, _ = call(capsys, "experiment", *arguments)
    assert code == 0
    assert "Spearman" in printed
    code, printed, err = call(capsys, "experiment", *arguments, "--set", "positive=2.5")
    assert (code, printed, err.count("\n")) == (2, "", 1)
    assert f"{out}: made with positive=3.0, not 2.5; name a new folder" in err
    assert document == orjson.loads((out / "results.json").read_bytes()) | {
        "provenance": document["provenance"]
    }


def test_seeds_are_a_setting_with_an_option_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []

    def note(name: str, data: Path, out: Path, sets: list[str]) -> None:
        asked.append(sets)
        raise TropeError("enough")

    monkeypatch.setattr("trope.cli.experiment.run", note)
    plain = ("experiment", "complementary", "--data", str(tmp_path), "--out", str(tmp_path / "o"))
    call(capsys, *plain, "--set", "rows=9", "--seeds", "4")
    call(capsys, *plain)
    assert asked == [["rows=9", "seeds=4"], []]
    assert call(capsys, *plain, "--seeds", "0")[0] == 2
