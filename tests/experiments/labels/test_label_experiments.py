"""The experiments of paper 003 end to end on planted pairs: figures, pages, what they refuse."""

from __future__ import annotations

import json
import shutil
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
import torch
from planted_pairs import QUICK, write
from scipy import sparse

from trope.errors import DataError, MissingExtra, UsageError
from trope.evaluation.embedded import Embedded
from trope.evaluation.gallery import Gallery
from trope.experiments import EXPERIMENTS, Findings, run
from trope.experiments.consistency.page import WATCHED
from trope.experiments.label_failures import causes
from trope.experiments.label_failures.kinds import CLASSES, SUPER, classes, unclassed
from trope.experiments.label_failures.page import page as failures_page
from trope.experiments.runs import Outcome, series, work
from trope.experiments.wikipedia import classic
from trope.views import Encoded

DOCS = Path(__file__).parents[3] / "docs" / "results"
SETS = [one for one in QUICK if not one.startswith("text.words")] + ["text.words=12"]
COMMON = ("workers=1", "cut=0", f"sets={json.dumps([*SETS, 'text.min_count=1'])}")
CASES: dict[str, tuple[str, ...]] = {
    "label-wise": ("seeds=1", "folds=12", *COMMON),
    "consistency": ("seeds=1", 'recipes=["independent"]', *COMMON),
    "masked-weight": ("seeds=1", "weights=[0.0, 0.1]", *COMMON),
    "label-failures": ("queries=2", COMMON[-1]),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Findings]]:
    home = tmp_path_factory.mktemp("labels")
    found = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TROPE_CACHE", str(home / "cache"))
        data = write(home / "pairs", labeled=True)
        for name, sets in CASES.items():
            found[name] = home / name, run(name, data, home / name, sets=sets)
    return found


def results(out: Path) -> dict[str, Any]:
    return dict(orjson.loads((out / "results.json").read_bytes()))


@pytest.mark.parametrize("name", CASES)
def test_tables_plot_and_page_are_written(
    made: dict[str, tuple[Path, Findings]], name: str
) -> None:
    out, findings = made[name]
    text = (out / f"{name}.md").read_text()
    assert all(table.markdown() in text for table in findings.tables)
    assert results(out)["provenance"]["commit"] in text
    assert f"trope experiment {name}" in text
    assert not any(word in text for word in ("nan", "None", "inf)", "{", "}"))
    assert (out / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert findings.page(results(out)) == text


def test_label_wise_has_all_its_figures(made: dict[str, tuple[Path, Findings]]) -> None:
    document = results(made["label-wise"][0])
    assert list(document["recipes"]) == ["independent", "dscmr", "sharing-consistency", "sharing"]
    for known in document["recipes"].values():
        for side in ("image_to_text", "text_to_image", "image", "text", "map.image_to_text"):
            assert 0 < known[side]["value"] <= 1
        assert 0 < known["folds.map.text_to_image"]["value"] <= 1
        assert len(known["image"]["runs"]) == 1
    pairs = [(pair["left"], pair["right"]) for pair in document["comparisons"]]
    assert pairs == [("sharing", name) for name in ("independent", "dscmr", "sharing-consistency")]


def test_consistency_is_watched_after_every_epoch(made: dict[str, tuple[Path, Findings]]) -> None:
    out, findings = made["consistency"]
    curves = results(out)["curves"]
    assert list(curves) == ["independent", "independent + consistency"]
    for known in curves.values():
        assert list(known) == list(WATCHED)
        assert all(len(one["mean"]) == 2 for one in known.values())
    assert [panel.title for panel in findings.panels] == list(WATCHED.values())


def test_failures_have_marks_causes_and_a_gallery(made: dict[str, tuple[Path, Findings]]) -> None:
    out, _ = made["label-failures"]
    document = results(out)
    for way, known in document["causes"].items():
        assert known["super_class"] + known["rest"] == known["wrong"] <= known["results"]
        assert len(document["shown"][way]) == 2
    first = document["shown"]["image_to_text"][0]["found"]
    assert len(first) == 5
    assert len(document["shown"]["text_to_image"][0]["found"]) == 3
    page = (out / "gallery" / "index.html").read_text()
    assert "confusion" in page
    assert all(one["mark"] == "right" or "confusion" in one["mark"] for one in first)


def test_causes_in_plain_loops() -> None:
    random = np.random.default_rng(0)
    names = ("cat", "dog", "car", "fork", "unknown")
    labels = sparse.csr_matrix((random.random((6, 5)) < 0.4).astype(np.int32))
    kinds = classes(labels, names)
    for i in range(6):
        wanted = {CLASSES[names[j]] for j in range(5) if labels[i, j] and names[j] in CLASSES}
        assert {list(SUPER)[j] for j in kinds[i].indices} == wanted
    assert len(CLASSES) == 80
    assert len(SUPER) == 12


def test_queries_with_most_wrong_results_come_first() -> None:
    right = np.array([[True, True], [False, False], [False, False], [False, True]])
    alike = np.array([[False, False], [True, True], [False, False], [False, True]])
    found = causes.Found(np.zeros((4, 2), np.int64), right, alike, 0.5)
    assert causes.shown(found, 2) == [1, 2]
    assert found.shares() == {
        "queries": 4,
        "results": 8,
        "wrong": 5,
        "super_class": 2,
        "rest": 3,
        "chance": 0.5,
    }


def test_only_queries_with_a_wrong_result_are_shown() -> None:
    right = np.array([[True, True], [True, False], [True, True], [False, False]])
    found = causes.Found(np.zeros((4, 2), np.int64), right, np.zeros((4, 2), bool), 0.0)
    assert causes.shown(found, 4) == [3, 1]
    found = causes.Found(np.zeros((4, 2), np.int64), right | True, right, None)
    assert causes.shown(found, 4) == []


def test_what_has_no_labels_neither_asks_nor_is_found() -> None:
    """Of four pictures the second has no labels; its vectors lie between all others."""
    labels = sparse.csr_matrix(np.array([[1, 0], [0, 0], [1, 0], [0, 1]], np.int32))
    some = np.arange(4)
    gallery = Gallery(
        *(some, some, np.arange(5), some, some, some * 0, some, some),
        labels=labels,
        ids=["a", "b", "c", "d"],
        label_names=("cat", "dog"),
    )
    places = torch.tensor([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.8, 0.6]])
    encoded = Encoded(torch.nn.functional.normalize(places, dim=1))
    embedded = causes.labeled(Embedded(gallery, encoded, encoded))
    found = causes.found(embedded, "image", 2)
    assert embedded.gallery.rows[found.items].tolist() == [[0, 3], [2, 3], [3, 0]]
    assert found.right.tolist() == [[True, False], [True, False], [True, False]]
    assert found.shares() | {"chance": 0} == {
        "queries": 3,
        "results": 6,
        "wrong": 3,
        "super_class": 3,
        "rest": 0,
        "chance": 0,
    }
    assert found.likely == 1.0


def told(made: dict[str, tuple[Path, Findings]], **changes: Any) -> str:
    """The page of failures if some of its results were others."""
    return failures_page(results(made["label-failures"][0]) | changes)


def test_the_page_says_what_was_left_out_and_what_has_no_super_class(
    made: dict[str, tuple[Path, Findings]],
) -> None:
    plain = told(made)
    assert "without labels" not in plain
    assert "in no super-class" not in plain
    page = told(
        made,
        unlabeled={"images": 1, "texts": 5},
        labels=9,
        unclassed=unclassed(["cat", "a", "b", "dog", "c", "d"]),
    )
    assert "1 picture without labels and 5 texts of theirs" in page
    assert "4 of 9 labels are in no super-class of COCO (a, b, c, …)" in page


def test_no_ratio_without_chance_or_without_wrong_results(
    made: dict[str, tuple[Path, Findings]],
) -> None:
    known = {"queries": 4, "results": 8, "wrong": 0, "super_class": 0, "rest": 0, "chance": None}
    some = known | {"wrong": 2, "rest": 2, "chance": 0.0}
    shown = {"image_to_text": [], "text_to_image": []}
    page = told(made, causes={"image_to_text": known, "text_to_image": some}, shown=shown)
    assert "times what chance gives" not in page
    assert "- Image to text: 0.0% of the first results share no label with the query.\n" in page
    assert "25.0% of the first results" in page
    assert "0.0% of these are of its super-class, chance gives none." in page
    assert "| image to text | 4 | 0.0% | – | – | – |" in page
    assert "Image to text: 0 queries have a wrong result." in page
    assert "**Failures" not in page


def test_correlation_finds_what_both_sides_share() -> None:
    """Pictures and texts are noisy views of a category: all three methods find it."""
    random = np.random.default_rng(0)
    of, categories = {}, None
    views = random.normal(size=(3, 6)), random.normal(size=(3, 4))
    for split, count in (("train", 150), ("val", 60), ("test", 60)):
        kinds = random.integers(0, 3, count)
        categories = kinds if split == "train" else categories
        of[split] = tuple(v[kinds] + 0.3 * random.normal(size=(count, v.shape[1])) for v in views)
        of[f"{split}-kinds"] = kinds
    truth = {id(of[split][0]): of[f"{split}-kinds"] for split in ("val", "test")}
    given = classic.Features({k: v for k, v in of.items() if "-" not in k}, categories)

    def precision(both: classic.Both) -> float:
        kinds = of["val-kinds"] if len(both[0]) == 60 else truth[id(both[0])]
        unit = [one / np.linalg.norm(one, axis=1, keepdims=True) for one in both]
        best = (unit[0] @ unit[1].T).argmax(axis=1)
        return float((kinds == kinds[best]).mean())

    found = classic.classic(given, precision)
    assert list(found) == ["CM", "SM", "SCM"]
    for _, (image, text) in found.values():
        unit = [one / np.linalg.norm(one, axis=1, keepdims=True) for one in (image, text)]
        best = (unit[0] @ unit[1].T).argmax(axis=1)
        assert (of["test-kinds"] == of["test-kinds"][best]).mean() > 0.8


def test_without_scikit_learn_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(classic, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"trope\[baselines\]"):
        classic.require()


def test_a_stopped_experiment_goes_on(made: dict[str, tuple[Path, Findings]]) -> None:
    """What is finished is not trained again; the page comes out the same."""
    out, _ = made["label-wise"]
    before = (out / "label-wise.md").read_text()
    shutil.rmtree(out / "gallery", ignore_errors=True)
    sets = ("finished=true", *CASES["label-wise"])
    run("label-wise", out.parent / "pairs", out, sets=sets)
    assert (out / "label-wise.md").read_text() == before


@pytest.mark.parametrize("name", ["label-wise", "consistency", "masked-weight"])
@pytest.mark.parametrize(
    ("lacking", "labels", "told"),
    [
        ("val", [], "split 'val'"),
        ("val", ["cat"], "split 'val': validation pairs that have labels all have the same"),
        ("test", [], "no row of split 'test' has labels"),
    ],
)
def test_data_without_labels_to_choose_or_measure_by_is_refused_before_training(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    lacking: str,
    labels: list[str],
    told: str,
) -> None:
    monkeypatch.setattr(work, "train", lambda *given, **more: pytest.fail("trained"))
    data = relabeled(write(tmp_path / "pairs", labeled=True), lacking, labels)
    measured = ["split=test"] if lacking == "test" else []
    with pytest.raises(DataError, match=told):
        run(name, data, tmp_path / "out", sets=[*CASES[name], *measured])


def test_failures_are_looked_for_where_labels_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = import_module("trope.experiments.label_failures.study")
    monkeypatch.setattr(study, "train", lambda *given, **more: pytest.fail("trained"))
    data = relabeled(write(tmp_path / "pairs", labeled=True), "test", [])
    with pytest.raises(DataError, match="no row of split 'test' has labels"):
        run("label-failures", data, tmp_path / "out", sets=CASES["label-failures"])


def relabeled(data: Path, split: str, labels: list[str]) -> Path:
    """The rows of a split with other labels."""
    rows = [json.loads(line) for line in (data / "pairs.jsonl").read_text().splitlines()]
    for row in rows:
        row["labels"] = labels if row["split"] == split else row["labels"]
    (data / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return data


def test_the_line_of_a_run_names_what_validation_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TROPE_CACHE", str(tmp_path / "cache"))
    data = write(tmp_path / "pairs", labeled=True)
    sets = ["seeds=1", 'recipes=["dscmr"]', "folds=0", *COMMON]
    run("label-wise", data, tmp_path / "out", sets=sets)
    said = capsys.readouterr().err
    (part,) = (tmp_path / "out").rglob("*.safetensors")
    outcome = Outcome.load(part)
    assert outcome is not None
    best = outcome.about["history"][outcome.about["best_epoch"] - 1]
    ndcg = (best["val_ndcg_image_to_text"] + best["val_ndcg_text_to_image"]) / 2
    assert f"validation NDCG {ndcg:.3f}" in said


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("label-wise", "recipes=[]"),
        ("consistency", "eta=0"),
        ("masked-weight", "weights=[1.0]"),
        ("label-failures", "queries=0"),
        ("wikipedia", "seeds=0"),
    ],
)
def test_settings_that_cannot_be(tmp_path: Path, name: str, wrong: str) -> None:
    with pytest.raises(UsageError, match=wrong.partition("=")[0]):
        run(name, tmp_path, tmp_path / "out", sets=[wrong])


@pytest.mark.parametrize(
    ("name", "sets", "said"),
    [
        ("label-wise", ["cut=24", "folds=0"], "--set cut=24: split 'test' has 24 pictures"),
        ("label-wise", ["cut=0", "folds=25"], "--set folds=25: split 'test' has 24 pictures"),
        ("label-wise", ["cut=23", "folds=1"], "folds must be 0, or at least 2"),
        ("label-wise", ["cut=12", "folds=12"], r"--set folds=12: the first 12 \(cut\) are all"),
        ("consistency", [], "--set cut=500: split 'test' has 24 pictures"),
        ("masked-weight", ["cut=30"], "--set cut=30: split 'val' has 24 pictures"),
    ],
)
def test_splits_that_are_too_small_are_refused_before_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, sets: list[str], said: str
) -> None:
    monkeypatch.setattr(series, "_train", lambda *given: pytest.fail("it was trained"))
    data = write(tmp_path / "pairs", labeled=True)
    with pytest.raises(UsageError, match=said):
        run(name, data, tmp_path / "out", sets=[*sets, COMMON[-1]])


def test_a_split_without_labels_is_refused_before_training(tmp_path: Path) -> None:
    data = write(tmp_path / "pairs", labeled=True)
    rows = [json.loads(line) for line in (data / "pairs.jsonl").read_text().splitlines()]
    for row in rows:
        row["labels"] = [] if row["split"] == "test" else row["labels"]
    (data / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(DataError, match="no row of split 'test' has labels"):
        run("label-wise", data, tmp_path / "out", sets=["cut=0", "folds=0", COMMON[-1]])


@pytest.mark.parametrize("name", [*CASES, "wikipedia"])
def test_the_page_of_the_docs_is_what_the_command_writes(name: str) -> None:
    stored = DOCS / f"{name}.json"
    if not stored.exists():
        pytest.skip("not measured yet")
    page = import_module(f"trope.experiments.{name.replace('-', '_')}.page").page
    assert page(orjson.loads(stored.read_bytes())) == stored.with_suffix(".md").read_text()


def test_they_are_listed_with_their_paper() -> None:
    for name in (*CASES, "wikipedia"):
        assert EXPERIMENTS[name].title.strip()
        assert EXPERIMENTS[name].paper.strip()
