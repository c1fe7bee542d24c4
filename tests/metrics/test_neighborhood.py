from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from trope.errors import DataError
from trope.metrics import neighborhood
from trope.metrics.neighborhood import default_k, preservation
from trope.metrics.sorting import tie_priority
from trope.views import Encoded


def encoded(vectors: np.ndarray) -> Encoded:
    """As a model gives them: one sense an item, or several."""
    values = torch.from_numpy(vectors.astype(np.float32))
    return Encoded(values) if values.ndim == 2 else Encoded(values.mean(dim=1), values)


def near(scores: np.ndarray, i: int, same: list[np.ndarray], k: int) -> set[int]:
    """The k best others, one by one; those of equal score by the gallery's shuffle."""
    others = [j for j in range(len(scores)) if j != i and all(c[i] != c[j] for c in same)]
    ties = tie_priority(len(scores))
    return set(sorted(others, key=lambda j: (-scores[i, j], ties[j]))[:k])


def plain(semantic: np.ndarray, learned: np.ndarray, same: list[np.ndarray], k: int) -> list[float]:
    """Distances and best cosines over senses in double precision, sets of neighbors."""
    n, points = len(semantic), learned.reshape(len(semantic), -1, learned.shape[-1])
    apart = np.array([[-np.sum((x - y) ** 2.0) for y in semantic] for x in semantic])
    alike = np.array([[max(float(a @ b) for a in x for b in y) for y in points] for x in points])
    found = []
    for i in range(n):
        left, right = near(apart, i, same, k), near(alike, i, same, k)
        found.append(len(left & right) / len(left) if left else float("nan"))
    return found


def vectors(seed: int, *shape: int) -> np.ndarray:
    """Whole numbers: many equal distances, all exact; the first column is never zero."""
    values = np.random.default_rng(seed).integers(-2, 3, shape).astype(np.float32)
    values[..., 0] += 3
    return values


def balanced(seed: int, n: int, size: int) -> np.ndarray:
    """Vectors and their opposites, whose mean is zero, in any order."""
    half = vectors(seed, n // 2, size)
    return np.random.default_rng(seed).permutation(np.concatenate([half, -half]))


@given(st.integers(0, 99), st.integers(1, 12), st.integers(1, 6), st.sampled_from([None, 1, 3]))
def test_equals_plain_loops(seed: int, half: int, k: int, senses: int | None) -> None:
    n = 2 * half
    semantic = balanced(seed, n, 3)
    learned = vectors(seed + 1, n, 4) if senses is None else vectors(seed + 1, n, senses, 4)
    same = [np.arange(n) // 2, np.random.default_rng(seed).integers(0, n, n)]
    found = preservation(semantic, encoded(learned), same, k)
    assert found.k == k
    assert found.values == pytest.approx(plain(semantic, learned, same, k), nan_ok=True)


@given(st.integers(0, 20), st.integers(1, 40))
def test_blocks_are_joined(seed: int, block: int) -> None:
    semantic, learned = balanced(seed, 30, 4), encoded(vectors(seed, 30, 2, 4))
    whole = preservation(semantic, learned, k=4)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(neighborhood, "BLOCK", block * 30)
        parts = preservation(semantic, learned, k=4)
    assert np.array_equal(whole.values, parts.values)
    assert np.array_equal(whole.chance, parts.chance)


def test_the_space_itself_keeps_all_and_noise_loses_neighbors() -> None:
    random = np.random.default_rng(0)
    semantic = random.normal(size=(400, 16)).astype(np.float32)
    semantic /= np.linalg.norm(semantic, axis=1, keepdims=True)
    noise = random.normal(size=semantic.shape)
    kept = [
        preservation(semantic, encoded(semantic + share * noise), metric="cosine").values.mean()
        for share in (0.0, 0.05, 0.2, 50.0)
    ]
    assert kept == sorted(kept, reverse=True)
    assert kept[0] == 1.0
    assert kept[-1] < 0.1


@pytest.mark.parametrize("collapsed", [False, True])
def test_chance(collapsed: bool) -> None:
    """A space that knows nothing preserves what chance gives; so does one of a single point."""
    random = np.random.default_rng(1)
    learned = np.ones((600, 8)) if collapsed else random.normal(size=(600, 8))
    semantic = random.normal(size=(600, 8)).astype(np.float32)
    found = preservation(semantic, encoded(learned), [np.arange(600) // 3])
    assert found.k == 30
    assert found.chance == pytest.approx(30 / 597)
    assert found.values.mean() == pytest.approx(30 / 597, abs=0.012)


def test_the_same_picture_or_text_is_no_neighbor() -> None:
    """Five texts a picture lie together in both spaces; without them little is preserved."""
    random = np.random.default_rng(2)
    pictures = np.repeat(np.arange(40), 5)
    centers = 10 * random.normal(size=(40, 12))
    semantic = (centers[pictures] + random.normal(size=(200, 12))).astype(np.float32)
    learned = encoded(centers[random.permutation(40)][pictures] + random.normal(size=(200, 12)))
    counted = preservation(semantic, learned, k=4).values.mean()
    left_out = preservation(semantic, learned, [pictures], k=4)
    assert counted > 0.9
    assert left_out.values.mean() < 0.2
    assert left_out.chance == pytest.approx(4 / 195)


def test_the_distance_is_not_the_cosine() -> None:
    semantic = np.array([[1, 0], [9, 0], [1, 1], [-1, 2]], np.float32)
    by_angle = encoded(np.array([[1, 0], [1, 0], [0.7, 0.7], [-0.7, 0.7]]))
    assert preservation(semantic, by_angle, k=1, metric="cosine").values[0] == 1
    assert preservation(semantic, by_angle, k=1, metric="l2").values[0] == 0


def test_items_without_content_do_not_count() -> None:
    semantic, learned = balanced(3, 20, 4), vectors(3, 20, 4)
    kept = np.arange(20) % 4 > 0
    found = preservation(np.where(kept[:, None], semantic, 0), encoded(learned), k=3)
    alone = preservation(semantic[kept], encoded(learned[kept]), k=3)
    assert np.isnan(found.values[~kept]).all()
    assert np.array_equal(found.values[kept], alone.values)
    assert found.chance[kept] == pytest.approx(3 / 14)


def test_fewer_others_than_neighbors() -> None:
    semantic = balanced(4, 6, 3)
    found = preservation(semantic, encoded(semantic), [np.array([0, 0, 0, 0, 1, 2])], k=5)
    assert found.values == pytest.approx(1.0)  # all others, however few
    assert found.chance == pytest.approx(1.0)
    alone = preservation(semantic, encoded(semantic), [np.zeros(6, int)], k=5)
    assert np.isnan(alone.values).all()
    assert np.isnan(alone.chance).all()


@pytest.mark.parametrize(("items", "k"), [(1, 1), (39, 1), (467, 23), (4_000, 200), (90_000, 200)])
def test_the_usual_number_of_neighbors(items: int, k: int) -> None:
    assert default_k(items) == k


def test_no_items_and_no_numbers() -> None:
    none = preservation(np.empty((0, 3), np.float32), encoded(np.empty((0, 3))))
    assert len(none.values) == 0
    broken = np.full((3, 2), np.nan, np.float32)
    for semantic, learned in ((broken, np.ones((3, 2))), (np.ones((3, 2), np.float32), broken)):
        with pytest.raises(DataError, match="no number"):
            preservation(semantic, encoded(learned))
    with pytest.raises(ValueError, match="at least 1"):
        preservation(np.ones((3, 2), np.float32), encoded(np.ones((3, 2))), k=0)
