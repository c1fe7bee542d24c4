"""What a model with a scorer is charged for its points: an index must find candidates by them.

    L = 1/n² Σ_ij [m + c_ij - c_ii]₊ + [m + c_ji - c_ii]₊        c: cosines of points, m = 0.2

The loss of such a model goes by the scorer's scores, which may be right wherever the points lie.
Ours; the triplet loss over all negatives, on cosines. Where there is no scorer the loss is about
the points already, and this is 0.
"""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor

from trope.losses.ranking import violations
from trope.similarity import paired_similarity, similarity
from trope.views import View

MARGIN = 0.2


def candidates(view: View) -> Float[Tensor, ""]:
    """How far other items are from being farther by a margin than the right ones."""
    if view.scores is None:
        return view.image.mean.new_zeros(())
    own, cosines = paired_similarity(view.image, view.text), similarity(view.image, view.text)
    texts = violations(own, cosines, ~view.same, MARGIN)
    images = violations(own, cosines.T, ~view.same, MARGIN)
    return (texts + images).mean()
