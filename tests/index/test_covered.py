"""Filters and removals that cover what is nearest, and pages: a graph answers as all pairs do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import index_samples
import numpy as np
import pyarrow as pa
import pytest
from index_samples import unit

from trope.index import Engine, IndexSettings, State, create, walking
from trope.index.filters import parse
from trope.index.items import KEY, MODALITY

COUNT, TOPIC, SIZE = 25_000, 4_500, 32
SHARES = (0.9, 0.5, 0.1, 0.03)
RECALL = 0.95


@pytest.fixture(scope="module")
def queries() -> np.ndarray:
    """The middle of a topic, some of it, and some of anything else."""
    random = np.random.default_rng(1)
    middle = unit(np.random.default_rng(0), 1, SIZE)
    some = middle + 0.12 * random.standard_normal((3, SIZE))
    some /= np.linalg.norm(some, axis=1, keepdims=True)
    return np.concatenate([middle, some, unit(random, 4, SIZE)]).astype(np.float32)[:, None]


@pytest.fixture(scope="module")
def engines(
    tmp_path_factory: pytest.TempPathFactory, queries: np.ndarray
) -> Iterator[dict[str, Engine]]:
    """A crowd around a topic, the rest anywhere; with the settings that users get."""
    random = np.random.default_rng(2)
    vectors = unit(random, COUNT, SIZE)
    near = queries[0, 0] + 0.12 * random.standard_normal((TOPIC, SIZE))
    vectors[:TOPIC] = near / np.linalg.norm(near, axis=1, keepdims=True)
    ids = [f"image:r{i}" for i in range(COUNT)]
    columns = {
        KEY: ids,
        MODALITY: ["image"] * COUNT,
        "id": [name[6:] for name in ids],
        "crowd": np.arange(COUNT) < TOPIC,
        "far": np.argsort(np.argsort(-(vectors @ queries[0, 0]))) / COUNT,
        "any": random.random(COUNT),
    }
    made = {}
    for name in ("exact", "faiss"):
        folder = tmp_path_factory.mktemp(name)
        made[name] = create(folder, State(SIZE, settings=IndexSettings(engine=name)))  # type: ignore[arg-type]
        made[name].add(ids, vectors[:, None], pa.table(columns))
    yield made
    for engine in made.values():
        engine.close()


@pytest.fixture(params=[walking.EACH, 4], ids=["as users get it", "mostly by the graph"])
def each(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walking, "EACH", request.param)


def recall(engines: dict[str, Engine], asked: np.ndarray, k: int, where: str | None) -> float:
    """The share of what all pairs give that is found."""
    chosen = parse(where) if where else None
    wanted, found = (
        engines[name].nearest(asked, k, "image", chosen) for name in ("exact", "faiss")
    )
    assert np.isneginf(found.scores[found.ids == None]).all()  # noqa: E711
    assert ((wanted.ids == None) == (found.ids == None)).all()  # noqa: E711
    shares = [
        len(({*a} & {*b}) - {None}) / max(len({*a} - {None}), 1)
        for a, b in zip(wanted.ids, found.ids, strict=True)
    ]
    return float(np.mean(shares))


@pytest.mark.usefixtures("each")
@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("where", ["any < {0}", "far <= {0}", "far >= {1}"])
def test_filters_hide_nothing_that_passes(
    engines: dict[str, Engine], queries: np.ndarray, share: float, where: str
) -> None:
    """Near to the query, far from it, and anywhere."""
    asked = where.format(share, round(1 - share, 2))
    for k in (10, 50):
        assert recall(engines, queries[:4], k, asked) >= RECALL
        assert recall(engines, queries[4:], k, asked) >= RECALL


def test_each_sense_of_a_query_counts_where_what_it_is_near_to_may_not_be_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One sense leads to enough items, though the other's, a little further off, are nearer."""
    monkeypatch.setattr(walking, "EACH", 0)
    size, random = index_samples.SIZE, np.random.default_rng(3)
    one, other = np.eye(size, dtype=np.float32)[:2]
    low, hidden, near = (
        base + spread * unit(random, 150, size)
        for base, spread in ((one, 1.0), (other, 0.05), (other, 0.3))
    )
    vectors = np.concatenate([low, hidden, near]).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    ids, _, rows = index_samples.items(len(vectors))
    rows = rows.append_column("hidden", pa.array((np.arange(450) // 150 == 1).tolist()))
    found = []
    for name in ("exact", "graph"):
        engine = index_samples.made(tmp_path / name, index_samples.LOCAL[name])
        engine.add(ids, vectors[:, None], rows)
        asked = np.stack([one, other])[None]
        found.append(engine.nearest(asked, 10, "image", parse("hidden = false")).ids[0].tolist())
    assert found[0] == found[1]


def test_pages_neither_repeat_nor_skip(engines: dict[str, Engine], queries: np.ndarray) -> None:
    for where in (None, parse("any < 0.9")):
        for query in queries[[0, 6], None]:
            names: list[str] = []
            scores: list[float] = []
            for page in range(1, 41):
                found = engines["faiss"].nearest(query, 10 * page, "image", where)
                names += found.ids[0, -10:].tolist()
                scores += found.scores[0, -10:].tolist()
            assert len(set(names)) == 400
            assert None not in names
            assert (np.diff(scores) <= 0).all()
            wanted = engines["exact"].nearest(query, 400, "image", where).ids[0]
            assert len({*wanted} & {*names}) / 400 >= RECALL


def test_everything_can_be_asked_for(engines: dict[str, Engine], queries: np.ndarray) -> None:
    found = engines["faiss"].nearest(queries[:1], COUNT + 5, "image")
    assert len(set(found.ids[0])) == COUNT + 1
    assert np.isneginf(found.scores[0, COUNT:]).all()
    assert np.isfinite(found.scores[0, :COUNT]).all()


@pytest.mark.usefixtures("each")
def test_removals_hide_nothing_that_is_left(
    engines: dict[str, Engine], queries: np.ndarray
) -> None:
    """The topic of the queries is removed, and less than would be written anew. Comes last."""
    for name, engine in engines.items():
        engine.remove([f"image:r{i}" for i in range(TOPIC)])
        assert engine.state.parts["image"].dead == TOPIC, name
    for where in (None, "any < 0.5", "crowd = false"):
        assert recall(engines, queries[:4], 10, where) >= RECALL
        assert recall(engines, queries[4:], 10, where) >= RECALL
