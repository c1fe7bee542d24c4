"""The experiment end to end on planted pairs: figures, page, and what it refuses."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson
import pytest
from planted_pairs import QUICK, write

from trope import config
from trope.config import plain
from trope.errors import UsageError
from trope.experiments import Findings, run
from trope.experiments.neighborhoods import RECIPES, Neighborhoods
from trope.experiments.neighborhoods.page import page
from trope.experiments.neighborhoods.study import PAIRS, _pairs
from trope.training import recipe_names

DOCS = Path(__file__).parents[3] / "docs" / "results"
FEW = (
    'recipes=["infonce", "angular", "neighborhoods"]',
    'encoders=["gru"]',
    "seeds=2",
    "workers=1",
    f"sets={json.dumps(QUICK)}",
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Findings]:
    home = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TROPE_CACHE", str(home / "cache"))
        data = write(home / "pairs")
        return home / "out", run("neighborhoods", data, home / "out", sets=FEW)


def results(out: Path) -> dict[str, Any]:
    return dict(orjson.loads((out / "results.json").read_bytes()))


def test_every_recipe_and_every_pair_has_its_figures(made: tuple[Path, Findings]) -> None:
    document = results(made[0])
    assert (document["seeds"], document["images"], document["texts"]) == (2, 24, 24)
    assert document["clusters"] == 6
    assert 0 < document["chance"]["text"] < 1
    found = document["encoders"]["gru"]
    assert list(found["recipes"]) == ["infonce", "angular", "neighborhoods"]
    for known in found["recipes"].values():
        assert document["chance"]["image_to_text"] < known["both"]["value"] <= 1
        assert len(known["both"]["runs"]) == len(known["validation"]) == 2
    pairs = [(pair["left"], pair["right"]) for pair in found["comparisons"]]
    assert pairs[0] == ("neighborhoods", "angular")
    assert set(pairs[1:]) == {("angular", "infonce"), ("neighborhoods", "infonce")}
    first = found["comparisons"][0]["both"]
    left, right = (found["recipes"][name]["both"]["value"] for name in pairs[0])
    assert first["difference"] == pytest.approx(left - right)


def test_tables_plot_and_page_are_written(made: tuple[Path, Findings]) -> None:
    out, findings = made
    text = (out / "neighborhoods.md").read_text()
    assert all(table.markdown() in text for table in findings.tables)
    assert results(out)["provenance"]["commit"] in text
    assert not any(word in text for word in ("nan", "None", "inf)"))
    assert (out / "neighborhoods.png").read_bytes().startswith(b"\x89PNG")
    assert "neighborhoods − angular" in (out / "neighborhoods.svg").read_text()
    assert {path.suffix for path in (out / "parts").iterdir()} == {".safetensors"}


def test_the_page_is_made_of_the_results_alone(made: tuple[Path, Findings]) -> None:
    assert page(results(made[0])) == (made[0] / "neighborhoods.md").read_text()


def planted(verdict: str, low: float | None = 0.01) -> Mapping[str, Any]:
    value = {"value": 0.4, "low": low, "high": 0.5, "spread": None, "runs": [0.4]}
    sides = ("image_to_text", "text_to_image", "both", "image", "text", "within")
    known = {"validation": [0.4], "seconds": [2.0], "epochs": [3], **dict.fromkeys(sides, value)}
    gap = {"difference": 0.03, "low": low, "high": 0.05, "detectable": low, "verdict": verdict}
    pair = {"left": "neighborhoods", "right": "angular", **dict.fromkeys(sides, gap)}
    recipes = {"neighborhoods": known, "angular": known}
    return {
        "encoders": {"gru": {"recipes": recipes, "comparisons": [pair]}},
        "settings": {
            "recipes": ["neighborhoods", "angular"],
            "split": "val",
            "least": 0.01,
            "sets": ["head.size=12"],
        },
        "provenance": {"date": "2020-01-01", "machine": "m", "commit": "new"},
        "commits": ["new", "old"],
        "data": "d",
        "chance": {"image_to_text": 0.2, "image": 0.05, "text": 0.05},
        "seeds": 1,
        "images": 5,
        "texts": 5,
        "clusters": 2,
    }


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        ("better", "`neighborhoods` is better than `angular`: +3.0 (+1.0 to +5.0) points. Neigh"),
        ("worse", "is worse than"),
        ("equal", "does as well as"),
        ("undecided", "cannot be told from `angular`: +3.0 (+1.0 to +5.0) points; a difference of"),
    ],
)
def test_the_page_says_what_the_figures_say(verdict: str, said: str) -> None:
    text = page(planted(verdict))
    assert said in text
    assert "Measured on the validation split" in text
    assert "pvse" not in text
    assert "`head.size=12`" in text
    assert "trained by old" in text


def test_the_page_says_how_it_was_made(made: tuple[Path, Findings]) -> None:
    """The command on the page, typed again, has the same settings."""
    line = page(results(made[0])).split("```")[1].removeprefix("console\n$ ")
    words = shlex.split(line.replace("\\\n", " "))
    sets = [words[i + 1] for i, word in enumerate(words) if word == "--set"]
    asked = plain(config.load(Neighborhoods, None, sets))
    assert asked | {"workers": 1} == results(made[0])["settings"]


def test_what_has_no_interval_is_shown_without() -> None:
    text = page(planted("undecided", None))
    assert "None" not in text
    assert "+3.0 points." in text
    assert "would have been seen" not in text


def test_pairs_are_those_that_were_trained() -> None:
    assert ("pvse-neighborhoods", "pvse") in _pairs(RECIPES)
    assert _pairs(("angular", "neighborhoods")) == [("neighborhoods", "angular")]
    assert {name for pair in PAIRS for name in pair} | set(RECIPES) <= set(recipe_names())


def test_wrong_use_is_told_before_any_work(tmp_path: Path) -> None:
    data = write(tmp_path / "pairs")
    for wrong, told in {
        "recipes=[]": "at least one",
        'recipes=["angula"]': "did you mean 'angular'",
        'encoders=["bert"]': "expected one of",
        "seeds=0": "seeds",
        "split=train": "expected one of",
        "least=1": "least",
        'sets=["head.sizes=1"]': "did you mean 'size'",
    }.items():
        with pytest.raises(UsageError, match=told):
            run("neighborhoods", data, tmp_path / "out", sets=[wrong])
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(not (DOCS / "neighborhoods.json").exists(), reason="not measured yet")
def test_the_page_of_the_docs_is_what_the_command_writes() -> None:
    document = orjson.loads((DOCS / "neighborhoods.json").read_bytes())
    assert page(document) == (DOCS / "neighborhoods.md").read_text(encoding="utf-8")
    assert document["settings"]["split"] == "test"
