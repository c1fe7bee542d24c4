from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pairwise
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.functional import pad

from trope.encoders.scorers import SCORERS, blocks, build_scorer, scorer_settings
from trope.encoders.scorers.alignment import aligned
from trope.encoders.scorers.reasoning import GraphReasoning
from trope.errors import DataError, UsageError
from trope.maths import normalize
from trope.views import Encoded

every = pytest.mark.parametrize("name", [name for name, kind in SCORERS.items() if kind.locals])


def made(name: str, seed: int = 0, size: int = 6) -> torch.nn.Module:
    """A scorer whose biases and batch norms are not at their start."""
    torch.manual_seed(seed)
    found = build_scorer({"name": name, "size": 5}, size)
    assert found is not None
    with torch.no_grad():
        for parameter in found.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
        for label, buffer in found.named_buffers():
            if "running" in label:
                buffer.uniform_(0.2, 0.8)
    return found.double().eval()


def both(n: int, m: int, seed: int, words: int = 5) -> tuple[Encoded, Encoded]:
    random = torch.Generator().manual_seed(seed)
    return pairwise.items(n, 4, random), pairwise.items(m, words, random, ragged=True)


@every
@pytest.mark.parametrize("training", [False, True])
@settings(max_examples=8, deadline=None)
@given(n=st.integers(1, 4), m=st.integers(1, 5), seed=st.integers(0, 2**31))
def test_equal_to_plain_loops(name: str, training: bool, n: int, m: int, seed: int) -> None:
    scorer, (image, text) = made(name, seed).train(training), both(n, m, seed)
    with torch.no_grad():
        expected = pairwise.by_hand(scorer, image, text)
        torch.testing.assert_close(scorer(image, text), expected, rtol=1e-9, atol=1e-11)


@every
def test_padding_and_company_change_nothing(name: str) -> None:
    scorer, (image, text) = made(name), both(3, 6, 1)
    whole = scorer(image, text)
    longer = Encoded(
        text.mean, locals=pad(text.locals, (0, 0, 0, 9)), present=pad(text.present, (0, 9))
    )
    torch.testing.assert_close(scorer(image, longer), whole)
    for j in range(6):
        alone = text.take(torch.tensor([j]))
        torch.testing.assert_close(scorer(image, alone), whole[:, j : j + 1])
        cut = int(alone.present.sum())
        short = Encoded(alone.mean, locals=alone.locals[:, :cut])
        torch.testing.assert_close(scorer(image, short), whole[:, j : j + 1])


@every
def test_regions_that_are_not_there_change_nothing(name: str) -> None:
    """Regions of an image with fewer than others are zeros, and get no share of what is seen."""
    scorer, (image, text) = made(name), both(3, 6, 10)
    padded = Encoded(image.mean, locals=pad(image.locals, (0, 0, 0, 3)))
    torch.testing.assert_close(scorer(padded, text), scorer(image, text))


@every
def test_blocks_are_the_whole(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    image, text = both(7, 9, 2, words=12)
    found = []
    for numbers in (2**20, 40):
        monkeypatch.setattr(blocks, "NUMBERS", numbers)
        scorer = made(name).train()
        scores = scorer(image, text)
        gradients = torch.autograd.grad(scores.square().sum(), [*scorer.parameters()])
        found.append([scores, *gradients, *scorer.buffers()])
    assert len(list(blocks.in_blocks(image, text))) > 20
    for whole, part in zip(*found, strict=True):
        torch.testing.assert_close(part, whole)


def test_blocks_hold_each_pair_once_and_little_padding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "NUMBERS", 600)
    image, text = both(10, 40, 3, words=20)
    times, real, held = torch.zeros(10, 40), 0, 0
    for block in blocks.in_blocks(image, text):
        rows = times[block.images]
        rows[:, block.texts] += 1
        held += block.present.numel() * len(rows)
        real += int(block.present.sum()) * len(rows)
        assert block.words.numel() * len(rows) <= max(600, block.words[0].numel())
    assert bool((times == 1).all())
    assert real > 0.8 * held


@every
def test_other_orders_give_other_orders(name: str) -> None:
    scorer, (image, text) = made(name), both(4, 5, 4)
    rows, columns = torch.tensor([2, 0, 3, 1]), torch.tensor([4, 2, 0, 1, 3])
    turned = scorer(image.take(rows), text.take(columns))
    torch.testing.assert_close(turned, scorer(image, text)[rows][:, columns])
    moved = torch.tensor([3, 1, 0, 2])
    regions = Encoded(image.mean, locals=image.locals[:, moved])
    torch.testing.assert_close(scorer(regions, text), scorer(image, text))


@every
def test_gradients_are_right_and_reach_everything(name: str) -> None:
    scorer, (image, text) = made(name).train(), both(2, 3, 5, words=3)
    inputs = [image.locals, image.mean, text.locals, text.mean]
    inputs = [value.clone().requires_grad_() for value in inputs]

    def scores(regions, g, words, h):  # type: ignore[no-untyped-def]
        words = words * text.present[:, :, None]
        return scorer(Encoded(g, locals=regions), Encoded(h, locals=words, present=text.present))

    assert torch.autograd.gradcheck(scores, inputs, atol=1e-6)
    everything = [*inputs, *scorer.parameters()]
    found = torch.autograd.grad((scores(*inputs) ** 2).sum(), everything)
    assert all(gradient.abs().max() > 1e-9 for gradient in found)


def test_the_gradient_of_the_weights_is_that_of_differences() -> None:
    random = torch.Generator().manual_seed(0)
    image, text = both(2, 3, 6)
    weight = torch.randn(4, 6, generator=random, dtype=torch.float64, requires_grad=True)
    bias = torch.randn(4, generator=random, dtype=torch.float64, requires_grad=True)
    inputs = (image.locals, text.locals, weight, bias, 9.0)
    assert torch.autograd.gradcheck(aligned, inputs)


@every
def test_learning_brings_the_right_pairs_up(name: str) -> None:
    random = torch.Generator().manual_seed(7)
    image, text = pairwise.items(6, 4, random), pairwise.items(6, 4, random, ragged=True)
    shown = normalize(image.locals + 0.3 * text.locals) * text.present[:, :, None]
    text = Encoded(image.mean, locals=shown, present=text.present)
    torch.manual_seed(0)
    scorer = build_scorer({"name": name, "size": 8}, 6).double().train()
    adam = torch.optim.Adam(scorer.parameters(), 0.01)
    own = torch.eye(6, dtype=torch.bool)
    for _ in range(80):
        scores = scorer(image, text)
        loss = (scores[~own].view(6, 5) - scores[own][:, None] + 0.2).relu().mean()
        adam.zero_grad()
        loss.backward()
        adam.step()
    found = scorer(image, text).detach()
    assert float((found[own][:, None] > found[~own].view(6, 5)).double().mean()) > 0.95
    assert 0 <= float(found.min()) <= float(found.max()) <= 1


@every
def test_a_text_without_words_has_a_score(name: str) -> None:
    scorer, (image, text) = made(name), both(3, 2, 8)
    present = text.present.clone()
    present[0] = False
    empty = Encoded(text.mean, locals=text.locals * present[:, :, None], present=present)
    found = scorer(image, empty)
    assert torch.isfinite(found).all()
    torch.testing.assert_close(found[:, 1], scorer(image, text)[:, 1])
    nothing = text.take(torch.tensor([], dtype=torch.int64))
    assert scorer(image, nothing).shape == (3, 0)


@every
def test_parts_in_half_precision_are_compared_in_full(name: str) -> None:
    scorer, (image, text) = made(name).float(), both(3, 4, 9)
    single = [
        Encoded(e.mean.float(), locals=e.locals.float(), present=e.present) for e in (image, text)
    ]
    halved = [Encoded(e.mean, locals=e.locals.half(), present=e.present) for e in single]
    found = scorer(*halved)
    assert found.dtype == torch.float32
    torch.testing.assert_close(found, scorer(*single), rtol=0, atol=2e-3)


def test_what_has_no_parts_is_refused() -> None:
    scorer, (image, text) = made("sgr"), both(2, 2, 0)
    with pytest.raises(DataError, match="the texts have no parts"):
        scorer(image, Encoded(text.mean))


@pytest.mark.parametrize("steps", [1, 2, 4])
def test_as_many_steps_as_asked_for(steps: int) -> None:
    torch.manual_seed(0)
    scorer, (image, text) = (
        build_scorer({"name": "sgr", "size": 5, "steps": steps}, 6),
        both(3, 4, 0),
    )
    assert isinstance(scorer, GraphReasoning)
    scorer = scorer.double().eval()
    with torch.no_grad():
        expected = pairwise.by_hand(scorer, image, text)
        torch.testing.assert_close(scorer(image, text), expected, rtol=1e-9, atol=1e-11)
        scorer.steps.append(scorer.steps[-1])
        assert not torch.allclose(scorer(image, text), expected, rtol=1e-6)


def test_settings_are_read_strictly() -> None:
    assert scorer_settings({"name": "cosine"}) is scorer_settings({}) is None
    with pytest.raises(UsageError, match="no scorer 'sgrr'; did you mean 'sgr'"):
        scorer_settings({"name": "sgrr"})
    with pytest.raises(UsageError, match="scorer 'saf': no option 'steps'"):
        scorer_settings({"name": "saf", "steps": 2})
    with pytest.raises(UsageError, match="scorer 'cosine': no option 'size'"):
        scorer_settings({"size": 2})
    for wrong in ({"size": 0}, {"steps": 0}, {"temperature": 0.0}):
        with pytest.raises(UsageError, match=next(iter(wrong))):
            scorer_settings({"name": "sgr", **wrong})


@pytest.mark.parametrize("name", SCORERS)
def test_the_docs_tell_of_it_and_of_its_settings(name: str) -> None:
    page = (Path(__file__).parents[2] / "docs" / "methods.md").read_text(encoding="utf-8")
    for word in [name, *(field.name for field in fields(SCORERS[name]))]:
        assert f"`{word}`" in page, word


def test_vectors_of_a_pair_have_length_one() -> None:
    scorer, (image, text) = made("sgr"), both(2, 3, 10)
    for block in blocks.in_blocks(image, text):
        found = scorer.nodes(image, text, block).vectors
        torch.testing.assert_close(found, normalize(found))
