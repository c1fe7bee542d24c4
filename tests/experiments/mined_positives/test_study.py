from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
from crisscrossed_sample import write

from trope.config import plain
from trope.errors import DataError, UsageError
from trope.experiments import EXPERIMENTS, Findings, run
from trope.experiments.crisscrossed import Crisscrossed, read
from trope.experiments.folder import differing
from trope.experiments.mined_positives import MinedPositives, scorers, study
from trope.experiments.mined_positives.page import page
from trope.features.sentences import SentenceEncoder
from trope.reports import plots

FEW = ('measures=["labels", "cider"]', "resamples=50")


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plots take most of a small run's time."""
    monkeypatch.setattr(plots, "draw", lambda *_: None)


class Planted:
    """A measure that puts judged pairs first: in the order of people's scores, or in any order."""

    def __init__(self, data: Crisscrossed, agrees: bool) -> None:
        self.random = np.random.default_rng(1)
        self.data, self.agrees = data, agrees

    def _table(self, task: str, rows: np.ndarray) -> np.ndarray:
        judged, queries = self.data.judged(task), len(self.data.query_images(task))
        table = self.random.random((queries, len(self.data.owners))).astype(np.float32)
        scores = 1 + judged.scores
        planted = scores if self.agrees else self.random.permutation(scores)
        table[judged.queries, judged.captions] = planted
        return table[rows]

    def images(self, rows: np.ndarray) -> np.ndarray:
        return self._table("sits", rows)

    def captions(self, rows: np.ndarray) -> np.ndarray:
        return self._table("sts", rows)

    def left_out(self, rows: np.ndarray) -> np.ndarray:
        return self.random.random(len(rows)).astype(np.float32)


def results(out: Path) -> dict[str, Any]:
    return dict(orjson.loads((out / "results.json").read_bytes()))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Findings]:
    folder = tmp_path_factory.mktemp("made")
    write(folder / "annotations")
    return folder / "out", run("mined-positives", folder / "annotations", folder / "out", sets=FEW)


def test_figures_tables_plot_and_page_are_written(made: tuple[Path, Findings]) -> None:
    out, findings = made
    document = results(out)
    assert document["experiment"] == "mined-positives"
    assert document["settings"]["measures"] == ["labels", "cider"]
    assert document["provenance"]["machine"]
    assert document["tasks"]["sits"]["mined"] == [1, 2, 5, 10, 20, 45]
    assert (out / "table.md").read_text() == "\n".join(t.markdown() for t in findings.tables)
    text = (out / "mined-positives.md").read_text()
    assert all(table.markdown() in text for table in findings.tables)
    assert "nan" not in text
    assert document["provenance"]["commit"] in text
    assert "(mined-positives.svg)" in text
    assert (out / "mined-positives.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (out / "mined-positives.svg").read_text()


def test_the_page_is_made_of_the_results_alone(made: tuple[Path, Findings]) -> None:
    assert page(results(made[0])) == (made[0] / "mined-positives.md").read_text()


def test_the_page_of_the_docs_is_what_the_command_writes() -> None:
    folder = Path(__file__).parents[3] / "docs" / "results"
    document = orjson.loads((folder / "mined-positives.json").read_bytes())
    assert page(document) == (folder / "mined-positives.md").read_text(encoding="utf-8")
    assert document["settings"] == plain(MinedPositives())


def test_images_without_labels_are_counted(data: Path, tmp_path: Path) -> None:
    path = data / "coco_captions" / "karpathy_captions_labels_10k.jsonl"
    path.write_text(path.read_text().replace('"labels":["dog"]', '"labels":[]'))
    assert scorers.label_counts(read(data)).tolist().count(0) == 2


def test_other_weights_of_an_encoder_are_other_places(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, keys = read(data), set()
    for weights in ("one", "two"):
        monkeypatch.setattr(SentenceEncoder, "fingerprint", lambda _, w=weights: w)
        keys.add(study._key(found, "sits", "sentence"))
    assert len(keys) == 2


def test_mining_everything_finds_everything(made: tuple[Path, Findings]) -> None:
    for task in results(made[0])["tasks"].values():
        base = task["positive_other"] / task["judged_other"]
        for known in task["measures"].values():
            assert known["recall"]["value"][-1] == pytest.approx(1)
            assert known["agreement"]["value"][-1] == pytest.approx(base)
            assert known["judged"]["value"][-1] == pytest.approx(task["judged_other"])
        chance = np.array(task["measures"]["chance"]["agreement"]["value"])
        assert chance == pytest.approx(base)


@pytest.mark.usefixtures("undrawn")
def test_a_measure_that_agrees_with_people_beats_a_random_one(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def planted(found: Crisscrossed) -> dict[str, Any]:
        return {"cider": lambda: Planted(found, True), "labels": lambda: Planted(found, False)}

    monkeypatch.setattr(scorers, "scorers", planted)
    run("mined-positives", data, tmp_path / "out", sets=FEW)
    for task in results(tmp_path / "out")["tasks"].values():
        good, bad = task["measures"]["cider"], task["measures"]["labels"]
        for curve in ("agreement", "recall"):
            assert good[curve]["value"][0] > bad[curve]["value"][0]
            assert good[curve]["value"][1] > bad[curve]["value"][1]
        assert good["spearman_other"]["value"][0] == pytest.approx(1)
        assert abs(bad["spearman_other"]["value"][0]) < 0.5
        assert good["needed"]["value"][0] < bad["needed"]["value"][0]
        assert good["gain"]["value"][0] > 0


@pytest.mark.usefixtures("undrawn")
def test_what_a_stopped_run_had_done_is_not_done_again(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    run("mined-positives", data, out, sets=FEW)
    first = results(out)
    (out / "results.json").unlink()
    (out / "parts" / "sts-cider.safetensors").unlink()
    located = []
    real = study.locate
    monkeypatch.setattr(study, "locate", lambda *a: located.append(a[-1]) or real(*a))
    run("mined-positives", data, out, sets=FEW)
    assert located == ["sts: cider"]
    assert results(out)["tasks"] == first["tasks"]
    path = data / "coco_captions" / "karpathy_captions_labels_10k.jsonl"
    path.write_text(path.read_text().replace("one dog", "two cats"))
    run("mined-positives", data, out, sets=FEW)
    assert len(located) == 5


def test_wrong_use_is_told_before_any_work(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(UsageError, match="did you mean 'mined-positives'"):
        run("mined-positive", data, out)
    with pytest.raises(UsageError, match="no such folder; mined-positives needs COCO"):
        run("mined-positives", tmp_path / "none", out)
    for wrong, told in {
        "measures=[]": "at least one",
        'measures=["cidre"]': "did you mean 'cider'",
        "positive=6": "positive",
        "share=1": "share",
        "resamples=1": "resamples",
    }.items():
        with pytest.raises(UsageError, match=told):
            run("mined-positives", data, out, sets=[wrong])
    with pytest.raises(DataError, match="no pair has a score of 5 or more"):
        run("mined-positives", data, out, sets=["positive=5"])
    assert not out.exists()


def test_a_folder_of_other_things_is_left_alone(data: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not empty"):
        run("mined-positives", data, data)
    out = tmp_path / "out"
    out.mkdir()
    (out / "experiment.json").write_text('{"experiment": "another"}')
    with pytest.raises(UsageError, match="holds the experiment 'another'"):
        run("mined-positives", data, out)
    for content in ("rubbish", "[]", '{"experiment": "mined-positives", "settings": 3}'):
        (out / "experiment.json").write_text(content)
        with pytest.raises(UsageError, match="not written by trope"):
            run("mined-positives", data, out)


@pytest.mark.usefixtures("undrawn")
def test_a_folder_belongs_to_its_settings(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run("mined-positives", data, out, sets=FEW)
    before = results(out)
    for sets, told in {
        (FEW[0], "resamples=60"): "out: made with resamples=50, not 60; name a new folder",
        (FEW[1],): r"out: made with measures=\['labels', 'cider'\], not \['labels', 'cider', .*",
        (*FEW, "seed=3", "share=0.5"): "made with share=0.663, not 0.5, seed=0, not 3; name",
    }.items():
        with pytest.raises(UsageError, match=told):
            run("mined-positives", data, out, sets=sets)
    assert results(out) == before
    run("mined-positives", str(data), str(out), sets=FEW[::-1])  # the same in another order
    assert results(out)["tasks"] == before["tasks"]
    (out / "results.json").unlink()  # stopped before the end: still the same folder's settings
    with pytest.raises(UsageError, match="resamples=50, not 1000"):
        run("mined-positives", data, out, sets=FEW[:1])


@pytest.mark.usefixtures("undrawn")
def test_a_setting_that_is_newer_than_the_folder_had_its_usual_value(
    data: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    run("mined-positives", data, out, sets=FEW)
    begun = orjson.loads((out / "experiment.json").read_bytes())
    del begun["settings"]["seed"]
    (out / "experiment.json").write_bytes(orjson.dumps(begun))
    run("mined-positives", data, out, sets=FEW)
    with pytest.raises(UsageError, match="seed=0, not 3"):
        run("mined-positives", data, out, sets=[*FEW, "seed=3"])


def test_settings_that_differ_are_named_from_within() -> None:
    before = {"seed": 0, "space": {"k": 5, "doc2vec": {"size": 8}}, "old": 1}
    now = {"seed": 0, "space": {"k": 6, "doc2vec": {"size": 9}}, "new": [1]}
    assert differing(before, before) == []
    assert differing(before, now) == [
        "space.k=5, not 6",
        "space.doc2vec.size=8, not 9",
        "old=1, not none",
        "new=none, not [1]",
    ]


@pytest.mark.usefixtures("untyped")
def test_one_setting_is_no_list_of_settings(data: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="sets: a list is wanted, found 'seed=1'"):
        run("mined-positives", data, tmp_path / "out", sets="seed=1")


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_says_where_it_comes_from(name: str) -> None:
    experiment = EXPERIMENTS[name]
    assert experiment.title
    assert experiment.paper
    assert experiment.data
    assert experiment.settings()
