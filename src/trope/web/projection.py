"""Vectors in two dimensions by UMAP (McInnes, Healy & Melville 2018), in a process of its own.

It takes a minute or more of all a core has; the server answers meanwhile, and can end it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from jaxtyping import Float32

from trope.errors import MissingExtra

NEIGHBORS, APART = 15, 0.1
FEW = 16  # points that are simply looked at from where they differ most
START = "import sys; sys.path[:] = sys.argv[3:]; from trope.web.projection import run; run()"

Vectors = Float32[np.ndarray, "points d"]
Flat = Float32[np.ndarray, "points 2"]


def refuse_missing() -> None:
    """Say what to install before anything is begun."""
    if find_spec("umap") is None:
        raise MissingExtra("the map", "map")


def started(vectors: Path, out: Path) -> subprocess.Popen[bytes]:
    """A process that reads vectors from one file and writes points to another."""
    return subprocess.Popen(
        [sys.executable, "-c", START, str(vectors), str(out), *sys.path],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def run() -> None:
    """What the process does."""
    os.nice(10)
    source, target = Path(sys.argv[1]), Path(sys.argv[2])
    np.save(target, projected(np.load(source, allow_pickle=False)), allow_pickle=False)


def projected(vectors: Vectors) -> Flat:
    """Points near to each other where vectors are; the same each time."""
    if len(vectors) < FEW:
        return _principal(vectors)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that one seed means one core is what we want
        made = (
            import_module("umap")
            .UMAP(
                n_neighbors=min(NEIGHBORS, len(vectors) - 1),
                min_dist=APART,
                metric="cosine",
                init="pca",
                random_state=0,
                n_jobs=1,
            )
            .fit_transform(vectors)
        )
    return np.asarray(made, np.float32)


def _principal(vectors: Vectors) -> Flat:
    """The two directions in which most differs."""
    centered = vectors - vectors.mean(axis=0, keepdims=True)
    _, _, axes = np.linalg.svd(centered, full_matrices=False)
    flat = np.zeros((len(vectors), 2), np.float32)
    flat[:, : min(2, len(axes))] = centered @ axes[:2].T
    return flat
