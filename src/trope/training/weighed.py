"""The measures and weights of every training pair of a finished run, from its best model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from trope import config
from trope.data.pairs import Pairs
from trope.data.samples import Samples, samples
from trope.encoders import encode
from trope.errors import UsageError
from trope.evaluation.runs import open_run
from trope.evaluation.scoring import some
from trope.training.metrics import read_metrics
from trope.training.settings import Recipe
from trope.training.task import build_weight, neighbors_in
from trope.views import Encoded
from trope.weights import WEIGHTS, CombinedVal, Semantic, Weighed, weigh_all

DEFAULT: Mapping[str, Any] = {"name": "diversity"}  # of a run that was trained without a weight


@dataclass(frozen=True, eq=False)
class WeighedRun:
    """A run's training pairs and where its model puts them, their neighbors, and what they weigh.

    Rows of `image`, `text`, `around` and of all of `weighed` are the pairs of `train`.
    """

    pairs: Pairs
    train: Samples
    settings: Recipe
    image: Encoded = field(repr=False)
    text: Encoded = field(repr=False)
    around: np.ndarray = field(repr=False)
    weighed: Weighed = field(repr=False)
    remarks: tuple[str, ...] = ()

    @property
    def rows(self) -> np.ndarray:
        """The row of the data set that each training pair belongs to."""
        return np.asarray(self.pairs.flat_texts()[1][self.train.texts])


def weigh_run(
    run: str | Path, data: Path | Pairs | None = None, weight: Mapping[str, Any] | None = None
) -> WeighedRun:
    """Encode the training pairs of a run, and weigh them by its weight or another.

    Points are those of the best model, without dropout, and all pairs are one batch: in training
    they are noisier, and weights more even. `weight` is a table as in a recipe; it must look at
    neighbors. That of a run without one, or with one of another kind, is `diversity`, and its
    neighbors are those by meaning where it has none but the other texts of a picture.
    """
    source, remarks = open_run(Path(run), data)
    about = source.checkpoint.description
    settings = config.parse(Recipe, about.get("settings", {}), f"{run}: settings")
    chosen = _weight(settings, about.get("weight") if weight is None else weight, weight is None)
    settings = _with_neighbors(settings)
    train = samples(source.pairs, source.pictures.rows, "train")
    around, said = neighbors_in(source.pairs, settings, train)
    model, pictures = source.checkpoint.model, np.unique(train.images, return_inverse=True)
    image = some(encode(model.image, source.pictures.inputs, pictures[0], parts=False), pictures[1])
    text = encode(model.text, source.texts.inputs, train.texts, parts=False)
    weighed = weigh_all(_points(image), _points(text), around, chosen)
    if chosen.permuted or chosen.shuffled:
        how = "permuted" if chosen.permuted else "shuffled"
        said = (*said, f"weights are {how}, as the run has them: which pair has which is chance")
    if weight is None:
        said = (*said, *_other(about.get("weight")), *_in_training(Path(run)))
    return WeighedRun(
        source.pairs, train, settings, image, text, around, weighed, (*remarks, *said)
    )


def _weight(settings: Recipe, table: Mapping[str, Any] | None, otherwise: bool) -> Semantic:
    """The weight of a table; where it looks at no neighbors, the default if that will do."""
    given = None if table is None else build_weight(replace(settings, weight=table))
    if isinstance(given, CombinedVal) and not given.chosen:
        raise UsageError("weight 'combined-val': give beta and gamma, which only training chooses")
    if isinstance(given, Semantic):
        return given
    if given is not None and not otherwise:
        raise UsageError(f"weight '{(table or {})['name']}': looks at no neighbors")
    found = build_weight(replace(settings, weight=DEFAULT))
    assert isinstance(found, Semantic)
    return found


def _other(table: Mapping[str, Any] | None) -> list[str]:
    """That the run was trained with a weight which is not what is shown."""
    if table is None or issubclass(WEIGHTS[table["name"]], Semantic):
        return []
    return [
        f"the run was trained with the weight '{table['name']}', which looks at no neighbors: "
        "these are not its weights"
    ]


def _in_training(run: Path) -> list[str]:
    """How uneven the run's own weights were while it learned, which is not what they are here."""
    epochs = [line for line in read_metrics(run) if "weight_deviation" in line]
    if not epochs:
        return []
    last = epochs[-1]
    return [
        f"in epoch {last['epoch']} of training weights counted as {last['weight_ess']:.1%} of a "
        "batch; here points are those of the best model without dropout, and all pairs one batch"
    ]


def _with_neighbors(settings: Recipe) -> Recipe:
    """Settings with neighbors of which there are several, unless the run weighed by fewer."""
    near = settings.neighbors
    if near.source != "siblings" or isinstance(build_weight(settings), Semantic):
        return settings
    return replace(settings, neighbors=replace(near, source="text"))


def _points(encoded: Encoded) -> Float[np.ndarray, "n k d"]:
    points = encoded.mean[:, None] if encoded.points is None else encoded.points
    return points.float().cpu().numpy()
