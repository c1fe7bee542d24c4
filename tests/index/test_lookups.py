"""Single items looked up again and again, and searches of many threads at once."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest
from index_samples import items, lines, made, unit

from trope.errors import UsageError
from trope.index import IndexSettings
from trope.index.filters import parse
from trope.index.parts import SELDOM

NAMES = ("b", "a", "ß", "😀", "Z", "a:b", "", "r1", "r10", "é", "z\uffff")


@pytest.mark.parametrize("settings", [IndexSettings(), IndexSettings(engine="exact")])
def test_items_are_looked_up_one_by_one(tmp_path: Path, settings: IndexSettings) -> None:
    engine = made(tmp_path / "index", settings)
    ids = [f"image:{name}" for name in NAMES]
    vectors = unit(np.random.default_rng(0), len(ids), 1, engine.state.size)  # type: ignore[attr-defined]
    engine.add(ids, vectors, lines(ids))
    engine.add(ids[:3], vectors[5:8], lines(ids[:3]))  # those that were there are removed
    engine.remove([ids[4]])
    expected = {name: vectors[place] for place, name in enumerate(ids)}
    expected |= dict(zip(ids[:3], vectors[5:8], strict=True))
    del expected[ids[4]]
    for _ in range(SELDOM):
        for name, vector in expected.items():
            assert (engine.get([name]).vectors[0] == vector).all(), name
    found = engine.get(list(expected)[::-1])
    assert found.ids == list(expected)[::-1]
    for name in (ids[4], "image:nobody", "image:zzzz"):
        with pytest.raises(UsageError, match="holds no item"):
            engine.get([name])


def test_many_threads_find_what_one_does(tmp_path: Path) -> None:
    engine = made(tmp_path / "index", IndexSettings(flat=10))
    ids, vectors, rows = items(400)
    engine.add(ids, vectors, rows)
    filters = [None, *(parse(f"year >= {year}") for year in range(2_000, 2_390, 10))]
    known = [engine.nearest(vectors[:1], 5, "image", where).ids[0].tolist() for where in filters]
    wrong: list[object] = []

    def ask(seed: int) -> None:
        order = np.random.default_rng(seed).integers(0, len(filters), 200)
        for place in order.tolist():
            try:
                found = engine.nearest(vectors[:1], 5, "image", filters[place]).ids[0].tolist()
                again = engine.get(found).ids
            except Exception as error:
                wrong.append(error)
                return
            if found != known[place] or again != found:
                wrong.append((place, found))

    threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
