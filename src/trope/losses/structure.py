"""Structure-preserving loss (Wang et al., CVPR 2016).

    L_i = Σ over four terms of λ · mean of the 10 largest of [m + d(a_i, p_i) - d(a_i, n_j)]₊ over j

d is the Euclidean distance of unit vectors. The terms: text to image (λ 1.5), image to text (1),
text to another text of its image (0.05), and image to image (0). Where an image has one text, the
semantic neighbor is that other text: `text` and `image` weigh the two terms of the neighbor.
Weights, margin and number as in the authors' public code (lwwang/Two_branch_network).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from jaxtyping import Bool, Float
from torch import Tensor

from trope.losses.loss import check_weights
from trope.losses.ranking import Ranking, Similarities, violations
from trope.maths import distance


@dataclass(eq=False, kw_only=True)
class Structure(Ranking):
    """Pairs, and texts of one image, are nearer than others by a margin of distance."""

    takes: ClassVar[frozenset[str]] = frozenset({"anchors"})  # of the largest alone is a mean taken
    text_to_image: float = 1.5
    text: float = 0.05
    margin: float = 0.05
    largest: int = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        check_weights(margin=self.margin)
        if self.largest < 1:
            raise ValueError(f"largest must be one or more, not {self.largest}")

    def rank(
        self,
        positive: Float[Tensor, " n"],
        negative: Similarities,
        summed: Similarities,
        allowed: Bool[Tensor, "n m"],
        weights: Float[Tensor, "n m"] | None = None,
    ) -> Float[Tensor, " n"]:
        """Mean of an anchor's largest violations; what is not allowed counts as none."""
        near, far = distance(positive), distance(negative())
        found = violations(-near, -far, allowed, self.margin, weights)
        return found.topk(min(self.largest, found.shape[1]), dim=1).values.mean(dim=1)
