"""SGR and SAF of one image and one text, in plain loops over regions, words and steps."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from trope.encoders.scorers.filtration import Both, Filtration
from trope.encoders.scorers.reasoning import GraphReasoning
from trope.encoders.scorers.scorer import Scorer
from trope.maths import normalize
from trope.views import Encoded


def unit(vector: Tensor) -> Tensor:
    return vector / vector.norm()


def attended(regions: Tensor, words: Tensor, temperature: float) -> list[Tensor]:
    """What an image shows of each word."""
    products = [[float(r @ w) for w in words] for r in regions]
    leaky = [[a if a > 0 else 0.1 * a for a in row] for row in products]
    scaled = [[b / math.sqrt(math.fsum(x * x for x in row)) for b in row] for row in leaky]
    found = []
    for w in range(len(words)):
        shares = [math.exp(temperature * row[w]) for row in scaled]
        total = sum(shares)
        mixed = sum((s / total * r for s, r in zip(shares, regions, strict=True)), 0 * regions[0])
        found.append(unit(mixed))
    return found


def nodes(scorer: Scorer, regions: Tensor, words: Tensor, g: Tensor, h: Tensor) -> list[Tensor]:
    """The similarity vectors of a pair, the global one first."""
    found = [unit(scorer.whole.weight @ (g - h) ** 2 + scorer.whole.bias)]
    for x, word in zip(attended(regions, words, scorer.temperature), words, strict=True):
        found.append(unit(scorer.local.weight @ (x - word) ** 2 + scorer.local.bias))
    return found


def reasoned(scorer: GraphReasoning, found: list[Tensor]) -> Tensor:
    """Node 0 after all steps, each in the form of the paper."""
    for step in scorer.steps:
        queries = [step.query.weight @ x + step.query.bias for x in found]
        keys = [step.key.weight @ x for x in found]
        after = []
        for query in queries:
            edges = [math.exp(float(query @ key)) for key in keys]
            mixed = sum((e / sum(edges) * x for e, x in zip(edges, found, strict=True)), 0 * query)
            after.append((step.graph.weight @ mixed + step.graph.bias).clamp(min=0))
        found = after
    return found[0]


def filtered(scorer: Filtration, found: list[Tensor], mean: float, variance: float) -> Tensor:
    """The weighted sum, by the statistics of a batch norm."""
    norm = scorer.norm
    weights = []
    for x in found:
        value = (float(scorer.weigh.weight[0] @ x) - mean) / math.sqrt(variance + 1e-5)
        weights.append(1 / (1 + math.exp(-(value * float(norm.weight) + float(norm.bias)))))
    mixed = sum((w / sum(weights) * x for w, x in zip(weights, found, strict=True)), 0 * found[0])
    return unit(mixed)


def statistics(scorer: Filtration, all_nodes: list[list[Tensor]]) -> tuple[float, float]:
    """Of a batch in training; else those remembered."""
    if not scorer.training:
        return float(scorer.norm.running_mean), float(scorer.norm.running_var)
    values = [float(scorer.weigh.weight[0] @ x) for found in all_nodes for x in found]
    mean = math.fsum(values) / len(values)
    return mean, math.fsum((value - mean) ** 2 for value in values) / len(values)


def by_hand(scorer: torch.nn.Module, image: Encoded, text: Encoded) -> Tensor:
    """Scores pair by pair; a text has the words that are present."""
    if isinstance(scorer, Both):
        return (by_hand(scorer.sgr, image, text) + by_hand(scorer.saf, image, text)) / 2
    assert isinstance(scorer, Scorer)
    n, m = len(image.mean), len(text.mean)
    pairs = [(i, j) for i in range(n) for j in range(m)]
    words = [text.locals[j][text.present[j]] for j in range(m)]
    every = [
        nodes(scorer, image.locals[i], words[j], image.mean[i], text.mean[j]) for i, j in pairs
    ]
    if isinstance(scorer, Filtration):
        known = statistics(scorer, every)
        read = [filtered(scorer, found, *known) for found in every]
    else:
        assert isinstance(scorer, GraphReasoning)
        read = [reasoned(scorer, found) for found in every]
    judged = [float(scorer.judge.weight[0] @ x + scorer.judge.bias) for x in read]
    return torch.tensor([1 / (1 + math.exp(-v)) for v in judged], dtype=torch.float64).view(n, m)


def items(
    n: int, parts: int, random: torch.Generator, *, ragged: bool = False, size: int = 6
) -> Encoded:
    """Random parts of length one, of texts in different numbers, and global vectors."""
    local = normalize(torch.randn(n, parts, size, generator=random, dtype=torch.float64))
    mean = normalize(torch.randn(n, size, generator=random, dtype=torch.float64))
    if not ragged:
        return Encoded(mean, locals=local)
    lengths = torch.randint(1, parts + 1, (n,), generator=random)
    present = torch.arange(parts) < lengths[:, None]
    return Encoded(mean, locals=local * present[:, :, None], present=present)
