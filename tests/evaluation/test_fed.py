"""What a model is fed for a split, under the numbers of the whole data."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import trope
from trope.encoders import ImageSettings, Plan
from trope.encoders.pixels import Pixels
from trope.errors import DataError
from trope.evaluation.fed import fed

sys.path.insert(0, str(Path(__file__).parents[1] / "training"))
import planted


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TROPE_CACHE", str(tmp_path / "cache"))


def test_rows_and_texts_have_the_numbers_of_the_whole(tmp_path: Path) -> None:
    pairs = trope.open(planted.write(tmp_path / "data", rows=64, texts=2))
    plan = Plan(image=ImageSettings(backbone="precomputed"), words=("row3",))
    inside = np.flatnonzero(np.asarray(pairs.column("split")) == "val")
    found = fed(plan, pairs, "val")
    assert np.flatnonzero(found.rows >= 0).tolist() == inside.tolist()
    assert found.texts.tolist() == np.ravel([[2 * i, 2 * i + 1] for i in inside]).tolist()
    assert len(found.text_inputs) == len(found.texts)
    with pytest.raises(DataError, match="split 'none' has no row; there is test, train, val"):
        fed(plan, pairs, "none")


def test_pictures_that_are_decoded_later_are_known_by_their_row(tmp_path: Path) -> None:
    folder = planted.photographs(tmp_path / "data")
    (folder / "8.png").unlink()
    pairs = trope.open(folder)
    found = fed(Plan(image=ImageSettings(encoder="tuned")), pairs, "val")
    assert isinstance(found.image_inputs, Pixels)
    assert found.image_inputs.rows.tolist() == [9]
    (pixels,) = next(found.image_inputs.batches([np.array([0])], None))
    assert np.array_equal(pixels[0].numpy().shape[:2], (224, 224))
    assert found.failed.keys() == {8}
    assert "8.png" in found.failed[8]
