from __future__ import annotations

import numpy as np
import pytest
import torch
from encoder_samples import placed

from trope.encoders import HeadSettings, Model, TextSettings, encode
from trope.encoders.frozen import Frozen
from trope.encoders.gru import Gru
from trope.encoders.inputs import Rows, Words
from trope.encoders.model import Tower, join, packed, unpacked
from trope.views import Encoded

VALUES = torch.randn(9, 4, 5, generator=torch.Generator().manual_seed(0))


def tower(senses: int = 1, dropout: float = 0.0) -> Tower:
    torch.manual_seed(1)
    return placed(Frozen(5, dropout, unit=False), HeadSettings(size=6, senses=senses))


@pytest.mark.parametrize("senses", [1, 3])
@pytest.mark.parametrize("batch", [1, 4, 256])
def test_items_are_encoded_in_order(senses: int, batch: int) -> None:
    made, items = tower(senses), np.array([8, 0, 3, 3, 5, 1])
    found = encode(made, Rows(VALUES), items, batch)
    with torch.no_grad():
        expected = [made(VALUES[i : i + 1]) for i in items.tolist()]
    for i, (mean, points, residuals, *_) in enumerate(expected):
        torch.testing.assert_close(found.mean[i : i + 1], mean)
        if senses == 1:
            assert found.points is points is found.residuals is residuals is None
        else:
            torch.testing.assert_close(found.points[i : i + 1], points)
            torch.testing.assert_close(found.residuals[i : i + 1], residuals)


@pytest.mark.parametrize("training", [True, False])
def test_without_dropout_or_gradients_and_the_mode_is_restored(training: bool) -> None:
    made, items = tower(dropout=0.5).train(training), np.arange(9)
    first, again = (encode(made, Rows(VALUES), items, 4) for _ in range(2))
    assert torch.equal(first.mean, again.mean)
    assert not first.mean.requires_grad
    assert all(module.training is training for module in made.modules())


def test_the_mode_is_restored_after_an_error() -> None:
    made = tower()
    with pytest.raises(IndexError):
        encode(made, Rows(VALUES), np.array([99]))
    assert made.training


def test_a_model_encodes_both_sides_at_once() -> None:
    torch.manual_seed(2)
    text = placed(Gru(8, TextSettings(words=3, hidden=4)), HeadSettings(size=6))
    model, words = Model(tower(), text), Words.of([np.array([2, 3]), np.array([4])])
    tokens = next(words.batches([np.array([1, 0])], None))
    images, texts = model((VALUES[:2],), tokens)
    torch.testing.assert_close(packed(images).mean, packed(model.image(VALUES[:2])).mean)
    alone = encode(model.text, words, np.array([1, 0]), batch=1)
    torch.testing.assert_close(packed(texts).mean.detach(), alone.mean)
    assert packed(images).mean.shape == packed(texts).mean.shape == (2, 6)


def test_records_survive_as_plain_tensors() -> None:
    mean, points = torch.zeros(2, 3), torch.ones(2, 4, 3)
    for record in (Encoded(mean), Encoded(mean, points, 2 * points)):
        again = packed(unpacked(record))
        assert again.mean is record.mean
        assert again.points is record.points
        assert again.residuals is record.residuals


def test_joined_one_after_the_other() -> None:
    parts = [Encoded(torch.full((n, 1), float(n)), torch.full((n, 2, 1), n / 2)) for n in (1, 3)]
    found = join(parts)
    assert found.mean.flatten().tolist() == [1, 3, 3, 3]
    assert found.points is not None
    assert found.points.shape == (4, 2, 1)
    assert found.residuals is None
