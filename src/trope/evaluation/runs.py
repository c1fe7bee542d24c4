"""A trained run and a data set as a source of vectors."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from jaxtyping import Float, Int

from trope import config
from trope.checkpoints import Checkpoint, load_model
from trope.data.kept import FILE as SPLITS
from trope.data.kept import with_kept_splits
from trope.data.pairs import Pairs
from trope.data.readers import open as open_pairs
from trope.data.samples import samples
from trope.data.splits import SplitPlan
from trope.data.wordless import wordless
from trope.encoders.plan import Pictures, Texts
from trope.errors import DataError, UsageError
from trope.evaluation.embedded import Bank, Embedded
from trope.evaluation.fed import fed
from trope.evaluation.gallery import gallery
from trope.evaluation.left_out import left_out
from trope.evaluation.predictions import Predicted
from trope.evaluation.trained import refuse_other
from trope.runtime import generator
from trope.spaces import Doc2Vec, Sentence
from trope.spaces.paragraphs import Training
from trope.views import Encoded

LARGEST_BANK = 20_000  # training queries of a side
SCORED_BANK = 1_000  # where a scorer compares them with all items, which takes far longer


@dataclass(frozen=True, eq=False)
class RunSource:
    """A model and the pairs it is asked about, which have their splits.

    Of a model that reads stored vectors texts need have no words; then nothing is measured by them.
    """

    checkpoint: Checkpoint
    given: Pairs
    threshold: ClassVar[None] = None  # scores of some heads are scaled: one half says nothing
    _kept: dict[str, Embedded] = field(default_factory=dict, repr=False)  # by split

    @cached_property
    def pairs(self) -> Pairs:
        """The pairs as the model reads them."""
        return self.checkpoint.plan.asked(self.given)

    @cached_property
    def has_space(self) -> bool:
        """Whether texts have words to make a space of."""
        stored = self.checkpoint.plan.text.encoder == "precomputed"
        return not stored or not wordless(self.given).any()

    @cached_property
    def pictures(self) -> Pictures:
        """What the image tower is fed for all rows."""
        return self.checkpoint.plan.pictures(self.pairs)

    @cached_property
    def texts(self) -> Texts:
        """What the text tower is fed for all rows."""
        return self.checkpoint.plan.texts(self.pairs)

    def embedded(self, split: str) -> Embedded:
        """Encode the pictures and texts of a split, and of no other; once, whoever asks again."""
        if split not in self._kept:
            self._kept[split] = self._encoded(split)
        return self._kept[split]

    def _encoded(self, split: str, most: int | None = None) -> Embedded:
        """With `most`, at most so many pictures, all of them with labels."""
        given = fed(self.checkpoint.plan, self.pairs, split)
        found = gallery(self.pairs, given.rows, split)
        if most is not None and found.labels is not None:
            found = found.take(_sample(np.flatnonzero(np.diff(found.labels.indptr)), most))
        model = self.checkpoint.model
        image, text = given.encoded(model, found.images, found.texts)
        found = found if self.has_space else replace(found, words=())
        remarks = left_out(self.pairs, given.rows, split, given.failed)
        predicted = self._predicted(image, text)
        return Embedded(found, image, text, predicted, remarks, model.scorer)

    def _predicted(self, image: Encoded, text: Encoded) -> Predicted | None:
        """The scores of labels, where the model predicts them."""
        if image.logits is None or text.logits is None:
            return None
        scores = [torch.sigmoid(one.float()).cpu().numpy() for one in (image.logits, text.logits)]
        plan = self.checkpoint.plan
        return Predicted(plan.labels, scores[0], scores[1], plan.single)

    def bank(self) -> Bank | None:
        """Encode training queries, a sample of them where there are very many."""
        try:
            given = fed(self.checkpoint.plan, self.pairs, "train")
            train = samples(self.pairs, given.rows, "train")
        except DataError:
            return None
        model = self.checkpoint.model
        most = LARGEST_BANK if model.scorer is None else SCORED_BANK
        images, texts = _sample(np.unique(train.images), most), _sample(train.texts, most)
        return Bank(*given.encoded(model, images, texts))

    def validation(self) -> Embedded | None:
        """The validation split, where it has two pictures or more."""
        try:
            found = self.embedded("val")
        except DataError:
            return None
        return found if len(found.gallery.images) > 1 else None

    def training(self) -> Embedded | None:
        """Training pictures with labels, a sample of them where there are very many."""
        try:
            return self._encoded("train", LARGEST_BANK)
        except DataError:
            return None

    def space(self, asked: str) -> str:
        """The space that is named, or that of the run's neighbors."""
        if asked != "run":
            return asked
        settings = self.checkpoint.description.get("settings", {})
        return str(settings.get("neighbors", {}).get("space", "doc2vec"))

    def meaning(self, space: str) -> Float[np.ndarray, "texts d"]:
        """Vectors of all texts in the space the run was trained with, or the one named."""
        text = self.checkpoint.plan.text
        if self.space(space) == "sentence":
            return Sentence(text.model).vectors(self.pairs).values
        return Doc2Vec(Training(size=text.words), text.preparation).vectors(self.pairs).values


def open_run(run: Path, data: Path | Pairs | None) -> tuple[RunSource, tuple[str, ...]]:
    """A run with its data, parted as when it was trained; and what has changed since."""
    checkpoint = load_model(run)
    refuse_other(run)
    pairs = data if isinstance(data, Pairs) else open_pairs(data or data_of(run, checkpoint))
    folder = run if run.is_dir() else run.parent
    settings = checkpoint.description.get("settings", {})
    plan = config.parse(SplitPlan, settings.get("split", {}), f"{run}: split")
    pairs, recognized = with_kept_splits(folder / SPLITS, pairs, plan)
    known = _trained_on(checkpoint).get("data") in (None, pairs.fingerprint)
    if known and (recognized is None or recognized.unchanged):
        return RunSource(checkpoint, pairs), ()
    told = f"{pairs.source}: not the data as it was when {run} was trained"
    unknown = "the run has kept no splits, so that what was trained on may be tested"
    return RunSource(checkpoint, pairs), (f"{told}; {recognized or unknown}",)


def data_of(run: Path, checkpoint: Checkpoint) -> Path:
    """What a run was trained on, where it was then, or beside the run."""
    known = _trained_on(checkpoint)
    folder = (run if run.is_dir() else run.parent).absolute()
    places = [(folder / str(known["source"])).resolve()] if known.get("source") else []
    places += [folder.parent / str(known["root"])] if known.get("root") else []
    for place in places:
        if place.exists():
            return place
    where = f" ({places[0]} is not there)" if places else ""
    raise UsageError(f"{run}: the data it was trained on is not known{where}; name it with --data")


def _trained_on(checkpoint: Checkpoint) -> dict[str, Any]:
    found = checkpoint.description.get("run")
    return found if isinstance(found, dict) else {}


def _sample(numbers: Int[np.ndarray, " items"], most: int) -> Int[np.ndarray, " some"]:
    if len(numbers) <= most:
        return numbers
    chosen = generator(0, "bank").choice(len(numbers), most, replace=False)
    return np.asarray(numbers[np.sort(chosen)])
