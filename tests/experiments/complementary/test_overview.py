"""Several data sets in one table: what is read, shown, and refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest

from trope.errors import DataError, UsageError
from trope.experiments import run
from trope.experiments.complementary import EVEN
from trope.experiments.complementary_overview import orders
from trope.experiments.complementary_overview.paper import order
from trope.experiments.complementary_overview.reasons import (
    expected_share,
    needed_deviation,
    reasons,
)
from trope.weights.semantic import PAPER

WEIGHTS = {"deviation": 0.1, "agreement": 0.5, "steadiness": 0.9}


def pair(left: str, right: str, difference: float, verdict: str) -> dict[str, Any]:
    both = {"difference": difference, "low": difference - 0.01, "high": difference + 0.01}
    return {"left": left, "right": right, "both": both | {"verdict": verdict, "detectable": 0.02}}


def written(folder: Path, experiment: str, recalls: dict[str, float], *pairs: Any) -> None:
    folder.mkdir(parents=True)
    recipes = {
        name: {"both": {"value": v, "low": v - 0.02, "high": v + 0.02, "runs": [v], "spread": None}}
        | {"weights": [WEIGHTS | {"ess": ess} for ess in (0.5, 0.7)] if name == "diversity" else []}
        for name, v in recalls.items()
    }
    document = {
        "experiment": experiment,
        "settings": {"rows": 0, "text": "", "sets": ["training.epochs=7"]},
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
    recalls, gains, controls, found_orders, shares, ratios, why = found.tables
    assert recalls.columns == ["recipe", "news, sentence", "photos, sentence"]
    assert recalls.rows == [
        ["pvse", "0.400", "**0.600**"],
        ["diversity", "**0.430**", "–"],
        ["hal", "–", "0.550"],
    ]
    assert gains.rows == [["diversity − pvse", "+3.0 (+2.0 to +4.0), better", "–"]]
    assert controls.rows == [["diversity − uniform-lambda", "+0.1 (-0.9 to +1.1), equal", "–"]]
    assert found_orders.rows == [
        ["diversity − pvse", "+1.7", "+2.7, +3.3, +5.9", "+3.0 (+2.0 to +4.0), holds", "–"],
        ["diversity − uniform-lambda", "–", "–, +2.8, –", "+0.1 (-0.9 to +1.1), equal", "–"],
        ["diversity − amrani", "-0.3", "+1.4, +2.0, +3.8", "-2.0 (-3.0 to -1.0), opposite", "–"],
    ]
    assert shares.rows == [["diversity", "0.600", "–"]]
    assert ratios.rows == [["combined-val (seeds)", "–", "–"], ["combined-stats", "–", "–"]]
    assert [row[:6] for row in why.rows[:1]] == [
        ["diversity", "news, sentence", "0.100", "0.50", "0.90", "0.6000"]
    ]
    paper = {tuple(row[:2]): row[-2:] for row in why.rows[1:]}
    assert paper["diversity", "paper: Politics"] == [
        "0.9995",
        "0.26",
    ]
    assert float(paper["diversity", "paper: COCO"][0]) < 0.8
    text = (tmp_path / "out" / "complementary-overview.md").read_text()
    assert "over all data sets: 1 better." in text
    assert "data set by data set: 1 equal, 1 holds, 1 opposite." in text
    assert "`diversity` against `amrani`: news, sentence opposite (-2.0)." in text
    assert "40 pictures and 1 text of 9 components" in text
    assert "2 seeds, with `training.epochs=7`" in text
    assert "points above chance" not in text


def test_literal_data_is_held_against_the_papers(tmp_path: Path) -> None:
    """By the paper mithun is before diversity on COCO; here equal weights are behind it too."""
    pytest.importorskip("matplotlib")
    pairs = pair("diversity", "mithun", -0.02, "worse"), pair("diversity", EVEN, 0.001, "equal")
    recalls = {"pvse": 0.22, "diversity": 0.23, "mithun": 0.249, EVEN: 0.229}
    for name in ("photos", "news"):
        written(tmp_path / "in" / name, "complementary", recalls, *pairs)
    sets = ['literal=["photos"]', 'notes=["Mind the gap."]']
    run("complementary-overview", tmp_path / "in", tmp_path / "out", sets=sets)
    text = (tmp_path / "out" / "complementary-overview.md").read_text()
    assert f"news, sentence opposite (-2.0; `{EVEN}` -2.0)" in text
    assert f"photos, sentence holds (-2.0; `{EVEN}` -2.0)" in text
    assert "- Mind the gap.\n" in text
    assert "On news, sentence (at most 0.249, by chance 0.2)" in text
    assert "--set 'literal=[\"photos\"]'" in text
    with pytest.raises(UsageError, match="has no results in a folder 'nowhere'"):
        run(
            "complementary-overview", tmp_path / "in", tmp_path / "no", sets=['literal=["nowhere"]']
        )


@pytest.mark.parametrize(
    ("left", "right", "literal", "sign"),
    [
        ("diversity", "pvse", False, 1),  # +2.7, +3.3, +5.9
        ("mithun", "pvse", False, 0),  # -0.7, -1.7, +3.6: no order, though the mean is above 0
        ("hal", "pvse", False, 0),
        ("mithun", "pvse", True, 1),
        ("diversity", "hal", True, 0),  # -0.3: less than the baselines' own spread
        ("diversity", "mithun", True, -1),
        ("combined-val", "diversity", False, 0),  # -0.2, -0.3, -0.2
        ("random-weights", EVEN, False, -1),  # of Politics alone
        ("random-weights", EVEN, True, 0),  # which says nothing of literal data
        ("ess", "pvse", False, 0),
    ],
)
def test_where_the_paper_has_an_order(left: str, right: str, literal: bool, sign: int) -> None:
    assert order(left, right, literal) == sign


def test_an_order_that_the_paper_does_not_have_cannot_hold() -> None:
    column = {"literal": False}
    known = pair("mithun", "pvse", -0.02, "worse")
    assert orders.holds(("mithun", "pvse"), column, known) == "no order"
    assert orders.holds(("mithun", "pvse"), {"literal": True}, known) == "opposite"


def test_ratios_are_counted_by_seeds(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    written(tmp_path / "in" / "news", "complementary", {"pvse": 0.4, "combined-val": 0.4})
    path = tmp_path / "in" / "news" / "results.json"
    document = orjson.loads(path.read_bytes())
    ratios = [(1, 5), (5, 1), (1, 5)]
    document["encoders"]["sentence"]["recipes"]["combined-val"]["weights"] = [
        {"ess": 1.0, "beta": b, "gamma": g} for b, g in ratios
    ]
    path.write_bytes(orjson.dumps(document))
    found = run("complementary-overview", tmp_path / "in", tmp_path / "out")
    assert found.tables[5].rows[0] == ["combined-val (seeds)", "1:5 (2), 5:1 (1)"]


def test_the_papers_share_is_a_range_over_the_correlations_seen_here() -> None:
    seen = {"a": {"weights": {"diversity": {"agreement": 0.6}}}, "b": {"weights": {}}}
    rows = {tuple(row[:2]): row for row in reasons({**seen, "c": {"weights": {
        "diversity": {"agreement": 0.0}}}}).rows}  # fmt: skip
    low, high = rows["diversity", "paper: COCO"][-2].split(" to ")
    assert float(low) == pytest.approx(expected_share(0.1156, 0.0), abs=1e-4)
    assert float(high) == pytest.approx(expected_share(0.1156, 0.6), abs=1e-4)
    assert float(low) < 0.6 < 0.8 < float(high)
    assert " to " not in rows["discrepancy", "paper: COCO"][-2]  # none was seen: 0 alone


@pytest.mark.parametrize(("deviation", "agreement"), [(0.02, 0.3), (0.05, 0.0), (0.005, 0.8)])
def test_the_expected_share_is_that_of_the_papers_formula_on_normal_scores(
    deviation: float, agreement: float
) -> None:
    random, batch = np.random.default_rng(0), 64
    cut = [[1, agreement], [agreement, 1]]
    scores = deviation * random.multivariate_normal([0, 0], cut, (2_000, batch)) + 0.4
    shares = []
    for one in scores:
        grown = [np.exp(one[:, side]) for side in (0, 1)]
        image, text = (PAPER * batch * some / some.sum() for some in grown)
        raw = np.exp(np.abs(image - text))
        shares.append(raw.sum() ** 2 / (batch * (raw**2).sum()))
    lost = 1 - np.mean(shares)
    assert 1 - expected_share(deviation, agreement) == pytest.approx(lost, rel=0.1)
    assert needed_deviation(expected_share(deviation, agreement), agreement) == pytest.approx(
        deviation
    )


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
