"""The own recurrence against torch's GRU: states, and the gradient of everything."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

from trope.encoders.recurrence import backwards, last_states

WORDS, HIDDEN = 3, 5

lengths = st.lists(st.integers(1, 7), min_size=1, max_size=6)


def gru(bidirectional: bool = False) -> nn.GRU:
    torch.manual_seed(0)
    made = nn.GRU(WORDS, HIDDEN, batch_first=True, bidirectional=bidirectional).double()
    for parameter in made.parameters():
        nn.init.normal_(parameter)
    return made


def packed(values: Tensor, sizes: list[int]) -> PackedSequence:
    return pack_padded_sequence(values, torch.tensor(sizes), batch_first=True, enforce_sorted=False)


def drawn(sizes: list[int], seed: int) -> Tensor:
    random = torch.Generator().manual_seed(seed)
    values = torch.randn(len(sizes), max(sizes), WORDS, generator=random, dtype=torch.float64)
    return values.requires_grad_()


def reference(made: nn.GRU, words: PackedSequence) -> Tensor:
    return torch.cat(tuple(made(words)[1]), dim=1)


def gradients(made: nn.GRU, values: Tensor, states: Tensor) -> list[Tensor]:
    toward = torch.linspace(-1, 2, states.numel(), dtype=torch.float64).view_as(states)
    return list(torch.autograd.grad((states * toward).sum(), [values, *made.parameters()]))


@pytest.mark.parametrize("bidirectional", [False, True])
@settings(max_examples=40)
@given(sizes=lengths, seed=st.integers(0, 99))
def test_states_and_gradients_are_those_of_torch(
    bidirectional: bool, sizes: list[int], seed: int
) -> None:
    made, values = gru(bidirectional), drawn(sizes, seed)
    expected = reference(made, packed(values, sizes))
    found = last_states(made, packed(values, sizes))
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-10)
    pairs = zip(gradients(made, values, found), gradients(made, values, expected), strict=True)
    for mine, theirs in pairs:
        torch.testing.assert_close(mine, theirs, rtol=0, atol=1e-10)


def test_gradients_are_the_slopes() -> None:
    made, sizes = gru(), [3, 1, 2]
    weights = [parameter.detach().clone().requires_grad_() for parameter in made.parameters()]

    def states(values: Tensor, *parameters: Tensor) -> Tensor:
        names = dict(zip(dict(made.named_parameters()), parameters, strict=True))
        return torch.func.functional_call(
            _Last(made), {f"gru.{k}": v for k, v in names.items()}, (packed(values, sizes),)
        )

    assert torch.autograd.gradcheck(states, [drawn(sizes, 1), *weights])


class _Last(nn.Module):
    def __init__(self, made: nn.GRU) -> None:
        super().__init__()
        self.gru = made

    def forward(self, words: PackedSequence) -> Tensor:
        return last_states(self.gru, words)


def test_texts_in_order_need_no_sorting() -> None:
    made, values, sizes = gru(), drawn([4, 2, 1], 2), torch.tensor([4, 2, 1])
    words = pack_padded_sequence(values, sizes, batch_first=True)
    assert words.unsorted_indices is None
    torch.testing.assert_close(last_states(made, words), reference(made, words))


def test_words_that_are_not_learned_get_no_gradient() -> None:
    made, values = gru(), drawn([2, 3], 3).detach()
    last_states(made, packed(values, [2, 3])).sum().backward()
    assert values.grad is None
    assert all(parameter.grad is not None for parameter in made.parameters())


@given(sizes=lengths)
def test_texts_from_their_end(sizes: list[int]) -> None:
    values = torch.arange(sum(sizes)).split(sizes)
    there, back = (
        nn.utils.rnn.pack_sequence(texts, enforce_sorted=False)
        for texts in (list(values), [text.flip(0) for text in values])
    )
    assert torch.equal(there.data[backwards(there.batch_sizes)], back.data)


def test_where_others_compute_in_few_bits_it_does_not() -> None:
    made, values = gru().float(), drawn([3, 1], 4).detach().float()
    exact = last_states(made, packed(values, [3, 1]))
    expected = torch.autograd.grad(exact.sum(), list(made.parameters()))
    with torch.autocast("cpu", torch.bfloat16):
        found = last_states(made, packed(values, [3, 1]))
        found.sum().backward()
        assert last_states(made, packed(values.bfloat16(), [3, 1])).dtype == torch.float32
    assert torch.equal(found, exact)
    for parameter, gradient in zip(made.parameters(), expected, strict=True):
        assert parameter.grad is not None
        assert torch.equal(parameter.grad, gradient)
