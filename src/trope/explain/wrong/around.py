"""What a pair's neighbors foretell: the texts of pictures like its own, the pictures of such texts.

    y'_i = mean of y_j over the k pictures j nearest to picture i
    x'_i = mean of x_j over the k texts j nearest to text i

The pair itself and what is tied to it are never among them, so that it does not speak for itself.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from jaxtyping import Float32, Int

from trope.explain.wrong.sides import Rows
from trope.neighbors import Search, neighbors
from trope.neighbors.rows import copies
from trope.neighbors.siblings import siblings
from trope.weights import average, chain_of

Ids: TypeAlias = Int[np.ndarray, "n k"]
Vectors: TypeAlias = Float32[np.ndarray, "n d"]


def around(vectors: Vectors, tied: Rows, k: int) -> Ids:
    """The nearest rows of each row that are not tied to it, nearest first; -1 fills up.

    Rows with the very same vector, which a search leaves out, come first: the same picture with
    another text is the best of witnesses.
    """
    equal = siblings(copies(vectors), k, tied)
    near = neighbors(vectors, Search(k, "cosine"), tied).ids
    both = np.concatenate([equal, np.asarray(near, np.int64)], axis=1)
    order = np.argsort(both < 0, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(both, order, axis=1)


def foretold(ids: Ids, other: Float32[np.ndarray, "n e"]) -> Float32[np.ndarray, "n e"]:
    """The mean of the other side over each row's neighbors; zeros without any."""
    return average(chain_of(ids), other)
