"""The measures by name. A new one is a file, and a line here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trope.errors import UsageError, suggestion
from trope.spaces.captions.bleu import bleu, bleu_coco
from trope.spaces.captions.cider_d import cider_d
from trope.spaces.captions.corpus import Corpus
from trope.spaces.captions.daa import cider_daa
from trope.spaces.captions.postings import Rows
from trope.spaces.captions.rouge import rouge
from trope.spaces.captions.rouge_daa import rouge_daa
from trope.spaces.captions.scoring import Against, Block, Fit, Measure, Scorer
from trope.spaces.captions.tfidf import cider


@dataclass(frozen=True)
class Mean:
    """The mean of several measures."""

    measures: tuple[Measure, ...]

    def on(self, corpus: Corpus) -> MeanScorer:
        """Let each measure look at the corpus."""
        return MeanScorer([measure.on(corpus) for measure in self.measures])


@dataclass(frozen=True)
class MeanScorer:
    """The mean of several scorers."""

    scorers: Sequence[Scorer]

    def against(self, captions: Rows) -> Against:
        """Prepare some captions; what comes back scores any images against them."""
        each = [scorer.against(captions) for scorer in self.scorers]

        def score(rows: Rows) -> Block:
            total = each[0](rows)
            for against in each[1:]:
                total += against(rows)
            total /= np.float32(len(each))
            return total

        return score


def mean(corpus: Corpus) -> Mean:
    """The mean of CIDEr, BLEU and ROUGE, which all lie between 0 and 1."""
    return Mean((cider(corpus), bleu(corpus), rouge(corpus)))


def mean_daa(corpus: Corpus) -> Mean:
    """The mean of the three as DAA's code has them: TF-IDF of single words, ROUGE of sets."""
    return Mean((cider_daa(corpus), bleu(corpus), rouge_daa(corpus)))


MEASURES: dict[str, Fit] = {
    "cider": cider,
    "cider-d": cider_d,
    "cider-daa": cider_daa,
    "bleu": bleu,
    "bleu-coco": bleu_coco,
    "rouge": rouge,
    "rouge-daa": rouge_daa,
    "mean": mean,
    "mean-daa": mean_daa,
}


def named(name: str) -> Fit:
    """The measure of that name."""
    if name not in MEASURES:
        raise UsageError(f"no relevance measure '{name}'{suggestion(name, MEASURES)}")
    return MEASURES[name]
