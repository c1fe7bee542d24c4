"""The space of pictures: a row, a vector; none without a picture."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import trope
from trope.errors import DataError
from trope.features import features
from trope.neighbors import Search, neighbors
from trope.spaces import SPACES, Space, Visual


def test_a_vector_for_every_row(tmp_path: Path, write_jpeg: Callable[..., Path]) -> None:
    colors = [(250, 10, 10), (10, 250, 10), (240, 20, 20)]
    for i, color in enumerate(colors):
        write_jpeg(f"data/{i}.jpg", color)
    names = ["0.jpg", "1.jpg", None, "2.jpg", "0.jpg"]
    rows = [{"id": str(i), "image": name, "text": "t"} for i, name in enumerate(names)]
    (tmp_path / "data/pairs.jsonl").write_text("\n".join(map(json.dumps, rows)))
    pairs = trope.open(tmp_path / "data")
    found = Visual().vectors(pairs)
    table = features(pairs)
    assert isinstance(Visual(), Space)
    assert found.owners.tolist() == [0, 1, 2, 3, 4]
    assert found.values.dtype == np.float32
    for row in (0, 1, 3, 4):
        assert np.array_equal(found.values[row], table.read(table.rows[[row]])[0])
    assert not found.values[2].any()
    assert found.remarks == ("1 row has no usable picture, and so no neighbors",)
    near = neighbors(found.values, Search(3))
    assert near.ids[0].tolist()[:2] == [3, 1]  # red is near red; the copy and the gap are left out
    assert near.ids[2].tolist() == [-1, -1, -1]


def test_every_space_bears_its_name() -> None:
    for name, space in SPACES.items():
        assert isinstance(space(), Space)
        assert space().name == name


def test_a_data_set_without_pictures(tmp_path: Path) -> None:
    (tmp_path / "pairs.jsonl").write_text(json.dumps({"id": "1", "text": "t"}))
    with pytest.raises(DataError, match="no row has a picture"):
        Visual().vectors(trope.open(tmp_path))
