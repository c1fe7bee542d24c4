from __future__ import annotations

import pytest
import torch

from trope.encoders.frozen import Frozen
from trope.maths import normalize


def values(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def test_a_vector_is_the_whole() -> None:
    given = values(3, 4)
    found = Frozen(4, 0.0, unit=False)(given)
    assert torch.equal(found.whole, given)
    assert found.parts is found.present is None


def test_parts_have_their_mean_as_the_whole() -> None:
    given = values(3, 5, 4)
    found = Frozen(4, 0.0, unit=False)(given)
    torch.testing.assert_close(found.whole, given.mean(dim=1))
    assert torch.equal(found.parts, given)


def test_the_mean_is_over_real_parts_alone() -> None:
    given, lengths = values(3, 5, 4), [5, 2, 0]
    present = torch.arange(5) < torch.tensor(lengths)[:, None]
    found = Frozen(4, 0.0, unit=False)(given, present)
    expected = torch.stack([given[0].mean(dim=0), given[1, :2].mean(dim=0), torch.zeros(4)])
    torch.testing.assert_close(found.whole, expected)
    assert torch.equal(found.present, present)


@pytest.mark.parametrize("shape", [(3, 4), (3, 5, 4)])
def test_normalized_where_asked(shape: tuple[int, ...]) -> None:
    given = 10 * values(*shape)
    plain, unit = Frozen(4, 0.0, unit=False)(given), Frozen(4, 0.0, unit=True)(given)
    torch.testing.assert_close(unit.whole, normalize(plain.whole))
    torch.testing.assert_close(unit.whole.norm(dim=1), torch.ones(3))
    if unit.parts is not None:
        torch.testing.assert_close(unit.parts.norm(dim=2), torch.ones(3, 5))


def test_halves_are_computed_with_as_singles() -> None:
    given = torch.full((1, 4_000, 1), 30.0, dtype=torch.float16)  # their sum is beyond 16 bits
    found = Frozen(1, 0.0, unit=False)(given)
    assert found.whole.dtype == found.parts.dtype == torch.float32
    assert found.whole.item() == 30.0


def test_dropout_is_for_training() -> None:
    frozen, given = Frozen(50, 0.5, unit=False), values(2, 50)
    torch.manual_seed(0)
    dropped = frozen(given).whole
    assert 0 < int((dropped == 0).sum()) < 100
    torch.testing.assert_close(dropped[dropped != 0], 2 * given[dropped != 0])
    assert torch.equal(frozen.eval()(given).whole, given)


def test_parts_and_whole_of_an_item_lose_the_same_channels() -> None:
    frozen, given = Frozen(50, 0.5, unit=False), values(3, 4, 50)
    torch.manual_seed(0)
    found = frozen(given)
    kept = found.whole != 0
    assert not torch.equal(kept[0], kept[1])
    torch.testing.assert_close(found.whole, 2 * given.mean(dim=1) * kept)
    torch.testing.assert_close(found.parts, 2 * given * kept[:, None])
    again = frozen.eval()(given)
    assert torch.equal(again.parts, given)


def test_nothing_is_learned() -> None:
    assert not list(Frozen(4, 0.1, unit=True).parameters())
