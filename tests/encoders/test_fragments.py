from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from trope.data.vocabulary import PAD
from trope.encoders import HeadSettings, TextSettings
from trope.encoders.content import Content
from trope.encoders.fragments import Fragments, Gate
from trope.encoders.gru import Gru


def head(part: int = 5, *, mapped: bool = True, normed: bool = False) -> Fragments:
    torch.manual_seed(0)
    made = Fragments(part, HeadSettings(size=6), mapped=mapped, normed=normed).double().eval()
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
        for buffer in made.buffers():
            buffer.uniform_(0.5, 1.5)
    return made


def content(seed: int = 0, n: int = 3) -> Content:
    random = torch.Generator().manual_seed(seed)
    parts = torch.randn(n, 4, 5, generator=random, dtype=torch.float64)
    present = torch.arange(4) < torch.tensor([4, 2, 1])[:n, None]
    return Content(parts.mean(dim=1), parts, present)


def gated(gate: Gate, vector: Tensor) -> Tensor:
    found = gate.map.weight @ vector
    if gate.map.bias is not None:
        found = found + gate.map.bias
    if gate.norm is not None:
        norm = gate.norm
        found = (found - norm.running_mean) / (norm.running_var + 1e-5).sqrt()
        found = found * norm.weight + norm.bias
    return torch.tensor([math.tanh(value) for value in found], dtype=torch.float64)


def by_hand(made: Fragments, parts: list[Tensor]) -> tuple[list[Tensor], Tensor]:
    """The parts and the global vector of one item."""
    found = [made.map.weight @ part + made.map.bias for part in parts]
    found = [vector / vector.norm() for vector in found]
    mean = sum(found, torch.zeros(6, dtype=torch.float64)) / len(found)
    gate = gated(made.whole, mean)
    shares = [math.exp(float(made.weigh.weight[0] @ (gated(made.part, v) * gate))) for v in found]
    total = sum((s / sum(shares) * v for s, v in zip(shares, found, strict=True)), 0 * mean)
    return found, total / total.norm()


@pytest.mark.parametrize("normed", [False, True])
def test_equal_to_plain_loops(normed: bool) -> None:
    made, given = head(normed=normed), content()
    with torch.no_grad():
        found = made(given)
        for i, count in enumerate((4, 2, 1)):
            parts, whole = by_hand(made, list(given.parts[i, :count]))
            torch.testing.assert_close(found.mean[i], whole)
            torch.testing.assert_close(found.locals[i, :count], torch.stack(parts))
            assert not found.locals[i, count:].any()


def test_an_item_without_parts_is_nowhere() -> None:
    given = content()
    present = given.present.clone()
    present[1] = False
    found = head()(Content(given.whole, given.parts, present))
    assert not found.mean[1].any()
    assert not found.locals[1].any()
    torch.testing.assert_close(found.mean[0], head()(given).mean[0])
    with pytest.raises(ValueError, match="without parts"):
        head()(Content(given.whole))


def test_states_of_the_right_size_are_taken_as_they_are() -> None:
    settings = HeadSettings(size=6)
    assert isinstance(Fragments(6, settings, mapped=False, normed=False).map, torch.nn.Identity)
    assert isinstance(Fragments(5, settings, mapped=False, normed=False).map, torch.nn.Linear)
    assert isinstance(Fragments(6, settings, mapped=True, normed=False).map, torch.nn.Linear)


@pytest.mark.parametrize("bidirectional", [False, True])
def test_states_of_words_are_those_of_a_text_alone(bidirectional: bool) -> None:
    torch.manual_seed(0)
    settings = TextSettings(words=4, hidden=6, bidirectional=bidirectional)
    encoder = Gru(9, settings, states=True).double()
    ids = torch.tensor([[2, 3, 4, 5], [6, 7, PAD, PAD], [PAD] * 4])
    found = encoder(ids, torch.tensor([4, 2, 0]))
    assert found.parts.shape == (3, 4, 6)
    for row, count in ((0, 4), (1, 2)):
        alone = encoder.gru(encoder.words(ids[row : row + 1, :count]))[0][0]
        expected = (alone[:, :6] + alone[:, 6:]) / 2 if bidirectional else alone
        torch.testing.assert_close(found.parts[row, :count], expected)
        torch.testing.assert_close(found.whole[row], expected.mean(dim=0))
    assert not found.parts[1, 2:].any()
    assert not found.parts[2].any()
    assert not found.whole[2].any()
