"""Several data sets in one table: what is read, shown, and refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from trope.errors import DataError, UsageError
from trope.experiments import run


def pair(left: str, right: str, difference: float, verdict: str) -> dict[str, Any]:
    both = {"difference": difference, "low": difference - 0.01, "high": difference + 0.01}
    return {"left": left, "right": right, "both": both | {"verdict": verdict, "detectable": 0.02}}


def written(folder: Path, experiment: str, recalls: dict[str, float], *pairs: Any) -> None:
    folder.mkdir(parents=True)
    recipes = {
        name: {"both": {"value": v, "low": v - 0.02, "high": v + 0.02, "runs": [v], "spread": None}}
        | {"weights": [{"ess": 0.5}, {"ess": 0.7}] if name == "diversity" else []}
        for name, v in recalls.items()
    }
    document = {
        "experiment": experiment,
        "settings": {"rows": 0, "text": ""},
        "provenance": {"date": "2026-01-02T03:04", "commit": "abc", "machine": "m"},
        "commits": ["abc"],
        "seeds": 2,
        "images": 40,
        "texts": 1,
        "clusters": 9,
        "ways": 5,
        "chance": {"image_to_text": 0.2},
        "encoders": {"sentence": {"recipes": recipes, "comparisons": list(pairs)}},
    }
    (folder / "results.json").write_bytes(orjson.dumps(document))


def test_a_column_for_each_data_set_and_the_claims_of_the_paper(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    better = pair("diversity", "pvse", 0.03, "better")
    control = pair("diversity", "uniform-lambda", 0.001, "equal")
    claim = pair("diversity", "amrani", -0.02, "worse")
    written(
        tmp_path / "in" / "news", "complementary",
        {"pvse": 0.40, "diversity": 0.43}, better, control, claim,
    )  # fmt: skip
    written(tmp_path / "in" / "photos", "complementary", {"pvse": 0.6, "hal": 0.55})
    written(tmp_path / "in" / "other", "neighborhoods", {"pvse": 0.9})
    found = run("complementary-overview", tmp_path / "in", tmp_path / "out")
    recalls, gains, controls, claims, shares = found.tables
    assert recalls.columns == ["recipe", "news, sentence", "photos, sentence"]
    assert recalls.rows == [
        ["pvse", "0.400", "**0.600**"],
        ["diversity", "**0.430**", "–"],
        ["hal", "–", "0.550"],
    ]
    assert gains.rows == [["diversity − pvse", "+3.0 (+2.0 to +4.0), better", "–"]]
    assert controls.rows == [["diversity − uniform-lambda", "+0.1 (-0.9 to +1.1), equal", "–"]]
    assert ["diversity − amrani", "-2.0 (-3.0 to -1.0), worse", "–"] in claims.rows
    assert shares.rows == [["diversity", "0.600", "–"]]
    text = (tmp_path / "out" / "complementary-overview.md").read_text()
    assert "over all data sets: 1 better." in text
    assert "`diversity` before `amrani`: news, sentence worse (-2.0)." in text
    assert "`diversity` before `hal`: not measured." in text
    assert "40 pictures and 1 text of 9 components" in text


def test_what_holds_no_such_experiment_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    written(tmp_path / "in" / "other", "neighborhoods", {"pvse": 0.9})
    with pytest.raises(DataError, match="no folder in it was made by"):
        run("complementary-overview", tmp_path / "in", tmp_path / "out")
    (tmp_path / "in" / "odd").mkdir()
    (tmp_path / "in" / "odd" / "results.json").write_text("{}")
    with pytest.raises(DataError, match=r"odd/results.json: not written by"):
        run("complementary-overview", tmp_path / "in", tmp_path / "out")
    with pytest.raises(UsageError, match="no such folder"):
        run("complementary-overview", tmp_path / "none", tmp_path / "out")
