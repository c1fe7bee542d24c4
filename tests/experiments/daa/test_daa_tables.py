"""Both tables end to end on planted pairs: figures, pages, what they refuse; slopes by hand."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
from planted_pairs import QUICK, write

import trope
from trope import config
from trope.config import plain
from trope.errors import UsageError
from trope.experiments import Findings, run
from trope.experiments.daa import Measures, Ratios
from trope.experiments.daa.agreeing import low_shares
from trope.experiments.daa.measure import ASPS, RECALL
from trope.experiments.daa.page import page, way_of
from trope.experiments.daa.published import TABLE_1, gain_1, gain_2
from trope.experiments.daa.ratio_figures import published_slopes
from trope.experiments.daa.ratio_page import page as ratio_page
from trope.experiments.daa.ratios import slope
from trope.experiments.runs import Variant

SETS = [*QUICK, "daa.temperature=0.02"]
FEW = (
    'models=["vse"]',
    "seeds=2",
    "rows=64",
    "folds=8",
    "workers=1",
    f"sets={json.dumps(SETS)}",
)


def several(folder: Path) -> Path:
    """Three texts a picture; the two others have words of the first."""
    data = write(folder)
    rows = [json.loads(line) for line in (data / "pairs.jsonl").read_text().splitlines()]
    for row in rows:
        words = str(row.pop("text")).split()
        row["texts"] = [" ".join([*words[i:], f"more{row['id']}{i}"]) for i in range(3)]
    (data / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return data


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("daa")
    several(folder / "pairs")
    return folder


def made(home: Path, name: str, *more: str) -> tuple[dict[str, Any], Findings]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TROPE_CACHE", str(home / "cache"))
        findings = run(name, home / "pairs", home / name, sets=[*FEW, *more])
    return dict(orjson.loads((home / name / "results.json").read_bytes())), findings


@pytest.fixture(scope="module")
def measures(home: Path) -> tuple[dict[str, Any], Findings]:
    return made(home, "daa", 'relevance=["cider-daa", "bleu", "cider"]')


@pytest.fixture(scope="module")
def ratios(home: Path) -> tuple[dict[str, Any], Findings]:
    return made(home, "data-ratio", "ratios=[0.34, 1.0]")


def test_every_row_has_its_figures(measures: tuple[dict[str, Any], Findings]) -> None:
    document, _ = measures
    assert (document["train_rows"], document["train_texts"]) == (64, 192)
    assert (document["images"], document["texts"], document["seeds"]) == (24, 72, 2)
    found = document["models"]["vse"]
    assert list(found["rows"]) == ["base", "cider-daa", "bleu", "cider"]
    for known in found["rows"].values():
        for way in ("image_to_text", "text_to_image"):
            assert list(known[way]) == [RECALL, *ASPS]
            assert all(0 <= known[way][metric]["value"] <= 1 for metric in known[way])
    gained = found["gains"]["cider-daa"]["image_to_text"]["asp/cider-daa"]["difference"]
    rows = [
        found["rows"][kind]["image_to_text"]["asp/cider-daa"]["value"]
        for kind in ("cider-daa", "base")
    ]
    assert gained == pytest.approx(rows[0] - rows[1])
    assert 0 <= document["low"]["cider-daa"] <= 1


@pytest.mark.parametrize("name", ["daa", "data-ratio"])
def test_pages_are_whole_and_made_of_the_results_alone(
    home: Path, name: str, request: pytest.FixtureRequest
) -> None:
    document, findings = request.getfixturevalue("measures" if name == "daa" else "ratios")
    text = (home / name / f"{name}.md").read_text()
    assert (page if name == "daa" else ratio_page)(document) == text
    assert all(table.markdown() in text for table in findings.tables)
    assert not any(word in text for word in ("nan", "None", "inf)", "{"))
    assert (home / name / f"{name}.svg").exists()
    line = text.split("```")[1].removeprefix("console\n$ ")
    words = shlex.split(line.replace("\\\n", " "))
    sets = [words[i + 1] for i, word in enumerate(words) if word == "--set"]
    asked = plain(config.load(Measures if name == "daa" else Ratios, None, sets))
    assert asked | {"workers": 1} == document["settings"]


def test_shares_have_gains_and_slopes(ratios: tuple[dict[str, Any], Findings]) -> None:
    found = ratios[0]["models"]["vse"]
    assert list(found["ratios"]) == ["0.34", "1"]
    for way in ("image_to_text", "text_to_image"):
        gained = [known["gains"][way][RECALL]["difference"] for known in found["ratios"].values()]
        known = found["slopes"][way][RECALL]
        assert known["difference"] == pytest.approx((gained[1] - gained[0]) / 0.66)
        assert len(known["runs"]) == 2


def test_what_is_finished_is_not_trained_again(
    home: Path, measures: tuple[dict[str, Any], Findings]
) -> None:
    before = {path: path.stat().st_mtime_ns for path in (home / "daa" / "parts").iterdir()}
    again, _ = made(home, "daa", 'relevance=["cider-daa", "bleu", "cider"]', "finished=true")
    assert again["models"] == measures[0]["models"]
    assert before == {path: path.stat().st_mtime_ns for path in (home / "daa" / "parts").iterdir()}


def test_a_variant_takes_its_share_of_training_alone(home: Path) -> None:
    pairs = trope.open(home / "pairs")
    taken = Variant("few", "vse-daa", rows=30, share=0.34).taken(pairs)
    assert len(taken.in_split("train")) == 30
    assert int(taken.in_split("train").text_counts.sum()) < 45
    for split in ("val", "test"):
        assert taken.in_split(split).ids == pairs.in_split(split).ids
    assert Variant("all", "vse-daa").taken(pairs) is pairs
    asked = Variant("asked", "vse-daa", asked=7).taken(pairs)
    assert set(asked.in_split("test").ids) < set(pairs.in_split("test").ids)
    assert len(asked.in_split("test").ids) == 7
    assert asked.in_split("train").ids == pairs.in_split("train").ids


@pytest.mark.usefixtures("measures", "ratios")
def test_table_2_takes_the_runs_of_table_1_on_all_data(home: Path) -> None:
    """Parts are named by what they hold: those of one table may be copied to the other."""
    kept = {path.name for path in (home / "daa" / "parts").iterdir()}
    found = {path.name for path in (home / "data-ratio" / "parts").iterdir()}
    whole = {name for name in found if "0.34" not in name}
    assert len(whole) == 4
    assert whole <= kept


def test_copied_parts_are_not_trained_again(
    home: Path, measures: tuple[dict[str, Any], Findings]
) -> None:
    shutil.copytree(home / "daa" / "parts", home / "copied" / "parts")
    sets = [*FEW, 'relevance=["cider-daa", "bleu", "cider"]', "finished=true"]
    found = run("daa", home / "pairs", home / "copied", sets=sets)
    assert found.results["models"] == measures[0]["models"]
    (home / "other" / "parts").mkdir(parents=True)
    (home / "other" / "letter.txt").write_text("mine")
    with pytest.raises(UsageError, match="other"):
        run("daa", home / "pairs", home / "other", sets=FEW)
    assert sorted(path.name for path in (home / "other").iterdir()) == ["letter.txt", "parts"]


def test_slopes_by_hand() -> None:
    found = slope([0.0, 0.5, 1.0], np.array([[0.0, 1.0, 2.0], [0.0, 2.0, 4.0]]))
    assert found["difference"] == pytest.approx(3.0)
    assert found["runs"] == pytest.approx([2.0, 4.0])
    reach = 12.706 * np.sqrt(2) / np.sqrt(2)
    assert found["low"] == pytest.approx(3 - reach, rel=1e-3)
    assert slope([0.0, 1.0], np.array([[0.0, 1.0]]))["low"] is None


def test_the_paper_s_figures_say_what_its_text_says() -> None:
    assert gain_1("cider-daa", 0, 0) == pytest.approx(0.8)
    assert gain_2(0.4, 0) == pytest.approx(3.5)
    assert gain_2(0.4, 1) == pytest.approx(12.9)
    assert gain_2(1.0, 1) == pytest.approx(14.6)
    assert gain_2(0.2, 0) is None
    assert gain_1("cider", 0, 0) is None
    assert all(len(side) == 5 for sides in TABLE_1.values() for side in sides)
    recall, asp, *others = published_slopes()
    assert recall < 0 < asp
    assert others[0] < 0 < others[1]


def test_captions_unlike_the_others_of_their_image(tmp_path: Path) -> None:
    """Four captions agree, the fifth shares no word: with itself it has a fifth of the whole."""
    texts = ["a red bus here"] * 4 + ["completely different words entirely"]
    others = ["some green trees"] * 5
    rows = [{"id": "a", "texts": texts}, {"id": "b", "texts": others}]
    (tmp_path / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)))
    found = low_shares(trope.open(tmp_path))
    assert found["cider-daa"] == pytest.approx(0.1)
    assert found["without itself"] == pytest.approx(0.1)


def test_wrong_use_is_told_before_any_work(home: Path, tmp_path: Path) -> None:
    for wrong, said in {
        "models=[]": "at least one",
        'models=["vsee"]': "no model 'vsee'; did you mean 'vse'.*there is pcme, sgr, vse",
        "folds=25": "--set folds=25: split 'test' has 24 pictures",
        'relevance=["meteor"]': "expected one of",
        "seeds=0": "seeds must be at least 1",
    }.items():
        with pytest.raises(UsageError, match=said):
            run("daa", home / "pairs", tmp_path / "out", sets=[wrong])
    with pytest.raises(UsageError, match="ratios must be at least two"):
        run("data-ratio", home / "pairs", tmp_path / "out", sets=["ratios=[1.0]"])
    with pytest.raises(UsageError, match=r"0.1 of the training texts cannot.*nearest is 0.333"):
        run("data-ratio", home / "pairs", tmp_path / "out", sets=[*FEW, "ratios=[0.1, 1.0]"])
    assert not list(tmp_path.rglob("parts/*"))


@pytest.mark.parametrize("name", ["daa", "data-ratio"])
def test_one_text_an_image_is_refused_before_any_work(name: str, tmp_path: Path) -> None:
    data = write(tmp_path / "pairs")
    with pytest.raises(UsageError, match="most training images have one text"):
        run(name, data, tmp_path / "out", sets=FEW)
    assert not list(tmp_path.rglob("parts/*"))


def test_captions_without_others_say_nothing_of_others(tmp_path: Path) -> None:
    rows = [{"id": "a", "texts": ["a red bus"]}, {"id": "b", "texts": ["green trees"]}]
    (tmp_path / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert low_shares(trope.open(tmp_path))["without itself"] is None


def test_which_way_a_difference_points() -> None:
    def way(difference: float, low: float | None, high: float | None, paper: float) -> str:
        return way_of({"difference": difference, "low": low, "high": high}, paper)

    assert way(0.02, 0.01, 0.03, 1.0) == "the same way"
    assert way(-0.02, -0.03, -0.01, 1.0) == "the other way"
    assert way(0.02, -0.01, 0.05, 1.0) == "the same way, but not told from none"
    assert way(0.0, -0.05, 0.05, 1.0) == "no difference here"
    assert way(0.02, 0.01, 0.03, 0.0) == "no difference there"
    assert way(-0.02, None, None, 1.0) == "the other way by one seed, which says little"
