from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from trope.data.vocabulary import PAD
from trope.encoders.gru import Gru
from trope.encoders.settings import TextSettings

VOCABULARY = 12

texts = st.lists(st.lists(st.integers(1, VOCABULARY - 1), max_size=7), min_size=1, max_size=5)


def gru(bidirectional: bool = False, dropout: float = 0.0) -> Gru:
    torch.manual_seed(0)
    settings = TextSettings(words=4, hidden=6, bidirectional=bidirectional, dropout=dropout)
    made = Gru(VOCABULARY, settings).double()
    with torch.no_grad():
        for parameter in made.gru.parameters():
            parameter.add_(torch.randn_like(parameter) / 3)
    return made


def padded(found: list[list[int]], filler: int = PAD, longer: int = 0) -> tuple[Tensor, Tensor]:
    longest = max([1, *map(len, found)]) + longer
    ids = [text + [filler] * (longest - len(text)) for text in found]
    return torch.tensor(ids), torch.tensor([len(text) for text in found])


def step(vectors: Tensor, states: Tensor, weights: list[Tensor]) -> Tensor:
    """One step of a GRU, as Cho et al. (2014) write it and torch lays it out."""
    inputs, hidden, bias, other = weights
    reset_in, update_in, new_in = (inputs @ vectors + bias).chunk(3)
    reset_of, update_of, new_of = (hidden @ states + other).chunk(3)
    update = torch.sigmoid(update_in + update_of)
    new = torch.tanh(new_in + torch.sigmoid(reset_in + reset_of) * new_of)
    return (1 - update) * new + update * states


def by_hand(made: Gru, text: list[int]) -> Tensor:
    ends = []
    for suffix in ("", "_reverse") if made.gru.bidirectional else ("",):
        names = [f"{kind}_l0{suffix}" for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
        state = torch.zeros(made.gru.hidden_size, dtype=torch.float64)
        for word in reversed(text) if suffix else text:
            state = step(made.words.weight[word], state, [getattr(made.gru, n) for n in names])
        ends.append(state)
    return torch.cat(ends)


@pytest.mark.parametrize("bidirectional", [False, True])
@settings(max_examples=30)
@given(found=texts)
def test_packed_equals_each_text_alone(bidirectional: bool, found: list[list[int]]) -> None:
    made = gru(bidirectional)
    with torch.no_grad():
        together = made(*padded(found)).whole
        alone = torch.cat([made(*padded([text])).whole for text in found])
        loops = torch.stack([by_hand(made, text) for text in found])
    assert together.shape == (len(found), made.whole) == (len(found), 6)
    torch.testing.assert_close(together, alone)
    torch.testing.assert_close(together, loops)


@settings(max_examples=30)
@given(found=texts, filler=st.integers(0, VOCABULARY - 1), longer=st.integers(0, 4))
def test_padding_never_matters(found: list[list[int]], filler: int, longer: int) -> None:
    made = gru(bidirectional=True)
    with torch.no_grad():
        expected, other = made(*padded(found)), made(*padded(found, filler, longer))
    torch.testing.assert_close(other.whole, expected.whole)
    assert other.present.sum(dim=1).tolist() == [len(text) for text in found]
    torch.testing.assert_close(other.parts[other.present], expected.parts[expected.present])


def test_the_words_are_the_parts() -> None:
    made = gru()
    found = made(*padded([[3, 5], [7]]))
    torch.testing.assert_close(found.parts[0], made.words.weight[[3, 5]])
    assert found.present.tolist() == [[True, True], [True, False]]
    assert not found.parts[1, 1].any()
    assert made.part == 4


def test_a_text_without_words_is_the_zero_vector() -> None:
    made = gru()
    found = made(*padded([[], [3]]))
    assert not found.whole[0].any()
    assert found.whole[1].any()
    assert not found.present[0].any()
    found.whole.sum().backward()
    assert all(torch.isfinite(p.grad).all() for p in made.parameters() if p.grad is not None)


def test_it_starts_from_vectors_learned_elsewhere() -> None:
    made = gru()
    before = made.words.weight.detach().clone()
    vectors = torch.zeros(VOCABULARY, 4, dtype=torch.float64)
    vectors[[3, 8]] = torch.arange(8, dtype=torch.float64).view(2, 4)
    made.start_from(vectors)
    expected = before.clone()
    expected[[3, 8]] = vectors[[3, 8]]
    assert torch.equal(made.words.weight, expected)
    assert made.words.weight.requires_grad


def test_weights_start_as_xavier_says() -> None:
    torch.manual_seed(0)
    made = Gru(500, TextSettings(words=100, hidden=60))
    for weight in (made.gru.weight_ih_l0, made.gru.weight_hh_l0, made.words.weight):
        bound = math.sqrt(6 / sum(weight.shape))
        assert weight.abs().max() <= bound
        assert weight.std().item() == pytest.approx(bound / math.sqrt(3), rel=0.03)
    assert not made.gru.bias_ih_l0.any()
    assert not made.gru.bias_hh_l0.any()


def test_padding_is_not_learned() -> None:
    made = gru()
    made(*padded([[3, 4], [5]])).parts.sum().backward()
    gradient = made.words.weight.grad
    assert gradient is not None
    assert not gradient[PAD].any()
    assert not made.words.weight[PAD].any()
    assert gradient[[3, 4, 5]].all()


def test_dropout_is_for_training() -> None:
    made, text = gru(dropout=0.5), padded([[3, 4, 5, 6]])
    assert not torch.equal(made(*text).whole, made(*text).whole)
    made.eval()
    assert torch.equal(made(*text).whole, made(*text).whole)


@pytest.mark.parametrize(
    "wrong",
    [{"words": 0}, {"hidden": 0}, {"longest": 0}, {"dropout": 1.0}, {"min_count": 0}],
)
def test_settings_are_checked(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        TextSettings(**wrong)  # type: ignore[arg-type]


def test_two_directions_need_an_even_size() -> None:
    with pytest.raises(ValueError, match="even"):
        TextSettings(hidden=5, bidirectional=True)
