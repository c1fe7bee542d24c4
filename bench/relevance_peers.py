"""What caption relevance is compared with: loops over pairs with the packages people use."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

Captions = list[list[str]]
Pairs = list[tuple[Captions, list[str]]]


def coco_cider_d(pairs: Pairs, corpus: list[Captions]) -> list[float]:
    from pycocoevalcap.cider.cider_scorer import CiderScorer

    scorer = CiderScorer()
    for references, caption in pairs:
        scorer += (" ".join(caption), [" ".join(tokens) for tokens in references])
    return list(scorer.compute_score()[1])


def nltk_bleu(pairs: Pairs, corpus: list[Captions]) -> list[float]:
    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

    smooth = SmoothingFunction().method1
    return [sentence_bleu(refs, caption, smoothing_function=smooth) for refs, caption in pairs]


def coco_bleu(pairs: Pairs, corpus: list[Captions]) -> list[float]:
    from pycocoevalcap.bleu.bleu_scorer import BleuScorer

    scorer = BleuScorer()
    for references, caption in pairs:
        scorer += (" ".join(caption), [" ".join(tokens) for tokens in references])
    return list(scorer.compute_score(option="closest")[1][3])


class _Split:
    def tokenize(self, text: str) -> list[str]:
        return text.split()


def rouge_score(pairs: Pairs, corpus: list[Captions]) -> list[float]:
    from rouge_score.rouge_scorer import RougeScorer

    kinds = ["rouge1", "rouge2", "rougeL"]
    scorer = RougeScorer(kinds, tokenizer=_Split())
    found = []
    for references, caption in pairs:
        scores = scorer.score_multi([" ".join(t) for t in references], " ".join(caption))
        found.append(sum(scores[kind].fmeasure for kind in kinds) / 3)
    return found


def cider_formula(pairs: Pairs, corpus: list[Captions]) -> list[float]:
    """CIDEr as it stands in the paper, for the comparison: the coco-caption code has CIDEr-D."""
    held = Counter(g for references in corpus for g in set().union(*map(_grams, references)))
    found = []
    for references, caption in pairs:
        one = _vectors(caption, held, len(corpus))
        others = (_vectors(reference, held, len(corpus)) for reference in references)
        cosines = [_cosine(a, b) for other in others for a, b in zip(one, other, strict=True)]
        found.append(sum(cosines) / len(cosines))
    return found


def _grams(tokens: list[str]) -> Counter[tuple[str, ...]]:
    orders = (range(len(tokens) - n + 1) for n in range(1, 5))
    return Counter(
        tuple(tokens[i : i + n]) for n, places in enumerate(orders, start=1) for i in places
    )


def _vectors(tokens: list[str], held: Counter[Any], documents: int) -> list[dict[Any, float]]:
    found: list[dict[Any, float]] = [{}, {}, {}, {}]
    for gram, count in _grams(tokens).items():
        found[len(gram) - 1][gram] = count * math.log(documents / max(1, held[gram]))
    return found


def _cosine(one: dict[Any, float], other: dict[Any, float]) -> float:
    norms = math.hypot(*one.values()) * math.hypot(*other.values())
    return sum(v * other.get(k, 0) for k, v in one.items()) / norms if norms else 0.0
