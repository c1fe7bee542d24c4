from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from encoder_samples import data_set, write_pictures

from trope.data.images import decode
from trope.data.loading import flipped
from trope.data.pairs import Pairs
from trope.encoders.inputs import Inputs
from trope.encoders.pixels import Pixels
from trope.errors import DataError

SIZE, SEED = 8, 3
ROWS = np.array([9, 0, 4, 2, 7, 1])  # the row that shows each picture


@pytest.fixture
def pairs(tmp_path: Path) -> Pairs:
    names = write_pictures(tmp_path / "data", 10)
    return data_set(tmp_path / "data", [{"image": name, "text": "x"} for name in names])


def pixels(pairs: Pairs, flip: bool = True, workers: int = 0) -> Pixels:
    return Pixels(pairs.images, ROWS, SIZE, flip, SEED, workers)


def by_hand(pairs: Pairs, items: list[int], epoch: int | None) -> np.ndarray:
    rows = ROWS[items]
    plain = np.stack([decode(pairs.images.read(int(row)), size=SIZE) for row in rows])
    if epoch is not None:
        mirrored = flipped(rows, SEED, epoch)
        plain[mirrored] = plain[mirrored][:, :, ::-1]
    return plain


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize(
    "chosen",
    [
        [[0, 1], [2, 3], [4, 5]],
        [[5, 4, 3, 2], [1, 0]],
        [[0], [1, 2, 3, 4, 5], [0, 0]],
        [[3, 3, 1], [2], [5, 4, 0], [1]],
        [[2]],
        [],
    ],
)
def test_pictures_in_the_order_and_sizes_asked_for(
    pairs: Pairs, chosen: list[list[int]], workers: int
) -> None:
    made = pixels(pairs, workers=workers)
    found = list(made.batches([np.array(items) for items in chosen], None))
    assert [len(values) for (values,) in found] == [len(items) for items in chosen]
    for items, (values,) in zip(chosen, found, strict=True):
        np.testing.assert_array_equal(values.numpy(), by_hand(pairs, items, None))


def test_each_epoch_mirrors_others(pairs: Pairs) -> None:
    everything = list(range(len(ROWS)))
    chosen = [np.array(everything[:4]), np.array(everything[4:])]
    epochs = []
    for epoch in range(6):
        found = [values.numpy() for (values,) in pixels(pairs).batches(chosen, epoch)]
        together = np.concatenate(found)
        np.testing.assert_array_equal(together, by_hand(pairs, everything, epoch))
        epochs.append(together.tobytes())
    assert len(set(epochs)) > 2


def test_which_are_mirrored_does_not_depend_on_the_batch(pairs: Pairs) -> None:
    ((alone,),) = pixels(pairs).batches([np.array([4])], 2)
    ((together,),) = pixels(pairs).batches([np.array([0, 4, 1])], 2)
    np.testing.assert_array_equal(alone[0].numpy(), together[1].numpy())


def test_without_flips_every_epoch_is_the_same(pairs: Pairs) -> None:
    ((values,),) = pixels(pairs, flip=False).batches([np.arange(6)], 1)
    np.testing.assert_array_equal(values.numpy(), by_hand(pairs, list(range(6)), None))


def test_a_batch_stays_as_it_is_while_later_ones_come(pairs: Pairs) -> None:
    chosen = [np.array([i % 6, (i + 1) % 6]) for i in range(20)]
    found = [values for (values,) in pixels(pairs, workers=2).batches(chosen, 0)]
    for items, values in zip(chosen, found, strict=True):
        np.testing.assert_array_equal(values.numpy(), by_hand(pairs, items.tolist(), 0))


@pytest.mark.parametrize("workers", [0, 1])
def test_a_broken_picture_is_refused(pairs: Pairs, workers: int) -> None:
    (pairs.root / "4.png").write_bytes(b"not a picture")
    batches = pixels(pairs, workers=workers).batches([np.array([0, 1]), np.array([2, 3])], 0)
    next(batches)
    with pytest.raises(DataError, match="row 5"):
        next(batches)


def test_it_has_the_form_of_inputs(pairs: Pairs) -> None:
    made = pixels(pairs)
    assert isinstance(made, Inputs)
    assert len(made) == 6
