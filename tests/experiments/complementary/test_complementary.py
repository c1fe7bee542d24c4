"""The experiment end to end on planted pairs: figures, page, and what it refuses."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import orjson
import pytest
from planted_pairs import QUICK, write

import trope
from trope import config
from trope.errors import UsageError
from trope.experiments import Findings, run
from trope.experiments.complementary import EVEN, OWN, RECIPES, SCALED, Complementary
from trope.experiments.complementary.page import _taken, page
from trope.experiments.complementary.study import _pairs, _variants
from trope.training import load_recipe, recipe_names, resolve
from trope.training.settings import WORDS_ONLY
from trope.training.task import build_weight, spelled
from trope.weights import PairWeight

FEW = (
    'recipes=["infonce", "pvse", "diversity", "mithun"]',
    'own={"ess"=["weight.name=ess"], "ess, permuted"=["weight.name=ess", "weight.permuted=true"]}',
    'encoders=["gru"]',
    "seeds=2",
    "ways=6",
    "workers=1",
    f"sets={json.dumps(QUICK)}",
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Findings]:
    home = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TROPE_CACHE", str(home / "cache"))
        data = write(home / "pairs")
        return home / "out", run("complementary", data, home / "out", sets=FEW)


def results(out: Path) -> dict[str, Any]:
    return dict(orjson.loads((out / "results.json").read_bytes()))


def test_every_weighting_is_compared_with_the_unweighted(made: tuple[Path, Findings]) -> None:
    document = results(made[0])
    assert document["chance"]["image_to_text"] == pytest.approx(1 / 6)
    found = document["encoders"]["gru"]
    names = ["infonce", "pvse", "diversity", "mithun", "ess", "ess, permuted"]
    assert list(found["recipes"]) == names
    pairs = [(pair["left"], pair["right"]) for pair in found["comparisons"]]
    assert pairs == [
        ("pvse", "infonce"),
        ("diversity", "pvse"),
        ("mithun", "pvse"),
        ("ess", "pvse"),
        ("ess, permuted", "pvse"),
        ("ess", "ess, permuted"),
        ("diversity", "mithun"),
    ]
    assert {"image", "text", "within"}.isdisjoint(found["recipes"]["pvse"])


def test_how_uneven_weights_were_is_kept(made: tuple[Path, Findings]) -> None:
    known = results(made[0])["encoders"]["gru"]["recipes"]
    assert known["pvse"]["weights"] == known["mithun"]["weights"] == []
    for name in ("diversity", "ess", "ess, permuted"):
        for one in known[name]["weights"]:
            assert 0 < one["ess"] <= 1
            assert one["smallest"] <= 1 <= one["largest"]
    assert all(one["ess"] < 0.9 for one in known["ess"]["weights"])


def test_tables_plot_and_page_are_written(made: tuple[Path, Findings]) -> None:
    out, findings = made
    text = (out / "complementary.md").read_text()
    assert all(table.markdown() in text for table in findings.tables)
    assert "6-way Recall@1" in text
    assert "`weight.permuted=true`" in text
    assert not any(word in text for word in ("nan", "None", "inf)"))
    assert (out / "complementary.png").read_bytes().startswith(b"\x89PNG")
    assert page(results(out)) == text


def test_all_recipes_are_there_and_all_changes_change_something() -> None:
    assert set(RECIPES) <= set(recipe_names())
    base = resolve(load_recipe("pvse"), [], 100)
    assert len({str(resolve(load_recipe("pvse"), list(sets), 100)) for sets in OWN.values()}) == 3
    assert all(resolve(load_recipe("pvse"), list(sets), 100) != base for sets in OWN.values())
    assert _pairs(["pvse", "hal"]) == [("hal", "pvse")]


def test_what_lambda_does_by_itself_is_told_apart() -> None:
    """Weights of the same mean as `uniform-lambda` are compared with it; no others are."""
    weights = {name: build_weight(resolve(load_recipe(name), [], 100)) for name in RECIPES}
    even = weights.pop(EVEN)
    assert isinstance(even, PairWeight)
    scaled = {
        name for name, one in weights.items()
        if isinstance(one, PairWeight) and one.scale == even.scale
    }  # fmt: skip
    assert set(SCALED) == scaled
    assert [pair for pair in _pairs(list(RECIPES)) if pair[1] == EVEN] == [
        (n, EVEN) for n in SCALED
    ]
    assert EVEN not in {right for _, right in _pairs(["pvse", "diversity"])}


def test_weightings_differ_from_their_base_as_the_page_says() -> None:
    base = config.plain(spelled(resolve(load_recipe("pvse"), [], 100)))
    others = set()
    for name in RECIPES:
        found = config.plain(spelled(resolve(load_recipe(name), [], 100)))
        if any(found[part] != base[part] for part in base if part not in {*WORDS_ONLY, "weight"}):
            others.add(name)
    assert others == {
        "infonce", "hal", "mithun", "neighborhoods", "pvse-neighborhoods-triplet",
    }  # fmt: skip


def test_controls_are_known_by_their_names() -> None:
    names = ["pvse", "ess", "ess, permuted", "ess, shuffled", "ess, even", "other, shuffled"]
    assert [pair for pair in _pairs(names) if pair[1] != "pvse"] == [
        ("ess", "ess, permuted"),
        ("ess", "ess, shuffled"),
        ("ess", "ess, even"),
    ]


def test_of_one_seed_nothing_is_decided(made: tuple[Path, Findings], tmp_path: Path) -> None:
    """What is finished there is taken; the page says for what intervals hold."""
    out = tmp_path / "out"
    shutil.copytree(made[0], out)
    data = made[0].parent / "pairs"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TROPE_CACHE", str(made[0].parent / "cache"))
        run("complementary", data, out, sets=[*FEW, "seeds=1", "finished=true"])
    document = results(out)
    pairs = document["encoders"]["gru"]["comparisons"]
    assert {pair["both"]["verdict"] for pair in pairs} == {"undecided"}
    assert {pair["both"]["detectable"] for pair in pairs} == {None}
    text = (out / "complementary.md").read_text()
    assert "by 1 seed." in text
    assert "of other seeds nothing is known, and nothing is decided" in text
    assert "would have been seen" not in text
    assert "other seeds *and* other components" in (made[0] / "complementary.md").read_text()


def test_a_task_that_no_split_has_room_for_is_refused_before_training(tmp_path: Path) -> None:
    data = write(tmp_path / "pairs")
    with pytest.raises(UsageError, match=r"ways=5000: split 'test' has .* the largest task is"):
        run("complementary", data, tmp_path / "out", sets=[*FEW, "ways=5000"])
    assert not list((tmp_path / "out").rglob("*.safetensors"))


@pytest.mark.parametrize(
    ("sets", "said"),
    [
        (['recipes=["diversty"]'], "found diversty"),
        (['recipes=["hal"]'], "recipes must have pvse"),
        (['own={"pvse"=[]}'], "'pvse' is a recipe"),
        (["ways=1"], "ways at least 2"),
        (["rows=-1"], "rows at least 0"),
    ],
)
def test_what_cannot_be_compared_is_refused(sets: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        config.override(Complementary(), sets)


def test_fewer_training_rows_are_taken_by_every_run_and_told() -> None:
    settings = config.override(Complementary(), ["rows=40", 'recipes=["pvse"]'])
    assert {variant.rows for variant in _variants("sentence", settings)} == {40}
    assert "1,200" in _taken(1_200, "")
    assert _taken(0, "") == ""


def test_another_column_of_texts_is_taken_by_every_run_and_told(tmp_path: Path) -> None:
    settings = config.override(Complementary(), ["text=literal"])
    rows = [{"id": str(i), "image": f"{i}.jpg", "text": "x", "literal": f"l{i}"} for i in range(9)]
    (tmp_path / "pairs.jsonl").write_bytes(b"\n".join(map(orjson.dumps, rows)))
    for variant in _variants("sentence", settings):
        taken = variant.taken(trope.open(tmp_path))
        assert [pair.texts for pair in taken] == [(f"l{i}",) for i in range(9)]
    assert "`literal`" in _taken(0, settings.text)
