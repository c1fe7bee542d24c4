"""Queries that are like nothing in an index: what a graph finds of what is nearest to them.

`python -m bench.search_far [ROWS]` asks an index and bare FAISS with the same parameters, and with
twice and four times the candidates, for what is nearest to queries around the same centers as the
vectors, and to directions by chance, which are far from every center. It prints the share found of
the ten nearest and the time of a query alone, by the processor's clock: other programs may run.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from bench.search import SIZE, Ask, K, bare_faiss, built, clustered, numbers, recall, truth
from trope.index import IndexSettings

ROWS, ASKED, TURNS = 30_000, 200, 5


def timed(ask: Ask, queries: np.ndarray) -> float:
    started = time.process_time()
    for query in queries:
        ask(query[None])
    return (time.process_time() - started) / len(queries)


def main(rows: int) -> None:
    import faiss

    faiss.omp_set_num_threads(1)
    settings = IndexSettings()
    vectors, near = clustered(rows)
    far = np.random.default_rng(1).standard_normal((ASKED, SIZE), np.float32)
    far /= np.linalg.norm(far, axis=1, keepdims=True)
    with tempfile.TemporaryDirectory() as folder:
        engine, _ = built(Path(folder), vectors, settings)
        bare, _ = bare_faiss(vectors, settings)

        def ours(queries: np.ndarray) -> np.ndarray:
            return engine.nearest(queries[:, None], K, "image").ids

        def asked(times: int) -> Any:
            how = faiss.SearchParametersHNSW(efSearch=times * settings.asking)
            return lambda queries: bare.search(queries, K, params=how)[1]

        sides: dict[str, Any] = {"index": ours} | {f"bare × {n}": asked(n) for n in (1, 2, 4)}
        print("| queries | asked | recall@10 | a query alone |\n|---|---|---:|---:|")
        for name, queries in (("near", near[:ASKED]), ("far", far)):
            right = truth(vectors, queries)
            spent = [[timed(ask, queries) for ask in sides.values()] for _ in range(TURNS)]
            for side, (what, ask) in enumerate(sides.items()):
                taken = 1e3 * median(turn[side] for turn in spent)
                found = ask(queries)
                share = recall(numbers(found) if ask is ours else found, right)
                print(f"| {name} | {what} | {share:.3f} | {taken:.3f} ms |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", type=int, nargs="?", default=ROWS)
    main(parser.parse_args().rows)
