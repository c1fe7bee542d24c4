"""Everything a run needs before its first step: model, inputs, pairs, neighbors, teachers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from trope import config
from trope.data.pairs import Pairs
from trope.data.samples import Samples, samples
from trope.data.unusable import unusable
from trope.encoders import Model, Plan
from trope.encoders.bert import start_layers
from trope.encoders.gru import Gru
from trope.encoders.inputs import Inputs
from trope.encoders.scorers import scorer_settings
from trope.encoders.words import WordVectors
from trope.errors import DataError, UsageError, suggestion
from trope.losses import DAA, LOSSES, PENALTIES, Loss
from trope.neighbors import Search, cached_neighbors
from trope.neighbors.siblings import siblings
from trope.spaces import Doc2Vec, Sentence, Vectors, Visual
from trope.spaces.paragraphs import Training
from trope.training.blank import told_of_blank
from trope.training.graded import Graded, graded
from trope.training.labeled import Labeled, labeled, refuse_unread
from trope.training.masked import start_codes, with_targets
from trope.training.optimizer import groups
from trope.training.pictures import usable
from trope.training.settings import Recipe
from trope.weights import WEIGHTS, Density, Weight, density
from trope.weights.hubs import Hubs
from trope.wording import counted

BY_OTHER_NAMES = {  # recipes and authors whose weight has a name of its own
    "amrani": "density",
    "distance-weighted": "distance",
    "hal": "hubs",
    "mithun": "rank",
    "random-weights": "random",
    "uniform-lambda": "uniform",
    "wu": "distance",
}
MANY = 0.5  # of all pairs: more are no neighborhood
NEAR = frozenset({"near-image", "near-text"})

Ids = Int[np.ndarray, "samples k"]
Meaning = Float[Tensor, "samples meaning"]
Look = Float[Tensor, "samples look"]


@dataclass(frozen=True, eq=False)
class Task:
    """What is trained, on what: fixed for the whole run."""

    plan: Plan
    model: Model
    loss: Loss
    ids: list[str]  # of the row each text belongs to
    images: Inputs
    texts: Inputs
    train: Samples
    val: Samples
    near: Ids | None
    meaning: Meaning | None
    look: Look | None
    remarks: tuple[str, ...]
    weight: Weight | None = None
    around: Ids | None = None  # the neighbors of each pair that the weight looks at
    density: Float[np.ndarray, " samples"] | None = None
    relevance: Graded | None = None
    val_relevance: Graded | None = None
    labels: Labeled | None = None


class Parts(NamedTuple):
    """What a loss needs besides the pairs themselves, and what a weight does."""

    near: Ids | None = None
    meaning: Meaning | None = None
    look: Look | None = None
    remarks: tuple[str, ...] = ()
    around: Ids | None = None
    density: Float[np.ndarray, " samples"] | None = None
    relevance: tuple[Graded | None, Graded | None] = (None, None)


def prepare(pairs: Pairs, settings: Recipe, seed: int, processes: int = 1) -> Task:
    """Build it all; what does not fit together is refused here, before any training."""
    loss = build_loss(settings)
    weight = build_weight(settings)
    refuse_unscored(settings)
    refuse_unread(settings, loss)
    plan = Plan(settings.image, settings.text, settings.head, scorer=settings.scorer)
    pairs = plan.asked(pairs)
    plan = plan.fitted(pairs)
    pictures, texts = usable(plan.pictures(pairs, seed), pairs, "train", "val"), plan.texts(pairs)
    plan = replace(plan, image_size=pictures.size, text_size=texts.size)
    plan, unmasked = with_targets(plan, pictures, texts)
    train, val = (samples(pairs, pictures.rows, split) for split in ("train", "val"))
    if len(train) < (least := max(2, processes)):
        raise DataError(
            f"{pairs.root}: split 'train' has {counted(len(train), 'pair')} with a text and a "
            f"usable image; training needs {least}"
        )
    parts = _parts(pairs, settings, loss, weight, train, val)
    labels = labeled(pairs, plan, train, val)
    plan = plan if labels is None else replace(plan, single=labels.single)
    model = plan.model(seed)
    _start_words(model, plan, pairs)
    start_codes(model, {"image": pictures.inputs, "text": texts.inputs}, train, seed)
    start_layers(model, plan.head)
    groups(model, loss, settings.training)
    remarks = [*pictures.remarks, *texts.remarks, *parts.remarks, *unmasked]
    remarks += [] if labels is None else labels.remarks
    remarks += [] if settings.text.encoder == "precomputed" else told_of_blank(pairs, train)
    if failed := pictures.failed:
        first = unusable(pairs, *failed[0])
        remarks.append(f"pictures left out: {len(failed):,}, the first {first}")
    return Task(
        plan,
        model,
        loss,
        np.repeat(np.array(pairs.ids, object), pairs.text_counts).tolist(),
        pictures.inputs,
        texts.inputs,
        train,
        val,
        parts.near,
        parts.meaning,
        parts.look,
        tuple(remarks),
        weight,
        parts.around,
        parts.density,
        *parts.relevance,
        labels,
    )


def build_loss(settings: Recipe) -> Loss:
    """The loss a recipe names, its options checked; penalties are looked at too."""
    options: dict[str, Any] = dict(settings.loss)
    name = options.pop("name", None)
    if name not in LOSSES:
        raise UsageError(f"loss: no loss '{name}'{suggestion(str(name), LOSSES)}")
    for penalty in settings.penalties:
        if penalty not in PENALTIES:
            raise UsageError(f"penalties: no penalty '{penalty}'{suggestion(penalty, PENALTIES)}")
    loss = config.parse(LOSSES[name], options, f"loss '{name}'")
    if "odds" in loss.needs and settings.scorer["name"] != "match":
        raise UsageError(f"loss '{name}': is of how likely a match is; set scorer.name=match")
    return loss if settings.daa is None else DAA(loss, settings.daa)


def spelled(settings: Recipe) -> Recipe:
    """The same with every option of loss, weight and scorer: no default is left to guess."""
    loss = build_loss(replace(settings, daa=None))
    weight, scorer = build_weight(settings), scorer_settings(settings.scorer)
    chosen: dict[str, Any] = {"loss": _table(settings.loss["name"], loss)}
    if settings.weight is not None:
        chosen["weight"] = _table(settings.weight["name"], weight)
    if scorer is not None:
        chosen["scorer"] = _table(settings.scorer["name"], scorer)
    return replace(settings, **chosen)


def _table(name: str, options: object) -> dict[str, Any]:
    return {"name": name, **config.plain(options)}


def refuse_unscored(settings: Recipe) -> None:
    """Refuse what does not go with a model that compares pairs itself."""
    scorer, loss = scorer_settings(settings.scorer), settings.loss["name"]
    if scorer is None:
        return
    name = settings.scorer["name"]
    if settings.head.kind != "linear":
        raise UsageError(f"scorer '{name}': has a head of its own; set head.kind=linear")
    if settings.head.senses > 1:
        what = "parts of items" if scorer.locals else "distributions"
        raise UsageError(f"scorer '{name}': compares {what}; set head.senses=1")
    if not LOSSES[loss].takes_scores:
        raise UsageError(
            f"scorer '{name}': loss '{loss}' adds points of images and texts, and does not ask "
            "for scores; take triplet, hal, infonce or siglip"
        )
    if isinstance(build_weight(settings), Hubs):
        raise UsageError(
            f"scorer '{name}': weight 'hubs' compares a batch with all other pairs by their points"
        )


def build_weight(settings: Recipe) -> Weight | None:
    """The weight a recipe names, if any; one that its loss cannot apply is refused."""
    if settings.weight is None:
        return None
    options: dict[str, Any] = dict(settings.weight)
    name = options.pop("name", None)
    if name is None:
        raise UsageError(f"weight: has no name, only {', '.join(options)}; set weight.name")
    if name not in WEIGHTS:
        raise UsageError(f"weight: no weight '{name}'{_meant(str(name))}")
    weight = config.parse(WEIGHTS[name], options, f"weight '{name}'")
    loss = settings.loss["name"]
    if weight.gives != "pairs" and not build_loss(settings).applies(weight.gives):
        told = (
            f"weight '{name}': gives weights of {weight.gives}, which loss '{loss}' does not take"
        )
        hard = " with hard=true" if weight.gives in LOSSES[loss].takes else ""
        raise UsageError(told + hard)
    return weight


def _meant(name: str) -> str:
    """The weight of a recipe or an author by that name, or one that is spelled alike."""
    if name in BY_OTHER_NAMES:
        return f"; did you mean '{BY_OTHER_NAMES[name]}'?"
    return suggestion(name, WEIGHTS)


def _parts(
    pairs: Pairs,
    settings: Recipe,
    loss: Loss,
    weight: Weight | None,
    train: Samples,
    val: Samples,
) -> Parts:
    near = meaning = look = around = None
    remarks: tuple[str, ...] = ()
    if loss.needs & NEAR:
        near, remarks = neighbors_in(pairs, settings, train)
    if weight is not None and "neighbors" in weight.needs:
        around, remarks = neighbors_in(pairs, settings, train)
    if "meaning" in loss.needs:
        vectors = _text_space(settings).vectors(pairs)
        meaning, remarks = torch.from_numpy(vectors.values[train.texts]), vectors.remarks
    if "look" in loss.needs:
        look = torch.from_numpy(_looks(pairs, settings, train))
    known = _density(pairs, settings, weight, train) if isinstance(weight, Density) else None
    said: tuple[Graded | None, Graded | None] = (None, None)
    if settings.daa is not None:
        said = graded(pairs, settings.daa.relevance, settings.text.preparation, train, val)
    return Parts(near, meaning, look, remarks, around, known, said)


def neighbors_in(pairs: Pairs, settings: Recipe, train: Samples) -> tuple[Ids, tuple[str, ...]]:
    """The pairs that may stand beside each pair, nearest first, -1 where there are fewer."""
    chosen = settings.neighbors
    if chosen.source == "siblings":
        return siblings(train.images, chosen.k), ()
    remarks: tuple[str, ...] = ()
    if chosen.source == "text":
        found = _text_space(settings).vectors(pairs)
        values, remarks = found.values[train.texts], found.remarks
    else:
        values = _looks(pairs, settings, train)
    search = Search(min(chosen.k, max(len(train) - 1, 1)))
    if len(train) > 1 and search.k > MANY * len(train):
        most = f"neighbors.k={chosen.k}: {counted(search.k, 'neighbor')} of {len(train):,} are most"
        remarks = (*remarks, f"{most} of the pairs, and one neighborhood is hardly another")
    return np.asarray(cached_neighbors(values, search, train.images).ids), remarks


def _density(
    pairs: Pairs, settings: Recipe, weight: Density, train: Samples
) -> Float[np.ndarray, " samples"]:
    """How densely other pairs lie around each, by look and by meaning."""
    meaning = _text_space(settings).vectors(pairs).values[train.texts]
    same = np.stack([train.images, train.meaning])
    return density(_looks(pairs, settings, train), meaning, same, weight.k)


def _text_space(settings: Recipe) -> Doc2Vec | Sentence:
    if settings.neighbors.space == "sentence":
        return Sentence(settings.text.model)
    return Doc2Vec(Training(size=settings.text.words), settings.text.preparation)


def _looks(pairs: Pairs, settings: Recipe, train: Samples) -> Float[np.ndarray, "samples d"]:
    """The frozen backbone's vector of each sample's picture."""
    vectors: Vectors = Visual(settings.image.backbone).vectors(pairs)
    owners = pairs.flat_texts()[1]
    return np.asarray(vectors.values[owners[train.texts]])


def _start_words(model: Model, plan: Plan, pairs: Pairs) -> None:
    """Words known to Doc2Vec start with the vectors it learned on the training texts."""
    encoder = model.text.encoder
    if not isinstance(encoder, (Gru, WordVectors)) or not plan.text.pretrained:
        return
    found = Doc2Vec(Training(size=plan.text.words), plan.text.preparation).model(pairs)
    known = {word: i for i, word in enumerate(found.words)}
    vectors = np.zeros((len(plan.words) + 2, plan.text.words), np.float32)
    rows = [(i + 2, known[word]) for i, word in enumerate(plan.words) if word in known]
    ours, theirs = np.array(rows, np.int64).reshape(-1, 2).T
    vectors[ours] = found.word_vectors[theirs]
    encoder.start_from(torch.from_numpy(vectors))
