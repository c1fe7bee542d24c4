from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from trope.encoders.content import Content
from trope.encoders.heads import Linear, PieNet, attention, head
from trope.encoders.settings import HeadSettings
from trope.losses.penalties import diversity
from trope.views import View

WHOLE, PART = 6, 5


def content(seed: int, lengths: list[int], longest: int) -> Content:
    """Items of the given numbers of parts; what stands after them is noise."""
    random = torch.Generator().manual_seed(seed)
    whole = torch.randn(len(lengths), WHOLE, generator=random, dtype=torch.float64)
    parts = torch.randn(len(lengths), longest, PART, generator=random, dtype=torch.float64)
    return Content(whole, parts, torch.arange(longest) < torch.tensor(lengths)[:, None])


def pie_net(senses: int, size: int = 4, dropout: float = 0.0) -> PieNet:
    torch.manual_seed(senses)
    made = PieNet(WHOLE, PART, HeadSettings(size, senses, dropout)).double()
    with torch.no_grad():  # as after training: nothing is zero or one any more
        for parameter in made.parameters():
            parameter.add_(torch.randn_like(parameter) / 3)
    return made


def dot(row: list[float], vector: list[float]) -> float:
    return sum(a * b for a, b in zip(row, vector, strict=True))


def unit(vector: list[float]) -> list[float]:
    length = math.sqrt(dot(vector, vector))
    return [value / length for value in vector]


def layer_norm(net: PieNet, values: list[float]) -> list[float]:
    mean = sum(values) / len(values)
    spread = math.sqrt(sum((v - mean) ** 2 for v in values) / len(values) + net.norm.eps)
    weights, biases = net.norm.weight.tolist(), net.norm.bias.tolist()
    return [(v - mean) / spread * w + b for v, w, b in zip(values, weights, biases, strict=True)]


def linear(layer: nn.Linear, vector: list[float]) -> list[float]:
    biases = [0.0] * layer.out_features if layer.bias is None else layer.bias.tolist()
    return [dot(row, vector) + b for row, b in zip(layer.weight.tolist(), biases, strict=True)]


def by_hand(
    net: PieNet, whole: list[float], parts: list[list[float]]
) -> tuple[list[list[float]], list[list[float]]]:
    """Points and residuals of one item, from its real parts, one number after the other."""
    shared = linear(net.map, whole)
    hidden = [[math.tanh(value) for value in linear(net.look, part)] for part in parts]
    points, residuals = [], []
    for weights in net.weigh.weight.tolist():
        scores = [math.exp(dot(weights, h)) for h in hidden]
        columns = zip(*parts, strict=True)
        attended = [dot(scores, list(column)) / sum(scores) for column in columns]
        residual = [1 / (1 + math.exp(-value)) for value in linear(net.gather, attended)]
        sums = [a + b for a, b in zip(shared, residual, strict=True)]
        points.append(unit(layer_norm(net, sums)))
        residuals.append(residual)
    return points, residuals


@settings(max_examples=30)
@given(
    seed=st.integers(0, 99),
    senses=st.integers(2, 4),
    lengths=st.lists(st.integers(1, 5), min_size=1, max_size=4),
)
def test_pie_net_equals_plain_loops(seed: int, senses: int, lengths: list[int]) -> None:
    net, items = pie_net(senses), content(seed, lengths, longest=6)
    with torch.no_grad():
        found = net(items)
    assert items.parts is not None
    for i, length in enumerate(lengths):
        points, residuals = by_hand(net, items.whole[i].tolist(), items.parts[i, :length].tolist())
        torch.testing.assert_close(found.points[i], torch.tensor(points, dtype=torch.float64))
        torch.testing.assert_close(found.residuals[i], torch.tensor(residuals, dtype=torch.float64))
        mean = unit([sum(column) for column in zip(*points, strict=True)])
        torch.testing.assert_close(found.mean[i], torch.tensor(mean, dtype=torch.float64))


def test_attention_ignores_padding() -> None:
    net, items = pie_net(3), content(1, [4, 2, 1], longest=4)
    assert items.parts is not None
    assert items.present is not None
    shares = attention(net.look, net.weigh, items.parts, items.present)
    torch.testing.assert_close(shares.sum(dim=1), torch.ones(3, 3, dtype=torch.float64))
    assert (shares[~items.present] == 0).all()
    assert (shares[items.present] > 0).all()
    other = items.parts.masked_fill(~items.present[:, :, None], 1e6)
    longer = torch.cat([other, other.new_full((3, 2, PART), -7.0)], dim=1)
    present = torch.cat([items.present, torch.zeros(3, 2, dtype=torch.bool)], dim=1)
    found, again = net(items), net(Content(items.whole, longer, present))
    torch.testing.assert_close(again.points, found.points)


def test_without_a_mask_all_parts_are_real() -> None:
    net, items = pie_net(2), content(2, [3, 3], longest=3)
    torch.testing.assert_close(
        net(Content(items.whole, items.parts)).points, net(items).points, rtol=0, atol=0
    )


@pytest.mark.parametrize("senses", [1, 2])
@pytest.mark.parametrize("bias", [0.0, 1e-9, 1e-3])
@settings(max_examples=10)
@given(size=st.integers(2, 70))
def test_an_item_without_parts_is_zero_and_its_gradient_too(
    senses: int, bias: float, size: int
) -> None:
    made = head(WHOLE, PART, HeadSettings(size, senses))
    nn.init.constant_(made.map.bias, bias)
    whole = torch.zeros(2, WHOLE, requires_grad=True)
    parts = torch.zeros(2, 3, PART, requires_grad=True)
    found = made(Content(whole, parts, torch.zeros(2, 3, dtype=torch.bool)))
    assert not found.mean.any()
    toward = torch.linspace(-1, 1, size)
    total = (found.mean * toward).sum()
    if found.points is not None:
        assert not found.points.any()
        assert not found.residuals.any()
        view = View(found, found, torch.eye(2, dtype=torch.bool))
        total = total + (found.points * toward).sum() + diversity(view)
    total.backward()
    assert not any(p.grad.any() for p in (whole, *made.parameters()) if p.grad is not None)


@pytest.mark.parametrize("senses", [1, 2])
def test_zeros_are_nothing_where_parts_are_not_told(senses: int) -> None:
    """As the vector of a sentence without words."""
    made = head(WHOLE, PART, HeadSettings(8, senses))
    nn.init.constant_(made.map.bias, 0.3)
    whole = torch.zeros(2, WHOLE)
    whole[1, 0] = 1
    parts = torch.zeros(2, 3, PART) if senses > 1 else None
    found = made(Content(whole, parts))
    assert not found.mean[0].any()
    assert found.mean[1].norm().item() == pytest.approx(1)
    found.mean[0].sum().backward()
    assert not any(p.grad.any() for p in made.parameters() if p.grad is not None)


@pytest.mark.parametrize(("attention", "hidden"), [(0, PART // 2), (3, 3)])
def test_the_layer_inside_attention(attention: int, hidden: int) -> None:
    made = PieNet(WHOLE, PART, HeadSettings(4, 2, attention=attention))
    assert made.look.weight.shape == (hidden, PART)
    assert made.weigh.weight.shape == (2, hidden)


@pytest.mark.parametrize("senses", [1, 2, 3])
def test_points_and_mean_have_length_one(senses: int) -> None:
    made = head(WHOLE, PART, HeadSettings(7, senses)).double()
    found = made(content(4, [3, 1, 2], longest=3))
    ones = torch.ones(3, dtype=torch.float64)
    torch.testing.assert_close(found.mean.norm(dim=1), ones)
    if senses == 1:
        assert found.points is found.residuals is None
    else:
        assert found.points.shape == found.residuals.shape == (3, senses, 7)
        torch.testing.assert_close(found.points.norm(dim=2), ones[:, None].expand(3, senses))


def test_one_sense_is_the_linear_map() -> None:
    made, items = head(WHOLE, PART, HeadSettings(4, senses=1)).double(), content(5, [2], 2)
    assert isinstance(made, Linear)
    mapped = items.whole @ made.map.weight.T + made.map.bias
    torch.testing.assert_close(made(items).mean, mapped / mapped.norm())
    assert isinstance(head(WHOLE, PART, HeadSettings(4, senses=2)), PieNet)


def test_senses_differ_by_what_they_look_at() -> None:
    found = pie_net(2)(content(6, [5], longest=5))
    assert (found.points[0, 0] - found.points[0, 1]).abs().max() > 1e-3


def test_several_senses_need_parts() -> None:
    with pytest.raises(ValueError, match="parts"):
        pie_net(2)(Content(torch.zeros(1, WHOLE, dtype=torch.float64)))


def test_weights_start_as_xavier_says() -> None:
    torch.manual_seed(0)
    made = head(300, 200, HeadSettings(100, senses=2))
    assert isinstance(made, PieNet)
    for layer, inputs, outputs in ((made.map, 300, 100), (made.look, 200, 100)):
        bound = math.sqrt(6 / (inputs + outputs))
        assert layer.weight.abs().max() <= bound
        assert layer.weight.std().item() == pytest.approx(bound / math.sqrt(3), rel=0.02)
    assert not made.map.bias.any()
    assert made.look.bias is made.weigh.bias is None


@pytest.mark.parametrize("senses", [1, 2])
def test_dropout_is_for_training(senses: int) -> None:
    torch.manual_seed(0)
    made = head(WHOLE, PART, HeadSettings(4, senses, dropout=0.5)).double()
    items = content(7, [3, 3], longest=3)
    assert not torch.equal(made(items).mean, made(items).mean)
    made.eval()
    assert torch.equal(made(items).mean, made(items).mean)
