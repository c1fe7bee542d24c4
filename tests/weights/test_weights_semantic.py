"""Weights from the measures: each formula in loops, its direction, and what holds of all."""

from __future__ import annotations

import math
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from weight_samples import Case, case, cases, discrepancy, diversity, filled, softmax

from trope import config
from trope.errors import UsageError
from trope.runtime import generator
from trope.weights import CHOICES, WEIGHTS, PairWeight, Semantic, chain_of, weigh_all
from trope.weights.combined import CombinedStats, CombinedVal
from trope.weights.semantic import Combination, Discrepancy, Diversity
from trope.weights.simple import Random, Uniform
from trope.weights.spread import effective
from trope.weights.tempered import Ess, NormalizedDifference

COMBINE = {
    "difference": lambda x, y: abs(x - y),
    "sum": lambda x, y: x + y,
    "image": lambda x, y: x,
    "text": lambda x, y: y,
    "product": lambda x, y: x * y,
    "max": max,
    "agreement": lambda x, y: -abs(x - y),
}
PAIRS = {name: kind for name, kind in WEIGHTS.items() if issubclass(kind, PairWeight)}
seeds, betas = st.integers(0, 2**31), st.floats(0.5, 8)
batch_of = st.lists(st.integers(0, 23), min_size=2, max_size=12, unique=True)
CHOSEN = {"combined-val": {"beta": 1.0, "gamma": 2.0}}


def made(name: str, **options: object) -> PairWeight:
    found = config.parse(WEIGHTS[name], {**CHOSEN.get(name, {}), **options}, "here")
    assert isinstance(found, PairWeight)
    return found


def known(count: int = 24, seed: int = 0) -> dict[str, np.ndarray]:
    """Measures of so many pairs, and a density."""
    random = np.random.default_rng(seed)
    both = {name: random.uniform(0.1, 0.6, (2, count)) for name in ("diversity", "discrepancy")}
    return both | {"density": random.random(count)}


def weighed(weight: PairWeight, found: dict[str, np.ndarray], batches: np.ndarray) -> np.ndarray:
    return weight.over(found, batches, generator(0, "here"))


@pytest.mark.parametrize("combine", COMBINE)
@settings(max_examples=12)
@given(case=cases, sign=st.sampled_from([-1, 0, 1]), measure=st.sampled_from([0, 1]))
def test_it_is_the_papers_formula(
    combine: Combination, case: Case, sign: int, measure: int
) -> None:
    """From vectors to weights of one batch of all pairs: Eqs. 3 to 6 in loops, in 64 bits."""
    kind, loops = [(Diversity, diversity), (Discrepancy, discrepancy)][measure]
    weight, n = kind(sign=sign, combine=combine, scale=3.0), len(case.ids)
    alpha = []
    for side in (0, 1):
        scores = [sign * value for value in filled(loops(case, side))]
        alpha.append([3 * n * share for share in softmax(scores)])
    mixed = [COMBINE[combine](x, y) for x, y in zip(*alpha, strict=True)]
    expected = [3 * n * share for share in softmax(mixed)]
    found = weigh_all(*case.bank, chain_of(case.ids, np.float64), weight)
    assert found.weights.tolist() == pytest.approx(expected, rel=1e-9)
    name = weight.measures[0]
    assert found.alpha[name].tolist() == [pytest.approx(side, rel=1e-9) for side in alpha]
    apart = [abs(x - y) for x, y in zip(*alpha, strict=True)]
    assert found.difference(name).tolist() == pytest.approx(apart, abs=1e-9)


@settings(max_examples=20)
@given(seed=seeds, batch=batch_of, sign=st.sampled_from([-1, 1]), beta=betas, gamma=betas)
def test_both_measures_together(
    seed: int, batch: list[int], sign: int, beta: float, gamma: float
) -> None:
    """Eqs. 7 and 8 in loops."""
    found = known(seed=seed)
    mean = {name: [(x + y) / 2 for x, y in zip(*found[name], strict=True)]
            for name in ("diversity", "discrepancy")}  # fmt: skip

    def formula(b: float, g: float) -> list[float]:
        scores = [sign * (b * mean["diversity"][i] + g * mean["discrepancy"][i])
                  for i in batch]  # fmt: skip
        return [2.0 * len(batch) * share for share in softmax(scores)]

    chosen = CombinedVal(beta=beta, gamma=gamma, sign=sign, scale=2.0)
    one = weighed(chosen, found, np.array([batch]))
    assert one[0].tolist() == pytest.approx(formula(beta, gamma), rel=1e-9)
    factors = []
    for name in ("diversity", "discrepancy"):
        values = [*found[name][0], *found[name][1]]
        mu = math.fsum(values) / len(values)
        sigma = math.sqrt(math.fsum((v - mu) ** 2 for v in values) / len(values))
        factors.append(mu * sigma)
    two = weighed(CombinedStats(sign=sign, scale=2.0), found, np.array([batch]))
    assert two[0].tolist() == pytest.approx(formula(*factors), rel=1e-9)


def test_the_papers_choices() -> None:
    assert set(CHOICES) == {(1, 1)} | {(1, k) for k in range(2, 6)} | {(k, 1) for k in range(2, 6)}
    assert len(CHOICES) == 9
    assert not CombinedVal().chosen
    assert CombinedVal(beta=1.0, gamma=4.0).chosen


@pytest.mark.parametrize("by", ["z", "rank", "softmax", "none"])
@settings(max_examples=12)
@given(seed=seeds, batch=batch_of)
def test_the_normalized_difference(by: str, seed: int, batch: list[int]) -> None:
    found, n = known(seed=seed), 24
    scaled = []
    for side in found["diversity"]:
        values = [-value for value in side]
        mu = math.fsum(values) / n
        sigma = math.sqrt(math.fsum((v - mu) ** 2 for v in values) / n)
        forms = {
            "z": [(v - mu) / sigma for v in values],
            "rank": [(sum(w < v for w in values) + 0.5) / n for v in values],
            "none": values,
        }
        # alpha of the paper is a softmax over the batch, the others look at all pairs
        alpha = [len(batch) * share for share in softmax([values[i] for i in batch])]
        scaled.append(alpha if by == "softmax" else [forms[by][i] for i in batch])
    apart = [abs(image - text) for image, text in zip(*scaled, strict=True)]
    expected = [3.0 * len(batch) * d / math.fsum(apart) for d in apart]
    weight = made("normalized-difference", by=by, scale=3.0)
    shares = weighed(weight, found, np.array([batch]))[0].tolist()
    assert shares == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("measure", ["diversity", "discrepancy", "both"])
@pytest.mark.parametrize("combine", ["difference", "sum"])
def test_weights_as_uneven_as_asked_for(measure: str, combine: str) -> None:
    weight = made("ess", measure=measure, combine=combine, share=0.6, scale=2.0)
    assert isinstance(weight, Ess)
    batches = np.arange(24).reshape(2, 12)
    found = known()
    weights = weighed(weight, found, batches)
    assert effective(weights) == pytest.approx([0.6, 0.6], abs=1e-6)
    names = ("diversity", "discrepancy") if measure == "both" else (measure,)
    z = sum(-(found[name] - found[name].mean(axis=1, keepdims=True))
            / found[name].std(axis=1, keepdims=True) for name in names)  # fmt: skip
    score = np.abs(z[0] - z[1]) if combine == "difference" else z[0] + z[1]
    for row, found_of in zip(batches, weights, strict=True):
        standard = (score[row] - score[row].mean()) / score[row].std()
        colder = np.polyfit(standard, np.log(found_of), 1)[0]  # 1/τ
        assert colder > 0
        expected = [2.0 * len(row) * share for share in softmax([colder * z for z in standard])]
        assert found_of.tolist() == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("name", PAIRS)
def test_what_holds_of_every_weight_of_pairs(name: str) -> None:
    batches, found = np.arange(24).reshape(3, 8), known()
    weight = made(name, scale=2.0)
    weights = weighed(weight, found, batches)
    assert weights.shape == batches.shape
    assert (weights >= 0).all()
    if name != "density":
        assert weights.mean(axis=1) == pytest.approx([2.0] * 3)
    assert np.array_equal(weights, weighed(weight, found, batches))
    assert weight.over(None, batches, generator(0, "here")).tolist() == [[2.0] * 8] * 3
    if name != "random":  # the weights of a batch go with its pairs
        turned = weighed(weight, found, batches[:, ::-1])
        assert np.allclose(turned[:, ::-1], weights)


@pytest.mark.parametrize("name", sorted(PAIRS.keys() - {"uniform", "random"}))
def test_shuffled_weights_are_those_of_other_pairs_in_every_epoch(name: str) -> None:
    """Over all pairs as one batch the same weights; and each pair keeps the one it was given."""
    everyone, found = np.arange(24)[None], known()
    plain = weighed(made(name), found, everyone)
    control = weighed(made(name, shuffled=True), found, everyone)
    assert np.allclose(np.sort(plain), np.sort(control))
    assert not np.allclose(plain, control)
    epochs = [made(name, shuffled=True).over(found, everyone, generator(0, epoch), generator(7))
              for epoch in "ab"]  # fmt: skip
    assert np.array_equal(*epochs)
    assert not np.allclose(
        epochs[0], made(name, shuffled=True).over(found, everyone, generator(0), generator(8))
    )


@pytest.mark.parametrize("name", PAIRS)
def test_permuted_weights_are_the_same_in_another_order(name: str) -> None:
    batches, found = np.arange(24).reshape(3, 8), known()
    plain, control = (weighed(made(name, permuted=p), found, batches) for p in (False, True))
    assert np.allclose(np.sort(plain, axis=1), np.sort(control, axis=1))
    if name != "uniform":
        assert not np.array_equal(plain, control)


def test_no_sign_means_no_difference() -> None:
    batches, found = np.arange(24).reshape(3, 8), known()
    uniform = weighed(Uniform(), found, batches)
    assert uniform.tolist() == [[6.125] * 8] * 3
    for kind in (Diversity, Discrepancy, CombinedStats):
        assert weighed(kind(sign=0), found, batches) == pytest.approx(uniform)


def test_random_weights_are_others_in_every_epoch() -> None:
    batches = np.arange(6_400).reshape(100, 64)
    one, two = (Random().over({}, batches, generator(0, str(epoch))) for epoch in (1, 2))
    assert not np.array_equal(one, two)
    assert effective(one).mean() == pytest.approx(0.75, abs=0.01)  # of numbers between 0 and 1


def test_direction() -> None:
    """With the paper's sign, pairs of a lower measure weigh more; with the other, less."""
    found = {"diversity": np.array([[0.1, 0.4, 0.4], [0.4, 0.4, 0.4]])}
    batch = np.arange(3)[None]
    low = {sign: weighed(Diversity(sign=sign, combine="image"), found, batch)[0]
           for sign in (-1, 1)}  # fmt: skip
    assert low[-1][0] > low[-1][1] == low[-1][2]
    assert low[1][0] < low[1][1]
    apart = weighed(Diversity(), found, batch)[0]
    assert apart[0] > apart[1]
    alike = weighed(Diversity(combine="agreement"), found, batch)[0]
    assert alike[0] < alike[1]


def semantic(name: str, **options: object) -> Semantic:
    found = made(name, **options)
    assert isinstance(found, Semantic)
    return found


def planted(
    kind: str, seed: int = 0, both: bool = False
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Clusters of pairs that are each other's neighbors; some are special in their images.

    With `both` in their texts as well.

    diverse: images of the cluster lie anywhere. discrepant: a pair whose own image lies elsewhere,
    while those of its neighbors, and of theirs, lie together.
    """
    random, clusters, size, d = np.random.default_rng(seed), 12, 10, 32
    cluster = np.repeat(np.arange(clusters), size)
    centers = random.normal(size=(clusters, d))
    text = centers[cluster] + 0.3 * random.normal(size=(len(cluster), d))
    image = centers[cluster] + 0.3 * random.normal(size=(len(cluster), d))
    special = cluster < 3 if kind == "diverse" else np.arange(len(cluster)) % size == 0
    for side in (image, text) if both else (image,):
        side[special] = random.normal(size=(special.sum(), d))
    ids = np.array([[j for j in np.flatnonzero(cluster == cluster[i]) if j != i]
                    for i in range(len(cluster))], np.int32)  # fmt: skip
    unit = [side / np.linalg.norm(side, axis=1, keepdims=True) for side in (image, text)]
    return unit[0], unit[1], ids, special


@pytest.mark.parametrize("kind", ["diverse", "discrepant"])
@pytest.mark.parametrize("senses", [1, 3])
@pytest.mark.parametrize("sample", [0, 40])
def test_a_planted_group_gets_the_larger_weights(kind: str, senses: int, sample: int) -> None:
    image, text, ids, special = planted(kind)
    random = np.random.default_rng(1)

    def several(side: np.ndarray) -> np.ndarray:
        points = side[:, None] + 0.05 * random.normal(size=(len(side), senses, side.shape[1]))
        return points / np.linalg.norm(points, axis=2, keepdims=True)

    how = {"sample": sample, "senses": "max" if sample else "mean"}
    weight: Semantic = Diversity(**how) if kind == "diverse" else Discrepancy(**how)
    weights = weigh_all(several(image), several(text), ids, weight).weights
    assert weights[special].min() > weights[~special].max()
    for name in ("ess", "normalized-difference"):
        ours = semantic(name, measure=weight.measures[0], **how)
        found = weigh_all(several(image), several(text), ids, ours).weights
        assert found[special].mean() > 1.4 * found[~special].mean()
    opposite = weigh_all(several(image), several(text), ids, type(weight)(sign=1, combine="image"))
    assert opposite.weights[special].max() < opposite.weights[~special].min()


@pytest.mark.parametrize("kind", ["diverse", "discrepant"])
@pytest.mark.parametrize("combine", ["sum", "image", "text", "product", "max"])
def test_the_sign_turns_the_emphasis_on_a_planted_group(kind: str, combine: str) -> None:
    """Special in images and texts alike; a difference of the two would not see such a group."""
    image, text, ids, special = planted(kind, both=True)
    measure = Diversity if kind == "diverse" else Discrepancy
    more, less = (weigh_all(image, text, ids, measure(sign=sign, combine=combine)).weights
                  for sign in (-1, 1))  # fmt: skip
    assert more[special].min() > more[~special].max()
    assert less[special].max() < less[~special].min()


@pytest.mark.parametrize("kind", ["diverse", "discrepant"])
@pytest.mark.parametrize("name", ["combined-val", "combined-stats"])
def test_a_group_planted_in_both_weighs_more_by_combinations(kind: str, name: str) -> None:
    image, text, ids, special = planted(kind, both=True)
    more, less = (weigh_all(image, text, ids, semantic(name, sign=sign)).weights
                  for sign in (-1, 1))  # fmt: skip
    assert more[special].min() > more[~special].max()
    assert less[special].max() < less[~special].min()


def test_the_ratio_says_which_measure_counts() -> None:
    """Of pairs that are diverse and pairs that are discrepant, those that beta or gamma favors."""
    diverse, discrepant = np.array([0.0, 0.5, 0.5]), np.array([0.5, 0.0, 0.5])
    found = {"diversity": np.stack([diverse] * 2), "discrepancy": np.stack([discrepant] * 2)}
    batch = np.arange(3)[None]
    first, second, other = weighed(CombinedVal(beta=4.0, gamma=1.0), found, batch)[0]
    assert first > second > other
    first, second, other = weighed(CombinedVal(beta=1.0, gamma=4.0), found, batch)[0]
    assert second > first > other


@pytest.mark.usefixtures("untyped")
@pytest.mark.parametrize("kind", [np.float16, np.float64])
def test_vectors_of_another_precision(kind: type) -> None:
    image, text, ids, _ = planted("diverse")
    expected = weigh_all(image.astype(np.float32), text.astype(np.float32), ids).weights
    found = weigh_all(image.astype(kind), text.astype(kind), ids).weights
    assert found == pytest.approx(expected, rel=5e-3 if kind is np.float16 else 1e-5)


def test_vectors_need_not_have_length_one() -> None:
    """Scores are mean cosines."""
    image, text, ids, _ = planted("discrepant")
    lengths = np.random.default_rng(2).uniform(0.5, 3, (len(image), 1))
    for name, scores in weigh_all(image, text, ids).scores.items():
        assert weigh_all(lengths * image, 3 * text, ids).scores[name] == pytest.approx(scores)


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_vectors_that_are_not_numbers_are_told(wrong: float) -> None:
    image, text, ids, _ = planted("diverse")
    image[7, 3] = wrong
    with pytest.raises(UsageError, match="weights: image 7 "):
        weigh_all(image, text, ids)


def test_no_pairs_have_no_weights() -> None:
    with pytest.raises(UsageError, match="weights: no pairs"):
        weigh_all(np.zeros((0, 4)), np.zeros((0, 4)), np.zeros((0, 2), np.int32))


@pytest.mark.usefixtures("untyped")
def test_rows_that_do_not_fit_are_told() -> None:
    known_case = case(5, 2, 1, True, 0)
    with pytest.raises(UsageError, match="4 images, 5 texts, 5 rows"):
        weigh_all(known_case.bank[0][:4], known_case.bank[1], known_case.ids)


@pytest.mark.parametrize("name", WEIGHTS)
def test_settings_are_read_strictly_and_back(name: str) -> None:
    weight = config.parse(WEIGHTS[name], {}, "recipe.toml")
    assert config.parse(WEIGHTS[name], config.plain(weight), "again") == weight
    with pytest.raises(UsageError, match="no option 'scael'"):
        config.parse(WEIGHTS[name], {"scael": 1.0}, "recipe.toml")


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("diversity", {"scale": 0.0}, "scale must be above 0"),
        ("diversity", {"sign": 2}, "sign: expected one of -1, 0, 1"),
        ("diversity", {"senses": "max"}, "needs a sample"),
        ("diversity", {"sample": -1}, "sample must be at least 0"),
        ("combined-val", {"beta": 1.0}, "beta and gamma are given together"),
        ("combined-val", {"sign": 0}, "sign=0 makes all ratios the same"),
        ("combined-val", {"share": 0.0}, "share must be above 0"),
        ("combined-val", {"epochs": 1}, "epochs must be at least 2"),
        ("ess", {"share": 1.5}, "share must be above 0 and at most 1"),
        ("density", {"k": 0}, "k must be at least 1"),
        ("rank", {"beta": -1.0}, "beta must be above 0"),
        ("distance", {"least": 1.5}, "0 < least < most < 2"),
        ("hubs", {"share": 2.0}, "share must be above 0"),
        ("hubs", {"nearest": 0}, "nearest must be at least 1"),
    ],
)
def test_bad_settings_are_one_line(name: str, options: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        config.parse(WEIGHTS[name], options, "recipe.toml")


@pytest.mark.parametrize("name", WEIGHTS)
def test_the_docs_tell_of_it_and_of_its_settings(name: str) -> None:
    page = (Path(__file__).parents[2] / "docs" / "methods.md").read_text(encoding="utf-8")
    for word in [name, *(field.name for field in fields(WEIGHTS[name]))]:
        assert f"`{word}`" in page, word


def test_small_data_has_fewer_rows_than_neighbors() -> None:
    """Two pairs, each the other's only neighbor; and pairs of which none has one."""
    known_case = case(2, 1, 1, True, 0)
    assert weigh_all(*known_case.bank, known_case.ids).weights.mean() == pytest.approx(6.125)
    alone = np.full((2, 1), -1, np.int32)
    assert weigh_all(*known_case.bank, alone).weights.tolist() == pytest.approx([6.125] * 2)


def test_normalized_differences_of_nothing_are_equal() -> None:
    found = {"diversity": np.full((2, 6), 0.3)}
    weights = weighed(NormalizedDifference(), found, np.arange(6)[None])
    assert weights.tolist() == [[1.0] * 6]
