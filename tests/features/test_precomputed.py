from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import trope
from trope.data.pairs import Pairs
from trope.errors import DataError, TropeError, UsageError
from trope.features import Precomputed, backbone, features

VECTORS = np.random.default_rng(0).normal(size=(5, 4)).astype(np.float32)
REGIONS = np.random.default_rng(1).normal(size=(5, 36, 4)).astype(np.float32)


def data_set(folder: Path, rows: list[object], image: np.ndarray | None = VECTORS) -> Pairs:
    (folder / "features").mkdir(parents=True, exist_ok=True)
    if image is not None:
        np.save(folder / "features" / "image.npy", image)
    np.save(folder / "features" / "text.npy", VECTORS[::-1])
    lines = []
    for i, row in enumerate(rows):
        line = {"id": str(i), "text": "t", "text_feature": i}
        lines.append(line if row is None else line | {"image_feature": row})
    (folder / "pairs.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return trope.open(folder)


def test_rows_of_the_stored_arrays(tmp_path: Path) -> None:
    pairs = data_set(tmp_path, [4, 0, None, 0])
    table = features(pairs, "precomputed")
    assert table.rows.tolist() == [4, 0, -1, 0]
    np.testing.assert_array_equal(table.read(table.rows[[0, 1, 3]]), VECTORS[[4, 0, 0]])
    texts = Precomputed().texts(pairs)
    np.testing.assert_array_equal(texts.read(texts.rows), VECTORS[::-1][:4])


def test_arrays_are_mapped_not_read(tmp_path: Path) -> None:
    table = features(data_set(tmp_path, [0]), "precomputed")
    assert isinstance(table.parts[0], np.memmap)


def test_regions_and_their_mean(tmp_path: Path) -> None:
    pairs = data_set(tmp_path, [1, 2], REGIONS)
    tokens = features(pairs, backbone("precomputed"), "tokens")
    np.testing.assert_array_equal(tokens.read(tokens.rows), REGIONS[1:3])
    pooled = features(pairs, "precomputed", "pooled")
    np.testing.assert_allclose(pooled.read(pooled.rows), REGIONS[1:3].mean(axis=1), rtol=1e-5)


def test_kinds_an_array_cannot_give(tmp_path: Path) -> None:
    vectors = data_set(tmp_path / "vectors", [0])
    for kind in ("tokens", "grid"):
        with pytest.raises(UsageError, match=f"gives pooled, not '{kind}'"):
            features(vectors, "precomputed", kind)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="gives pooled and tokens, not 'grid'"):
        features(data_set(tmp_path / "regions", [0], REGIONS), "precomputed", "grid")


@pytest.mark.parametrize("wrong", [5, -1, 10**12])
def test_rows_outside_the_array(tmp_path: Path, wrong: int) -> None:
    with pytest.raises(
        DataError, match=f"line 2: image_feature {wrong} is not in image.npy.* 5 rows"
    ):
        features(data_set(tmp_path, [0, wrong]), "precomputed")


@pytest.mark.parametrize("wrong", ["three", 1.5])
def test_rows_that_are_no_numbers(tmp_path: Path, wrong: object) -> None:
    with pytest.raises(DataError, match="column 'image_feature' holds"):
        features(data_set(tmp_path, [wrong]), "precomputed")


def test_no_column(tmp_path: Path) -> None:
    with pytest.raises(TropeError, match="no column 'image_feature'; did you mean 'text_feature'"):
        features(data_set(tmp_path, [None]), "precomputed")


def test_no_array(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"image\.npy: No such file"):
        features(data_set(tmp_path, [0], None), "precomputed")


class Trap:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return print, ("sprung",)


def test_objects_are_never_unpickled(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pairs = data_set(tmp_path, [0], None)
    trapped = np.empty((1, 1), object)
    trapped[0, 0] = Trap()
    np.save(tmp_path / "features" / "image.npy", trapped, allow_pickle=True)
    with pytest.raises(DataError, match=r"image\.npy: not an array of numbers"):
        features(pairs, "precomputed")
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("content", [b"", b"rubbish", b"\x93NUMPY\x01\x00"])
def test_no_array_at_all(tmp_path: Path, content: bytes) -> None:
    pairs = data_set(tmp_path, [0], None)
    (tmp_path / "features" / "image.npy").write_bytes(content)
    with pytest.raises(DataError, match=r"image\.npy: ") as caught:
        features(pairs, "precomputed")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("array", [np.zeros(3), np.zeros((1, 2, 3, 4)), np.array([["a", "b"]])])
def test_arrays_of_another_shape_or_type(tmp_path: Path, array: np.ndarray) -> None:
    with pytest.raises(DataError, match=r"expected numbers of shape \(n, d\)"):
        features(data_set(tmp_path, [0], array), "precomputed")
