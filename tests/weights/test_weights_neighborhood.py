"""Both measures by sparse products, and from samples, against loops over neighbors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from weight_samples import Case, case, cases, discrepancy, diversity, filled

from trope.neighbors import Chain
from trope.weights.neighborhood import chain_of, measured, settled
from trope.weights.sampled import sampled
from trope.weights.weight import Bank


def chain(case: Case) -> Chain:
    return chain_of(case.ids, np.float64)


@settings(max_examples=40)
@given(cases, st.booleans(), st.sampled_from([1, 2]))
def test_the_identity_is_the_double_sum(case: Case, itself: bool, steps: int) -> None:
    """With several senses, of the mean over all pairs of them."""
    means: Bank = case.bank.mean(axis=2, keepdims=True)
    for side in (0, 1):
        found = measured(chain(case), means[side, :, 0], itself=itself, steps=steps)
        one = filled(diversity(case, side, itself=itself))
        np.testing.assert_allclose(found["diversity"], one, atol=1e-9)
        two = filled(discrepancy(case, side, itself=itself, steps=steps))
        np.testing.assert_allclose(found["discrepancy"], two, atol=1e-9)


@settings(max_examples=40)
@given(cases, st.booleans(), st.sampled_from([1, 2]))
def test_a_sample_of_all_is_the_double_sum(case: Case, itself: bool, steps: int) -> None:
    """With several senses, of the largest of all pairs of them."""
    for side in (0, 1):
        how = {"itself": itself, "steps": steps}
        found = sampled(chain(case), case.bank[side], sample=1_000, **how)
        one = filled(diversity(case, side, "max", itself))
        np.testing.assert_allclose(found["diversity"], one, atol=1e-12)
        two = filled(discrepancy(case, side, "max", itself, steps))
        np.testing.assert_allclose(found["discrepancy"], two, atol=1e-12)


@pytest.mark.parametrize("itself", [True, False])
@pytest.mark.parametrize("steps", [1, 2])
def test_a_sample_comes_near_to_all(itself: bool, steps: int) -> None:
    """Twelve neighbors have 144 products, of which 60 are drawn; means over many draws agree."""
    known = case(40, 12, 2, True, 3)
    how = {"itself": itself, "steps": steps}
    whole = sampled(chain(known), known.bank[0], sample=10_000, **how)
    draws = [sampled(chain(known), known.bank[0], sample=60, seed=i, **how) for i in range(80)]
    for name in whole:
        drawn = np.array([draw[name] for draw in draws])
        if name == "diversity" or steps == 2:
            assert drawn.std(axis=0).min() > 0
        error = drawn.std(axis=0) / np.sqrt(len(draws))
        assert (np.abs(drawn.mean(axis=0) - whole[name]) <= 5 * error + 1e-12).all()


def test_draws_depend_on_the_seed_alone() -> None:
    known = case(40, 12, 2, True, 3)
    one, again, other = (sampled(chain(known), known.bank[0], sample=9, seed=s) for s in (1, 1, 2))
    assert np.array_equal(one["diversity"], again["diversity"])
    assert not np.array_equal(one["diversity"], other["diversity"])
    part = sampled(chain(known), known.bank[0], ["discrepancy"], sample=9, seed=1)
    assert np.array_equal(part["discrepancy"], one["discrepancy"])
    assert list(part) == ["discrepancy"]


def test_columns_are_added_up_in_blocks() -> None:
    """Seventy columns are two blocks, the last of which is not full."""
    random, known = np.random.default_rng(0), case(30, 6, 1, True, 1)
    vectors = random.normal(size=(30, 70))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    near = vectors[known.ids]
    second = vectors[known.ids[known.ids].reshape(30, -1)]
    found = measured(chain(known), vectors)
    np.testing.assert_allclose(
        found["diversity"], np.einsum("nrd,ncd->n", near, near) / 36, atol=1e-12
    )
    np.testing.assert_allclose(
        found["discrepancy"], np.einsum("nrd,nd->n", second, vectors) / 36, atol=1e-12
    )


def test_what_cannot_be_measured_weighs_like_the_others() -> None:
    found = settled(np.array([2.0, 0.0, 6.0]), np.array([1.0, 0.0, 2.0]))
    assert found.tolist() == [2.0, 2.5, 3.0]
    assert settled(np.zeros(2), np.zeros(2)).tolist() == [0.0, 0.0]
