"""Near-duplicate texts: ours at full size, and side by side with datasketch at a common one."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

from bench.memory import memory_mb
from trope.data.duplicates import DuplicateClusters, NearDuplicates, find
from trope.runtime import generator

COMMON = 20_000
REPEATS = 3
SETTINGS = NearDuplicates()
SOUNDS = ("b c d f g h k l m p r s t v w st tr pl ch sh", "a e i o u ai ea ou", "n r s t l nd st m")


def synthetic(count: int) -> tuple[list[str], list[tuple[int, int]]]:
    """Texts of about 60 words, 2 % changed copies, 2 % boilerplate; and the planted pairs."""
    random = generator(0, "texts")
    words = np.array(vocabulary(random, 30_000))
    shares = 1 / np.arange(1, len(words) + 1)
    copies = boilerplate = count // 50
    lengths = random.integers(40, 81, count - copies - boilerplate)
    drawn = random.choice(len(words), lengths.sum(), p=shares / shares.sum())
    articles = np.split(drawn, np.cumsum(lengths)[:-1])
    sources = random.choice(len(articles), copies, replace=False)
    near = [changed(articles[source], len(words), random) for source in sources]
    texts = [" ".join(words[article]) for article in [*articles, *near]]
    planted = [(int(source), len(articles) + row) for row, source in enumerate(sources)]
    return texts + [failed_scrape(random) for _ in range(boilerplate)], planted


def vocabulary(random: np.random.Generator, size: int) -> list[str]:
    """Made-up words of one to three syllables, the most frequent first."""
    onsets, vowels, codas = (line.split() for line in SOUNDS)
    syllables = [onset + vowel + coda for onset in onsets for vowel in vowels for coda in codas]
    found: dict[str, None] = {}
    while len(found) < size:
        found["".join(random.choice(syllables, random.integers(1, 4)))] = None
    return list(found)


def changed(article: np.ndarray, words: int, random: np.random.Generator) -> np.ndarray:
    """A copy with one to three words replaced."""
    copy, edits = article.copy(), random.integers(1, 4)
    copy[random.integers(0, len(copy), edits)] = random.integers(0, words, edits)
    return copy


def failed_scrape(random: np.random.Generator) -> str:
    """What a news site says to a scraper, with the details that vary from page to page."""
    site, reference, hour = random.integers([100, 10**6, 24])
    return (
        "We are sorry, but your browser does not accept cookies. To read this page of site "
        f"{site}, please enable scripts and cookies in your settings and reload. Reference number "
        f"{reference}. If you believe that this is an error, write to support and name the time "
        f"{hour:02d}:00 and the page you wanted to see. All rights reserved."
    )


def shingle_set(text: str) -> set[str]:
    text, width = " ".join(text.casefold().split()), SETTINGS.shingle
    return {text[i : i + width] for i in range(max(1, len(text) - width + 1))}


def jaccard(one: str, other: str) -> float:
    left, right = shingle_set(one), shingle_set(other)
    return len(left & right) / len(left | right)


def datasketch_pairs(texts: list[str]) -> list[tuple[int, int]]:
    """The ordinary way: a signature per text, a query and an insert for each; not verified."""
    from datasketch import MinHash, MinHashLSH

    index = MinHashLSH(threshold=SETTINGS.threshold, num_perm=SETTINGS.permutations)
    pairs = []
    for row, text in enumerate(texts):
        signature = MinHash(num_perm=SETTINGS.permutations)
        signature.update_batch([shingle.encode() for shingle in shingle_set(text)])
        pairs += [(earlier, row) for earlier in index.query(signature)]
        index.insert(row, signature)
    return pairs


def timed(job: Callable[[], Any], repeats: int = 1) -> tuple[float, Any]:
    """The median time of a job, and what it returned last."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = job()
        times.append(time.perf_counter() - start)
    return median(times), result


def compare(texts: list[str], ours: DuplicateClusters, theirs: list[tuple[int, int]]) -> None:
    """Every true pair they find is in one of our clusters, and every link of ours is true."""
    for left, right in theirs:
        if (
            ours.ids[left] != ours.ids[right]
            and jaccard(texts[left], texts[right]) >= SETTINGS.threshold
        ):
            raise AssertionError(f"missed the pair {left}, {right}")
    for left, right, similarity in ours.links():
        if similarity < SETTINGS.threshold or similarity != jaccard(texts[left], texts[right]):
            raise AssertionError(f"false link {left}, {right}")


def alone(count: int) -> dict[str, float]:
    """Ours at full size, with its recall of planted pairs; for a process of its own."""
    texts, planted = synthetic(count)
    before = memory_mb("VmRSS")
    seconds, found = timed(lambda: find(texts, SETTINGS))
    peak = memory_mb("VmHWM")
    true = [
        pair for pair in planted if jaccard(texts[pair[0]], texts[pair[1]]) >= SETTINGS.threshold
    ]
    recall = np.mean([found.ids[left] == found.ids[right] for left, right in true])
    return {
        "texts": count,
        "seconds": seconds,
        "peak_memory_mb": peak,
        "memory_with_texts_mb": before,
        "planted": len(true),
        "recall": float(recall),
    }


def measure(full: bool = False, texts: int | None = None) -> dict[str, Any]:
    """Ours at full size (time, memory, recall), and both ways on the same smaller collection."""
    texts = texts or (1_000_000 if full else 250_000)
    run = subprocess.run(
        [sys.executable, __file__, "--alone", str(texts)], stdout=subprocess.PIPE, check=True
    )
    largest = json.loads(run.stdout)
    common, _ = synthetic(min(texts, COMMON))
    ours, clusters = timed(lambda: find(common, SETTINGS), REPEATS)
    theirs, pairs = timed(lambda: datasketch_pairs(common), REPEATS)
    compare(common, clusters, pairs)
    return {
        "ours": ours,
        "theirs": theirs,
        "ratio": theirs / ours,
        "better": "higher",
        "work": f"near-duplicates among {len(common)} texts of 60 words, 4 % of them repeated",
        "against": "datasketch MinHashLSH, 128 permutations, candidates not verified",
        "full_size": largest,
    }


if __name__ == "__main__":
    if sys.argv[1:2] == ["--alone"]:
        print(json.dumps(alone(int(sys.argv[2]))))
    else:
        count = int(sys.argv[1]) if sys.argv[1:] else None
        print(json.dumps(measure(texts=count), indent=2))
