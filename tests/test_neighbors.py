"""Exact and graph search against plain loops, and the saved table."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from safetensors.numpy import load_file

from disks import room
from trope.errors import DataError, TropeError, UsageError
from trope.files import replacing
from trope.neighbors import (
    Graph,
    NeighborTable,
    Search,
    cached_neighbors,
    exact,
    neighbors,
    neighbors_of,
    recall,
    rows,
    search,
)
from trope.neighbors import table as module
from trope.neighbors.rows import fingerprint, ready
from trope.runtime import cache_folder


def clustered(count: int, size: int = 16, seed: int = 0) -> np.ndarray:
    random = np.random.default_rng(seed)
    centers = random.normal(size=(max(1, count // 50), size))
    spread = 0.5 * random.normal(size=(count, size))
    return (centers[random.integers(0, len(centers), count)] + spread).astype(np.float32)


def by_hand(
    vectors: np.ndarray, k: int, metric: str = "l2", owners: np.ndarray | None = None
) -> tuple[list[list[int]], list[list[float]]]:
    """All distances in double precision, sorted; ties by row; -1 and infinity fill up."""
    wide = vectors.astype(np.float64)
    ids, distances = [], []
    for i, x in enumerate(wide):
        found = []
        for j, y in enumerate(wide):
            same = np.array_equal(x, y) or (owners is not None and owners[i] == owners[j])
            if i == j or same or not x.any() or not y.any():
                continue
            apart = np.linalg.norm(x - y)
            if metric == "cosine":
                apart = 1 - x @ y / np.linalg.norm(x) / np.linalg.norm(y)
            found.append((apart, j))
        found = [*sorted(found)[:k], *[(np.inf, -1)] * (k - len(found))]
        ids.append([j for _, j in found])
        distances.append([d for d, _ in found])
    return ids, distances


# Eighths are exact in 32 bits: equal distances are equal, and many are.
grids = hnp.arrays(
    np.float32,
    st.tuples(st.integers(1, 24), st.integers(1, 4)),
    elements=st.integers(-3, 3).map(lambda i: i / 8),
)


@given(grids, st.integers(1, 30), st.sampled_from([1, 7, 64, None]), st.booleans())
def test_exact_equals_sorting_all_distances(
    vectors: np.ndarray, k: int, block: int | None, owned: bool
) -> None:
    owners = np.arange(len(vectors)) // 3 if owned else None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact, "BLOCK", block or exact.BLOCK)
        table = neighbors(vectors, Search(k, method="exact"), owners)
    ids, distances = by_hand(vectors, min(k, len(vectors)), owners=owners)
    assert table.ids.tolist() == ids
    np.testing.assert_allclose(table.distances, distances, rtol=1e-6)


@pytest.mark.parametrize("metric", ["l2", "cosine"])
@pytest.mark.parametrize("shift", [0.0, 300.0])
def test_exact_on_plain_numbers(metric: str, shift: float) -> None:
    vectors = clustered(150) + np.float32(shift)
    table = neighbors(vectors, Search(20, metric, "exact"))
    ids, distances = by_hand(vectors, 20, metric)
    if not (metric == "cosine" and shift):  # there, all directions are nearly one
        assert table.ids.tolist() == ids
    np.testing.assert_allclose(table.distances, distances, rtol=1e-4, atol=2e-7)


def test_blocks_equal_one_block() -> None:
    ready_ = ready(clustered(500), "l2")
    whole = exact.nearest(ready_, 30)
    for block in (1, 1_000, 12_345):
        parts = exact.nearest(ready_, 30, block=block)
        assert np.array_equal(whole[0], parts[0])
        assert np.array_equal(whole[1], parts[1])


def test_few_candidates_remain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where neighbors stand side by side, and where one vector is far from all."""
    centers = np.repeat(clustered(80, 8), 50, axis=0)
    vectors = (centers + np.random.default_rng(0).normal(size=(4_000, 8)) / 9).astype(np.float32)
    vectors[17] *= 1_000
    count = candidates(vectors, 10, np.arange(1, 4_000, 40), monkeypatch)
    assert 10 * 100 < count < 20 * 100


def test_few_candidates_remain_among_many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """What rounding may hide grows with the length of vectors, not with their number."""
    vectors = np.random.default_rng(0).normal(size=(60_000, 24)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    queries = np.arange(0, 60_000, 3_000)
    with monkeypatch.context() as patch:
        assert 200 * 20 < candidates(vectors, 200, queries, patch) < 1.2 * 200 * 20
    ids, _ = neighbors_of(queries, vectors, Search(200))
    wide = vectors.astype(np.float64)
    for query, found in zip(queries, ids, strict=True):
        apart = np.square(wide - wide[query]).sum(axis=1)
        apart[query] = np.inf
        assert found.tolist() == np.argsort(apart)[:200].tolist()


def candidates(vectors: np.ndarray, k: int, queries: np.ndarray, patch: pytest.MonkeyPatch) -> int:
    """How many rows are compared in full."""
    seen = []

    def counted(_: object, queries: np.ndarray, places: np.ndarray, *rest: object) -> object:
        seen.append(len(places))
        return exact.nothing(len(queries), k)

    patch.setattr(exact, "choose", counted)
    exact.nearest(ready(vectors, "l2"), k, queries)
    return sum(seen)


@pytest.mark.parametrize("metric", ["l2", "cosine"])
def test_exact_with_fewer_rows_than_numbers_in_each(metric: str) -> None:
    """Long vectors of nearly equal distances, which products in 32 bits put out of order."""
    random = np.random.default_rng(0)
    vectors = (1 + random.normal(size=(40, 3_000)) / 1_000).astype(np.float32)
    vectors[20:] = vectors[:20] + 1e-6 * random.normal(size=(20, 3_000)).astype(np.float32)
    table = neighbors(vectors, Search(5, metric, "exact"))
    ready_ = ready(vectors, metric).vectors
    assert table.ids.tolist() == by_hand(ready_, 5)[0]


def test_slack_counts_the_products_in_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def noted(bound: np.ndarray, squares: np.ndarray, terms: int) -> np.ndarray:
        seen.append(terms)
        return slack(bound, squares, terms)

    slack = exact.slack
    monkeypatch.setattr(exact, "slack", noted)
    for count in (5, 300):
        exact.nearest(ready(clustered(count, 16), "l2"), 3)
    assert set(seen) == {17}


@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.booleans())
def test_exact_with_many_copies(seed: int, k: int, owned: bool) -> None:
    """Few points on a line, most of them held by many rows, at many equal distances."""
    random = np.random.default_rng(seed)
    vectors = (random.zipf(1.5, (32, 1)) % 9).astype(np.float32)
    owners = random.integers(0, 16, 32) if owned else None
    ids, distances = by_hand(vectors, min(k, 32), owners=owners)
    table = neighbors(vectors, Search(k, method="exact"), owners)
    assert table.ids.tolist() == ids
    np.testing.assert_allclose(table.distances, distances, rtol=1e-6)


def test_copies_cost_no_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = clustered(4_000)
    vectors[::2] = vectors[0]
    count = candidates(vectors, 10, np.arange(0, 4_000, 40), monkeypatch)
    assert count < 20 * 100


@pytest.mark.parametrize("hashed", [True, False])
def test_copies_have_one_number(hashed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the order of the first, also where hashes fail to tell rows apart."""
    vectors = np.array([[1, 0], [2, 0], [1, -0.0], [3, 3], [2, 0]], np.float32)
    monkeypatch.setattr(rows, "BLOCK", 2)
    if not hashed:
        monkeypatch.setattr(rows, "_hashes", lambda some: np.zeros(len(some)))
    assert rows.copies(vectors).tolist() == [0, 1, 0, 2, 1]
    assert rows.copies(vectors[:, :0]).tolist() == [0] * 5


def test_rows_are_told_apart_in_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "BLOCK", 2**11)
    vectors = np.random.default_rng(0).normal(size=(40_000, 100)).astype(np.float32)
    tracemalloc.start()
    assert np.array_equal(rows.copies(vectors), np.arange(40_000))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < vectors.nbytes / 2


def test_copies_and_zeros_are_not_neighbors() -> None:
    vectors = clustered(60)
    vectors[7:27] = vectors[7]
    vectors[40] = 0
    vectors[41] = -0.0
    for method in ("exact", "hnsw"):
        table = neighbors(vectors, Search(40, method=method))
        assert not np.isin(table.ids[7:27], np.arange(7, 27)).any()
        assert (table.ids[40:42] == -1).all()
        assert not np.isin(table.ids, [40, 41]).any()
        assert (table.counts[7:27] == 38).all()
        assert (table.distances > 0).all()


@pytest.mark.parametrize("method", ["exact", "hnsw"])
@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_more_neighbors_than_rows(method: str, count: int) -> None:
    for k in (200, 10**12):
        table = neighbors(clustered(5)[:count], Search(k, method=method))
        assert table.ids.shape == table.distances.shape == (count, max(1, count))
        assert (table.counts == max(0, count - 1)).all()
        assert np.isinf(table.distances[:, max(0, count - 1) :]).all()


@given(grids, st.integers(1, 30), st.booleans())
def test_some_rows_alone_have_the_same_neighbors(vectors: np.ndarray, k: int, owned: bool) -> None:
    owners = np.arange(len(vectors)) // 3 if owned else None
    queries = np.arange(len(vectors))[::-2]
    ids, far = neighbors_of(queries, vectors, Search(k), owners)
    table = neighbors(vectors, Search(k, method="exact"), owners)
    assert np.array_equal(ids, table.ids[queries])
    assert np.array_equal(far, table.distances[queries])


@pytest.mark.parametrize("metric", ["l2", "cosine"])
@pytest.mark.parametrize("owned", [False, True])
def test_graph_finds_nearly_all(metric: str, owned: bool) -> None:
    vectors = clustered(1_000)
    vectors[100:160] = vectors[100]
    owners = np.arange(1_000) // 5 if owned else None
    table = neighbors(vectors, Search(50, metric, "hnsw"), owners)
    assert recall(table, vectors, owners, sample=200) >= 0.95
    if owners is not None:
        assert not (owners[table.ids] == owners[:, None]).any()
    assert not (table.ids == np.arange(1_000)[:, None]).any()


def test_recall_counts_what_is_missing() -> None:
    vectors = clustered(400)
    table = neighbors(vectors, Search(10, method="exact"))
    assert recall(table, vectors) == 1
    ids, far = table.ids.copy(), table.distances.copy()
    far[:, 5:] = np.inf
    ids[:, 5:] = -1
    assert recall(NeighborTable(ids, far, table.made), vectors) == 0.5
    with pytest.raises(UsageError, match="other vectors"):
        recall(table, vectors + 1)


def test_auto_is_exact_for_few(monkeypatch: pytest.MonkeyPatch) -> None:
    assert neighbors(clustered(50), Search(5)).made.method == "exact"
    monkeypatch.setattr(search, "EXACT_ROWS", 49)
    assert neighbors(clustered(50), Search(5)).made.method == "hnsw"


def test_saved_and_mapped(tmp_path: Path) -> None:
    vectors = clustered(100)
    table = neighbors(vectors, Search(7))
    table.save(tmp_path / "t.safetensors")
    mapped = NeighborTable.load(tmp_path / "t.safetensors", fingerprint(vectors))
    assert isinstance(mapped.ids, np.memmap)
    assert mapped.made == table.made
    assert np.array_equal(mapped.ids, table.ids)
    assert np.array_equal(mapped.distances, table.distances)
    public = load_file(tmp_path / "t.safetensors")
    assert np.array_equal(public["ids"], table.ids)
    assert np.array_equal(public["distances"], table.distances)


def test_no_table_is_short(tmp_path: Path) -> None:
    table = neighbors(clustered(100), Search(7))
    table.save(tmp_path / "whole")
    size = (tmp_path / "whole").stat().st_size
    with pytest.raises(TropeError, match="short: cannot be written"), room(size - 1):
        table.save(tmp_path / "short")
    assert not (tmp_path / "short").exists()


def test_refused_for_other_vectors(tmp_path: Path) -> None:
    vectors = clustered(100)
    neighbors(vectors, Search(7)).save(tmp_path / "t")
    vectors[3, 2] += 1
    with pytest.raises(DataError, match="other vectors"):
        NeighborTable.load(tmp_path / "t", fingerprint(vectors))
    with pytest.raises(DataError, match="other vectors"):
        NeighborTable.load(tmp_path / "t", fingerprint(clustered(100), np.arange(100)))


@pytest.mark.parametrize("keep", [0, 4, 100, -1, -500])
def test_damaged_files_are_told(tmp_path: Path, keep: int) -> None:
    neighbors(clustered(100), Search(7)).save(tmp_path / "t")
    (tmp_path / "t").write_bytes((tmp_path / "t").read_bytes()[:keep])
    with pytest.raises(DataError, match="damaged"):
        NeighborTable.load(tmp_path / "t")
    (tmp_path / "t").write_bytes(b"\xff" * 300)
    with pytest.raises(DataError, match="damaged"):
        NeighborTable.load(tmp_path / "t")
    with pytest.raises(DataError, match="No such file"):
        NeighborTable.load(tmp_path / "none")


@pytest.mark.parametrize("wrong", [100, 2**30, -2, -(2**31)])
def test_neighbors_that_are_no_rows_are_told(tmp_path: Path, wrong: int) -> None:
    table = neighbors(clustered(100), Search(7))
    table.ids[60, 3] = wrong
    table.save(tmp_path / "t")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BLOCK", 50)
        with pytest.raises(DataError, match=r"t: damaged .*none of its 100 rows"):
            NeighborTable.load(tmp_path / "t")


def test_numbers_of_another_kind_are_told(tmp_path: Path) -> None:
    neighbors(clustered(100), Search(7)).save(tmp_path / "t")
    whole = (tmp_path / "t").read_bytes()
    (tmp_path / "t").write_bytes(whole.replace(b'"I32"', b'"F32"'))
    with pytest.raises(DataError, match="damaged"):
        NeighborTable.load(tmp_path / "t")


def test_a_damaged_table_is_computed_again() -> None:
    vectors = clustered(100)
    first = cached_neighbors(vectors, Search(7))
    ids = np.array(first.ids)
    (path,) = (cache_folder() / "neighbors").glob("*.safetensors")
    for damage in (b"", b"nonsense", path.read_bytes().replace(ids.tobytes(), b"\x40" * 2_800)):
        path.write_bytes(damage)
        assert np.array_equal(cached_neighbors(vectors, Search(7)).ids, ids)
        assert np.array_equal(NeighborTable.load(path).ids, ids)


def test_the_name_in_the_cache_says_how(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where rows without content would make the difference."""
    vectors = clustered(50)
    vectors[::2] = 0
    monkeypatch.setattr(search, "EXACT_ROWS", 30)
    assert cached_neighbors(vectors, Search(10**9)).made.method == "hnsw"
    (path,) = (cache_folder() / "neighbors").glob("*.safetensors")
    assert path.name.startswith(f"v{module.FORMAT}-{fingerprint(vectors)}-l2-50-hnsw-")


def test_cache_computes_once_and_never_half(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = clustered(100)

    def killed(*_: object) -> None:
        with replacing(tmp_path / ".trope-cache" / "neighbors" / "x") as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(NeighborTable, "save", killed)
        with pytest.raises(KeyboardInterrupt):
            cached_neighbors(vectors, Search(7))
    first = cached_neighbors(vectors, Search(7))
    monkeypatch.setattr(search, "neighbors", None)
    again = cached_neighbors(vectors, Search(7))
    assert np.array_equal(first.ids, again.ids)
    with pytest.raises(TypeError):  # other settings, another table
        cached_neighbors(vectors, Search(8))


def test_bad_input_is_told() -> None:
    vectors = clustered(10)
    for value in (np.nan, np.inf, 1e30):
        broken = vectors.copy()
        broken[4, 0] = value
        with pytest.raises(DataError, match="vector 4"):
            neighbors(broken, Search(3))
    with pytest.raises(ValueError, match="k must be"):
        Search(0)
    with pytest.raises(ValueError, match="links"):
        Graph(links=0)


WORDS = {"metric": ("cosin", "cosine"), "method": ("exac", "exact")}


@pytest.mark.usefixtures("untyped")
@pytest.mark.parametrize("name", WORDS)
def test_unknown_words_are_told(name: str) -> None:
    word, meant = WORDS[name]
    with pytest.raises(ValueError, match=rf"no {name} '{word}'; did you mean '{meant}'\?"):
        Search(**{name: word})  # type: ignore[arg-type]


FLAT, TEN = np.ones(10, np.float32), clustered(10)


@pytest.mark.usefixtures("untyped")
@pytest.mark.parametrize(
    ("vectors", "told"),
    [
        (FLAT, r"found float32 of shape \(10,\)"),
        (TEN[None], r"found float32 of shape \(1, 10, 16\)"),
        (np.float32(1), r"found float32 of shape \(\)"),
        ([], r"found float64 of shape \(0,\)"),
        ([["a", "b"]], r"found <U1 of shape \(1, 2\)"),
        (TEN.astype(complex), "found complex128"),
    ],
)
def test_vectors_of_another_shape_are_told(vectors: np.ndarray, told: str) -> None:
    table = neighbors(TEN, Search(3))
    for call in (
        lambda: neighbors(vectors),
        lambda: cached_neighbors(vectors),
        lambda: neighbors_of(np.array([0]), vectors),
        lambda: recall(table, vectors),
    ):
        with pytest.raises(UsageError, match=rf"vectors: numbers of shape \(rows, size\).*{told}"):
            call()


@pytest.mark.usefixtures("untyped")
@pytest.mark.parametrize("owners", [np.arange(9), np.zeros((10, 1), int), np.arange(10) / 2])
def test_owners_of_another_number_are_told(owners: np.ndarray) -> None:
    with pytest.raises(UsageError, match="owners: one number for each of the 10 vectors"):
        neighbors(TEN, Search(3), owners)


@pytest.mark.usefixtures("untyped")
def test_plain_lists_and_whole_numbers_are_vectors_too() -> None:
    points = [[0, 1], [0, 3], [0, 4]]
    table = neighbors(points, Search(2), [0, 1, 2])  # type: ignore[arg-type]
    assert table.ids.tolist() == [[1, 2], [2, 0], [1, 0]]
    ids, _ = neighbors_of([2], points, Search(1))  # type: ignore[arg-type]
    assert ids.tolist() == [[1]]
    assert neighbors_of([], points, Search(1))[0].shape == (0, 1)  # type: ignore[arg-type]


@pytest.mark.usefixtures("untyped")
@pytest.mark.parametrize(
    ("queries", "error", "told"),
    [
        ([-1], IndexError, "rows from -1 to -1, but there are 10"),
        ([3, 10], IndexError, "rows from 3 to 10, but there are 10"),
        ([0.5], UsageError, r"row numbers is wanted, found float64 of shape \(1,\)"),
        ([True, False], UsageError, "found bool"),
        (3, UsageError, r"found int64 of shape \(\)"),
        ("3", UsageError, "found <U1"),
    ],
)
def test_rows_that_do_not_exist_are_told(
    queries: object, error: type[Exception], told: str
) -> None:
    with pytest.raises(error, match=told):
        neighbors_of(queries, TEN, Search(3))  # type: ignore[arg-type]


def test_recall_of_nothing_is_no_number() -> None:
    same = np.ones((5, 3), np.float32)
    assert np.isnan(recall(neighbors(same, Search(2)), same))
    assert np.isnan(recall(neighbors(same[:0], Search(2)), same[:0]))


def test_recall_needs_a_sample() -> None:
    table = neighbors(TEN, Search(3))
    for sample in (0, -5):
        with pytest.raises(ValueError, match=f"sample must be at least 1, found {sample}"):
            recall(table, TEN, sample=sample)


def test_paths_may_be_texts(tmp_path: Path) -> None:
    table = neighbors(TEN, Search(3))
    table.save(str(tmp_path / "t"))
    assert np.array_equal(NeighborTable.load(str(tmp_path / "t")).ids, table.ids)
    with pytest.raises(DataError, match="No such file"):
        NeighborTable.load(str(tmp_path / "none"))
