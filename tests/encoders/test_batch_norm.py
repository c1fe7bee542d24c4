from __future__ import annotations

import torch
from torch import nn

from trope.encoders.batch_norm import BatchNorm


def test_without_padding_it_is_that_of_torch() -> None:
    ours, theirs = BatchNorm(3).double(), nn.BatchNorm1d(3).double()
    random = torch.Generator().manual_seed(0)
    for _ in range(3):
        values = 2 + 3 * torch.randn(7, 5, 3, generator=random, dtype=torch.float64)
        expected = theirs(values.flatten(0, 1)).view_as(values)
        torch.testing.assert_close(ours(values), expected)
    torch.testing.assert_close(ours.running_mean, theirs.running_mean)
    torch.testing.assert_close(ours.running_var, theirs.running_var)
    torch.testing.assert_close(
        ours.eval()(values), theirs.eval()(values.flatten(0, 1)).view_as(values)
    )


def test_padding_does_not_count() -> None:
    random = torch.Generator().manual_seed(1)
    values = torch.randn(4, 3, 2, generator=random, dtype=torch.float64)
    present = torch.arange(3) < torch.tensor([3, 1, 2, 0])[:, None]
    padded, alone = BatchNorm(2).double(), BatchNorm(2).double()
    found = padded(values.masked_fill(~present[:, :, None], 1e6), present)
    torch.testing.assert_close(found[present], alone(values[present]))
    torch.testing.assert_close(padded.running_var, alone.running_var)


def test_one_item_alone_is_no_trouble() -> None:
    norm = BatchNorm(2)
    assert torch.isfinite(norm(torch.ones(1, 2))).all()
    assert torch.isfinite(norm.running_var).all()
