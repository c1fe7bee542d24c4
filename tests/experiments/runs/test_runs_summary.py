"""From outcomes to figures: means of means, pairs, and what cannot be said."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from trope.errors import DataError
from trope.experiments.runs import Outcome, contrast, described
from trope.experiments.runs.outcome import Answers
from trope.experiments.runs.summary import table, whole


def outcome(seed: int, better: float = 0.0, clusters: int = 6, prefix: str = "q") -> Outcome:
    """12 pictures with two texts each."""
    random = np.random.default_rng(seed)
    answers = {
        side: Answers(
            tuple(f"{prefix}{i}" for i in range(count)),
            0.4 * random.random(count) + 0.3 + better * (0.9 + 0.2 * random.random(count)),
            np.arange(count) % clusters,
        )
        for side, count in {
            "image_to_text": 12,
            "text_to_image": 24,
            "image": 12,
            "text": 24,
        }.items()
    }
    about = {"val_image_to_text": 0.5, "val_text_to_image": 0.7, "epochs": 3, "seconds": 2.0}
    return Outcome(answers, about | {"commit": f"c{seed % 2}", "chance": {"image": 0.1}})


def test_both_ways_count_the_same() -> None:
    runs = [outcome(0), outcome(1)]
    known = described(runs)
    ways = [known[side]["value"] for side in ("image_to_text", "text_to_image")]
    assert known["both"]["value"] == pytest.approx(np.mean(ways))
    assert known["both"]["runs"] == pytest.approx(table(runs, "both")[0].mean(axis=1))
    assert known["both"]["low"] < known["both"]["value"] < known["both"]["high"]
    assert known["both"]["spread"] == pytest.approx(np.std(known["both"]["runs"], ddof=1))
    assert known["validation"] == [0.6, 0.6]


def test_an_easier_way_does_not_set_clusters_apart() -> None:
    """All pictures score 0.9 and all texts 0.1: clusters differ only in how many of each."""
    ways = {"image_to_text": 0.9, "text_to_image": 0.1, "image": 0.9, "text": 0.1}
    ids, mixed = tuple(map(str, range(12))), np.array([0] * 6 + [1] * 3 + [2] * 3)
    answers = {
        way: Answers(ids, np.full(12, value), mixed if value > 0.5 else np.arange(12) % 3)
        for way, value in ways.items()
    }
    values, clusters = table([Outcome(answers, {})], "both")
    assert values == pytest.approx(np.full_like(values, 0.5))
    assert len(clusters) == 24


def test_the_better_side_is_the_left_one() -> None:
    ours, theirs = ([outcome(seed, better) for seed in range(5)] for better in (0.1, 0.0))
    found = contrast(ours, theirs, 0.01)
    for side in found.values():
        assert side["difference"] == pytest.approx(0.1, abs=0.005)
        assert side["verdict"] == "better"
    assert contrast(theirs, ours, 0.01)["both"]["verdict"] == "worse"
    same = contrast(ours, ours, 0.01)["both"]
    assert same["difference"] == 0
    assert same["verdict"] == "undecided"  # six clusters without a difference show little


def test_runs_that_answered_other_queries_are_refused() -> None:
    with pytest.raises(DataError, match="different queries"):
        contrast([outcome(0)], [outcome(0, prefix="other")], 0.01)


def test_one_component_has_no_interval() -> None:
    runs = [outcome(0, clusters=1)]
    assert described(runs)["both"]["low"] is None
    assert described(runs)["both"]["spread"] is None
    assert contrast(runs, [outcome(1, clusters=1)], 0.01)["both"]["detectable"] is None


def test_bounds_stay_within_shares() -> None:
    runs = [outcome(0, better=0.25), outcome(9, better=0.29)]
    assert 0 <= described(runs)["both"]["low"] <= described(runs)["both"]["high"] <= 1


def test_what_all_runs_share() -> None:
    found = whole({"a": [outcome(0), outcome(1)], "b": [outcome(2)]})
    counts = {"seeds": 1, "images": 12, "texts": 24, "clusters": 6}
    assert found == counts | {"commits": ["c0", "c1"], "chance": {"image": 0.1}}


def test_a_query_that_does_not_count_in_one_run_counts_in_none() -> None:
    runs = [outcome(0), outcome(1)]
    runs[1].answers["text"].values[5] = np.nan
    values, clusters = table(runs, "text")
    assert values.shape == (2, 23)
    assert len(clusters) == 23
    ways = [described(runs)[side]["value"] for side in ("image", "text")]
    assert described(runs)["within"]["value"] == pytest.approx(np.mean(ways))


def test_an_outcome_comes_back_as_it_was(tmp_path: Path) -> None:
    before = outcome(3)
    before.save(tmp_path / "part")
    after = Outcome.load(tmp_path / "part")
    assert after is not None
    assert after.about == before.about
    for side, answers in before.answers.items():
        assert after.answers[side].ids == answers.ids
        assert np.array_equal(after.answers[side].values, answers.values)
        assert np.array_equal(after.answers[side].clusters, answers.clusters)
    assert Outcome.load(tmp_path / "none") is None
    (tmp_path / "part").write_bytes(b"rubbish")
    assert Outcome.load(tmp_path / "part") is None
