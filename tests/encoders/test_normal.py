"""Items as distributions: the head of PCME, and how likely two of them match."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from trope.encoders import HeadSettings
from trope.encoders.content import Content
from trope.encoders.normal import Normal
from trope.encoders.reranking import candidates, rerank
from trope.encoders.scorers import build_scorer
from trope.encoders.scorers.matching import SMALLEST_SCALE, Match, Matching
from trope.matching import expected_distances, sampled_odds, samples
from trope.maths import normalize
from trope.views import Encoded

WHOLE, PART, SIZE = 6, 5, 4


def content(n: int = 3, empty: int | None = None) -> Content:
    random = torch.Generator().manual_seed(0)
    whole = torch.randn(n, WHOLE, generator=random)
    parts = torch.randn(n, 3, PART, generator=random)
    present = torch.ones(n, 3, dtype=torch.bool)
    present[0, 2] = False
    if empty is not None:
        present[empty] = False
    return Content(whole, parts, present)


def linear(weight: Tensor, values: list[float]) -> list[float]:
    return [math.fsum(w * v for w, v in zip(row, values, strict=True)) for row in weight.tolist()]


def test_log_sigma_in_loops() -> None:
    head, given = Normal(WHOLE, PART, HeadSettings(SIZE), -2.0), content()
    found = head(given)
    assert given.parts is not None
    assert given.present is not None
    assert found.log_sigma is not None
    for i in range(3):
        parts = given.parts[i][given.present[i]].tolist()
        hidden = [[math.tanh(v) for v in linear(head.look.weight, part)] for part in parts]
        powers = [math.exp(linear(head.weigh.weight, one)[0]) for one in hidden]
        shares = [power / math.fsum(powers) for power in powers]
        attended = [
            math.fsum(s * part[c] for s, part in zip(shares, parts, strict=True))
            for c in range(PART)
        ]
        local = linear(head.gather.weight, attended)
        overall = linear(head.map.weight, given.whole[i].tolist())
        for d in range(SIZE):
            expected = local[d] + overall[d] - 2.0
            assert float(found.log_sigma[i, d].detach()) == pytest.approx(expected, abs=1e-5)


def test_the_mean_is_the_single_point_of_pie_net() -> None:
    head, given = Normal(WHOLE, PART, HeadSettings(SIZE), -4.0), content()
    found = head(given)
    points = head.mean(given).points
    assert points is not None
    assert points.shape == (3, 1, SIZE)
    torch.testing.assert_close(found.mean, points[:, 0])
    torch.testing.assert_close(found.mean.norm(dim=1), torch.ones(3))
    assert found.points is found.residuals is None


def test_an_item_without_content_is_nowhere_and_spread_as_all_are_at_first() -> None:
    """With a spread of one it would lie √d from everything, and be most of a batch's loss."""
    found = Normal(WHOLE, PART, HeadSettings(SIZE), -4.0)(content(empty=1))
    assert found.log_sigma is not None
    assert not found.mean[1].any()
    assert (found.log_sigma[1] == -4).all()
    assert (found.log_sigma[[0, 2]] != -4).any()
    apart = expected_distances(Encoded(found.mean[:1], log_sigma=found.log_sigma[1:2]), found)
    assert float(apart[0, 1].detach()) == pytest.approx(1 + 2 * SIZE * math.exp(-8), rel=1e-5)


def items(n: int, seed: int, size: int = 8, log_sigma: float = -1.5) -> Encoded:
    random = torch.Generator().manual_seed(seed)
    mean, spread = torch.randn(2, n, size, generator=random)
    return Encoded(normalize(mean), log_sigma=log_sigma + 0.5 * spread)


def made(**settings: object) -> Matching:
    return Matching(8, Match(**settings))  # type: ignore[arg-type]


def test_without_a_name_the_cosine_needs_no_scorer() -> None:
    assert build_scorer({"name": "cosine"}, 8) is None
    assert isinstance(build_scorer({"name": "match"}, 8), Matching)


@pytest.mark.parametrize(("form", "start"), [("sampled", 15.0), ("closed", 5.0)])
def test_scale_and_shift_start_where_the_papers_do(form: str, start: float) -> None:
    found = made(form=form)
    assert found.scale.item() == found.shift.item() == start
    assert made(form=form, scale=3.0, shift=2.0).scale.item() == 3.0
    assert {name for name, _ in found.named_parameters()} == {"scale", "shift"}
    assert found.state_dict().keys() == {"scale", "shift"}


def test_scores_times_odds_are_the_odds_of_samples() -> None:
    match, image, text = made(asked="sampled").eval(), items(3, 0), items(4, 1)
    expected = sampled_odds(
        samples(image, match.noise[0]), samples(text, match.noise[1]), match.scale, match.shift
    )
    torch.testing.assert_close(match.odds * match(image, text), expected)
    found = match.probability(match(image, text))
    torch.testing.assert_close(found, torch.sigmoid(expected))
    assert match.room > made(asked="closed").room == 1


def test_the_closed_form_is_that_of_the_paper() -> None:
    """Also as binary cross-entropy of -a d + b has it."""
    match, image, text = made(form="closed").eval(), items(2, 0), items(3, 1)
    assert image.log_sigma is not None
    assert text.log_sigma is not None
    found = match.odds * match(image, text)
    for i in range(2):
        for j in range(3):
            d = float((image.mean[i] - text.mean[j]).square().sum())
            d += float(image.log_sigma[i].exp().square().sum())
            d += float(text.log_sigma[j].exp().square().sum())
            assert float(found[i, j].detach()) == pytest.approx(-5 * d + 5, abs=1e-4)
    assert torch.equal(match(image, text), match.train()(image, text))


def test_the_closed_form_comes_close_to_many_samples() -> None:
    """With small spreads; the order of the two is then the same."""
    image, text = items(12, 0, log_sigma=-6.0), items(12, 1, log_sigma=-6.0)
    closed = made(asked="closed").eval()(image, text)
    sampled = made(asked="sampled", samples=60).eval()(image, text)
    torch.testing.assert_close(closed, sampled, atol=0.03, rtol=0)


@pytest.mark.parametrize("form", ["sampled", "closed"])
def test_the_means_alone_rank_as_cosines_do(form: str) -> None:
    match, image, text = made(form=form, asked="mean").eval(), items(5, 0), items(7, 1)
    cosines = image.mean @ text.mean.T
    assert torch.equal(match(image, text).argsort(dim=1), cosines.argsort(dim=1))


@pytest.mark.parametrize("form", ["sampled", "closed"])
def test_what_is_less_certain_matches_less(form: str) -> None:
    match, image = made(form=form, asked="closed").eval(), items(1, 0)
    wide = Encoded(image.mean, log_sigma=image.log_sigma + 1)  # type: ignore[operator]
    assert match(image, image).item() > match(image, wide).item()


def test_samples_are_new_in_training_and_fixed_when_asked() -> None:
    match, image, text = made(asked="sampled"), items(3, 0), items(3, 1)
    torch.manual_seed(0)
    first, other = match(image, text), match(image, text)
    assert not torch.equal(first, other)
    torch.manual_seed(0)
    assert torch.equal(match(image, text), first)
    match.eval()
    one = match(image, text)
    assert torch.equal(match(image, text), one)
    assert torch.equal(made(asked="sampled").eval()(image, text), one)
    alone = match(image.take(torch.tensor([1])), text)
    torch.testing.assert_close(alone, one[1:2])  # whoever else is asked about


def test_a_scale_that_would_turn_far_into_near_is_put_back() -> None:
    match = made()
    with torch.no_grad():
        match.scale.fill_(-1.0)
    assert match.odds.item() == pytest.approx(2 * SMALLEST_SCALE)


def test_a_model_trained_in_closed_form_is_not_asked_by_samples() -> None:
    with pytest.raises(ValueError, match="form=sampled"):
        Match(form="closed", asked="sampled")


@pytest.mark.parametrize("asked", ["mean", "sampled", "closed"])
@pytest.mark.parametrize("side", ["image", "text"])
def test_enough_candidates_find_what_all_would(asked: str, side: str) -> None:
    match, queries, gallery = made(asked=asked).eval(), items(4, 0), items(30, 1)
    all_scores = match(queries, gallery) if side == "image" else match(gallery, queries).T
    expected = all_scores.detach().sort(dim=1, descending=True)
    found = rerank(match, queries, gallery, candidates(queries, gallery, 30), side)  # type: ignore[arg-type]
    assert torch.equal(found.items, expected.indices)
    torch.testing.assert_close(found.scores, expected.values)


def test_fewer_candidates_are_those_of_the_product_in_the_order_of_the_scores() -> None:
    match, queries, gallery = made().eval(), items(4, 0), items(30, 1)
    first = candidates(queries, gallery, 6)
    found = rerank(match, queries, gallery, first, "image")
    for row, chosen in zip(found.items.tolist(), first.tolist(), strict=True):
        assert sorted(row) == sorted(chosen)
    assert (found.scores.diff(dim=1) <= 0).all()
