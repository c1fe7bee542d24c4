from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from trope.encoders.codes import centers_of, nearest
from trope.encoders.content import Content
from trope.encoders.masking import MaskedFeatures, MaskedWords, drawn


@settings(max_examples=60)
@given(
    lengths=st.lists(st.integers(0, 7), min_size=1, max_size=5),
    share=st.sampled_from([0.01, 0.15, 0.9]),
    seed=st.integers(0, 999),
)
def test_of_several_parts_some_are_masked_and_some_are_not(
    lengths: list[int], share: float, seed: int
) -> None:
    torch.manual_seed(seed)
    present = torch.arange(7) < torch.tensor(lengths)[:, None]
    masked = drawn(present, share)
    assert not (masked & ~present).any()
    for row, length in zip(masked.sum(dim=1).tolist(), lengths, strict=True):
        assert row == 0 if length < 2 else 1 <= row < length


def test_the_share_that_is_masked() -> None:
    torch.manual_seed(0)
    masked = drawn(torch.ones(400, 40, dtype=torch.bool), 0.15)
    assert masked.float().mean() == pytest.approx(0.15, abs=0.01)
    assert masked.float().mean(dim=0).std() < 0.03  # no place is preferred


def test_a_masked_word_is_none_of_the_words() -> None:
    torch.manual_seed(0)
    ids = torch.arange(2, 14).view(2, 6)
    read, masked = MaskedWords(20, 0.3)(ids, ids < 12)
    assert (read[masked] == 20).all()
    assert torch.equal(read[~masked], ids[~masked])
    assert masked.any()


def test_masked_features_show_the_vector_and_name_their_group() -> None:
    torch.manual_seed(0)
    mask = MaskedFeatures(3, 2, 0.5)
    mask.centers.copy_(torch.tensor([[0.0, 0, 0], [10, 10, 10]]))
    with torch.no_grad():
        mask.vector.fill_(7.0)
    values = torch.tensor([0.0, 10.0]).repeat(4, 3)[:, :, None].expand(-1, -1, 3)
    found = mask(Content(values.mean(dim=1), values), values)
    assert found.masked is not None
    assert found.targets is not None
    assert found.parts is not None
    assert (found.parts[found.masked] == 7).all()
    assert torch.equal(found.parts[~found.masked], values[~found.masked])
    expected = (values[:, :, 0] > 5).long()
    assert torch.equal(found.targets[found.masked], expected[found.masked])


def test_centers_find_what_lies_together() -> None:
    random = torch.Generator().manual_seed(0)
    places = torch.tensor([[0.0, 0], [8, 0], [0, 8], [8, 8]])
    values = places.repeat_interleave(50, 0) + 0.1 * torch.randn(200, 2, generator=random)
    centers = centers_of(values, 4, random)
    assert (torch.cdist(places, centers).min(dim=1).values < 0.1).all()
    groups = nearest(values, centers).view(4, 50)
    assert (groups == groups[:, :1]).all()
    assert torch.equal(nearest(values, centers), torch.cdist(values, centers).argmin(dim=1))


def test_fewer_items_than_groups() -> None:
    centers = centers_of(torch.tensor([[1.0], [2.0]]), 5, torch.Generator().manual_seed(0))
    assert centers.shape == (5, 1)
    assert centers.isfinite().all()
    assert set(nearest(torch.tensor([[1.0], [2.0]]), centers).tolist()) <= set(range(5))
