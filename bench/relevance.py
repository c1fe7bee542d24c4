"""Caption relevance: the whole matrix of images by captions against loops over pairs.

A pair is one caption against all references of one image. Ours includes counting the n-grams,
fitting and every block of the matrix, in a process of its own; theirs is timed on a sample of pairs
and extrapolated. Both get the same tokens, and agree on the sample before any time is reported.
Captions are made up, at either scale, unless the environment variable `COCO_CAPTIONS` names a file
like COCO's `captions_val2017.json`: then all of that file's, at either scale.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import orjson

from bench.memory import memory_mb
from bench.relevance_peers import (
    Captions,
    Pairs,
    cider_formula,
    coco_bleu,
    coco_cider_d,
    nltk_bleu,
    rouge_score,
)
from trope.data.text import TextPreparation, prepare, tokenize
from trope.runtime import cores, generator
from trope.spaces.captions import Corpus, Relevance

ROOT = Path(__file__).parents[1]
REPEATS = 3
BLOCK = 512
PHRASES = ("a", "the", "two", "on a", "in the", "of a", "next to a", "with a", "standing on")

Peer = Callable[[Pairs, list[Captions]], list[float]]


# --- captions ---------------------------------------------------------------------------------


def images(full: bool) -> tuple[str, list[Captions]]:
    """Where captions are from, and those of each image, split into words."""
    if not (path := os.environ.get("COCO_CAPTIONS")):
        return "synthetic captions", synthetic(20_000 if full else 5_000)
    found: dict[int, Captions] = {}
    for row in orjson.loads(Path(path).read_bytes())["annotations"]:
        words = tokenize(prepare(row["caption"], TextPreparation()))
        found.setdefault(row["image_id"], []).append(words)
    return Path(path).stem, list(found.values())


def synthetic(count: int) -> list[Captions]:
    """Five captions an image: its few things, in sentences of frequent phrases."""
    random = generator(0, "captions")
    shares = 1 / np.arange(1, 7_001)
    things = random.choice(7_000, (count, 8), p=shares / shares.sum())
    found = []
    for own in things:
        words = [f"{random.choice(PHRASES)} word{thing}" for thing in random.choice(own, 25)]
        found.append([" ".join(words[k : k + 5]).split() for k in range(0, 25, 5)])
    return found


def sample(corpus: list[Captions]) -> list[int]:
    """For each image one caption of any image, or in every tenth case one of its own."""
    random = generator(0, "pairs")
    starts = np.cumsum([0, *map(len, corpus)])
    picked = random.integers(0, starts[-1], len(corpus))
    picked[::10] = starts[:-1][::10]
    return [int(caption) for caption in picked]


# --- ours -------------------------------------------------------------------------------------


def alone(measure: str, full: bool) -> dict[str, Any]:
    """Seconds of the whole matrix, the scores of the sample and the most memory it took."""
    _, captions = images(full)
    corpus, picked = Corpus.from_tokens(captions), np.array(sample(captions))
    small = Corpus.from_tokens(captions[:20])
    Relevance(measure).fit(small).on(small).rows(np.arange(20))  # compiled by now
    times, scores = [], np.empty(0)
    for _ in range(REPEATS):
        started = time.perf_counter()
        scores = _whole(Relevance(measure).fit(corpus).on(corpus), picked)
        times.append(time.perf_counter() - started)
    return {"seconds": median(times), "scores": scores.tolist(), "peak": memory_mb()}


def _whole(matrix: Any, picked: np.ndarray) -> np.ndarray:
    """Every block of the matrix; one score a row is kept."""
    kept = []
    for first in range(0, matrix.shape[0], BLOCK):
        rows = np.arange(first, min(first + BLOCK, matrix.shape[0]))
        kept.append(matrix.rows(rows)[np.arange(len(rows)), picked[rows]])
    return np.concatenate(kept)


def _in_own_process(measure: str, full: bool) -> dict[str, Any]:
    command = [sys.executable, "-m", "bench.relevance", measure, str(int(full))]
    run = subprocess.run(command, stdout=subprocess.PIPE, check=True, cwd=ROOT)
    return dict(json.loads(run.stdout))


# --- side by side -----------------------------------------------------------------------------


def _compare(
    measure: str, peer: Peer, against: str, full: bool, size: int | None, oracle: Peer | None = None
) -> dict[str, Any]:
    """Ours over the whole matrix, theirs on `size` pairs (all of the sample for CIDEr's IDF)."""
    source, corpus = images(full)
    captions = [caption for references in corpus for caption in references]
    pairs = [(corpus[i], captions[j]) for i, j in enumerate(sample(corpus))]
    ours = _in_own_process(measure, full)
    times, scores = [], [0.0]
    for _ in range(REPEATS):
        started = time.perf_counter()
        scores = peer(pairs[:size], corpus)
        times.append(time.perf_counter() - started)
    expected = oracle(pairs[:500], corpus) if oracle else scores
    same = np.allclose(ours["scores"][: len(expected)], expected, rtol=1e-6, atol=1e-6)
    assert same, f"{measure}: outputs differ"
    total = len(corpus) * len(captions)
    theirs = median(times) / len(scores) * total
    return {
        "ratio": theirs / ours["seconds"],
        "better": "higher",
        "ours": ours["seconds"],
        "theirs": theirs,
        "against": f"{against}, one process, {len(scores):,} pairs timed and extrapolated",
        "work": f"{len(corpus):,} images by {len(captions):,} captions ({source}), {cores()} cores",
        "pairs_per_second": total / ours["seconds"],
        "pairs_per_second_theirs": total / theirs,
        "peak_memory_mb": ours["peak"],
    }


def cider(full: bool) -> dict[str, Any]:
    """CIDEr against the coco-caption loop, which computes CIDEr-D."""
    against = "pycocoevalcap's CIDEr-D"
    return _compare("cider", coco_cider_d, against, full, None, oracle=cider_formula)


def cider_d(full: bool) -> dict[str, Any]:
    """CIDEr-D against the coco-caption loop."""
    return _compare("cider-d", coco_cider_d, "pycocoevalcap's CIDEr-D", full, None)


def bleu(full: bool) -> dict[str, Any]:
    """Smoothed BLEU against NLTK's."""
    return _compare("bleu", nltk_bleu, "NLTK's sentence_bleu", full, 2_000)


def bleu_coco(full: bool) -> dict[str, Any]:
    """BLEU of the coco-caption code."""
    return _compare("bleu-coco", coco_bleu, "pycocoevalcap's BLEU", full, 4_000)


def rouge(full: bool) -> dict[str, Any]:
    """ROUGE-1, -2 and -L against rouge-score."""
    return _compare("rouge", rouge_score, "rouge-score", full, 1_000)


if __name__ == "__main__":
    print(json.dumps(alone(sys.argv[1], sys.argv[2] == "1")))
