from __future__ import annotations

from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trope.experiments.crisscrossed import Judged
from trope.experiments.mined_positives import places
from trope.experiments.mined_positives.places import Places, chance, likelihood, locate


def setting(seed: int, levels: int) -> tuple[np.ndarray, Judged, np.ndarray]:
    """Scores of 7 images against 21 captions, with ties, and some judged pairs."""
    random = np.random.default_rng(seed)
    owners = np.repeat(np.arange(7), 3)
    scores = (random.integers(0, levels, (7, 21)) / 4).astype(np.float32)
    queries = np.sort(random.integers(0, 7, 15))
    captions = random.integers(0, 21, 15)
    people = random.random(15) * 5
    return scores, Judged(queries, captions, people, queries, owners[captions]), owners


@settings(max_examples=20)
@given(st.integers(0, 99), st.sampled_from([1, 3, 40]), st.sampled_from([1, 2, 30, 2**22]))
def test_places_are_those_of_plain_loops(seed: int, levels: int, block: int) -> None:
    scores, judged, owners = setting(seed, levels)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(places, "BLOCK", block)
        found = locate(lambda rows: scores[rows].copy(), judged, np.arange(7), owners, "")
    everything = [scores[i, j] for i in range(7) for j in range(21) if owners[j] != i]
    for n, (i, j) in enumerate(zip(judged.queries, judged.captions, strict=True)):
        value, row = scores[i, j], [scores[i, c] for c in range(21) if owners[c] != i]
        assert found.scores[n] == value
        if not judged.own[n]:
            assert found.above[n] == sum(s > value for s in row)
            assert found.tied[n] == sum(s == value for s in row)
            assert found.above_all[n] == sum(s > value for s in everything)
            assert found.tied_all[n] == sum(s == value for s in everything)


@pytest.mark.parametrize("mined", range(1, 5))
def test_likelihood_is_the_mean_over_all_orders_of_ties(mined: int) -> None:
    scores = [2, 1, 1, 3, 1]
    above = np.array([sum(s > value for s in scores) for value in scores])
    tied = np.array([scores.count(value) for value in scores])
    orders = [sorted(order, key=lambda i: -scores[i]) for order in permutations(range(5))]
    expected = [np.mean([i in order[:mined] for order in orders]) for i in range(5)]
    assert likelihood(above, tied, np.array([float(mined)]))[:, 0] == pytest.approx(expected)


def test_chance_finds_a_share_of_everything() -> None:
    _, judged, owners = setting(0, 3)
    found = chance(judged, np.arange(7), owners)
    assert likelihood(found.above, found.tied, np.array([9.0])) == pytest.approx(9 / 18)
    assert (found.tied_all == 7 * 18).all()


def test_an_earlier_run_is_used_only_for_the_same_work(tmp_path: Path) -> None:
    scores, judged, owners = setting(1, 40)
    found = locate(lambda rows: scores[rows].copy(), judged, np.arange(7), owners, "")
    path = tmp_path / "parts" / "some.safetensors"
    found.save(path, "key")
    again = Places.load(path, "key")
    assert again is not None
    assert all((getattr(again, name) == getattr(found, name)).all() for name in vars(found))
    assert Places.load(path, "another") is None
    assert Places.load(path.with_name("none"), "key") is None
    path.write_bytes(path.read_bytes()[:-9])
    assert Places.load(path, "key") is None
