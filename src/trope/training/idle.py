"""Settings that change nothing beside the others: refused where the user asks for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields

from trope.encoders.plan import WORDS as NUMBERED
from trope.encoders.scorers import scorer_settings
from trope.encoders.scorers.matching import Match
from trope.encoders.settings import TransformerSettings
from trope.errors import UsageError
from trope.training.settings import Recipe
from trope.training.small import is_default, setting
from trope.training.task import NEAR, build_loss, build_weight
from trope.weights import CombinedVal, Semantic, Weight
from trope.weights.simple import Random, Uniform
from trope.weights.tempered import Scaled

OF_SENSES = ("diversity", "mmd")  # penalties
GRU = ("hidden", "bidirectional")
WORDS = ("pretrained", "min_count")
TRANSFORMER = [f"head.transformer.{field.name}" for field in fields(TransformerSettings)]


def refuse_idle(settings: Recipe, sets: Sequence[str]) -> list[str]:
    """Refuse what the user sets in vain; a remark on what a recipe sets in vain."""
    idle = idle_settings(settings)
    for change in sets:
        if why := idle.get(setting(change)):
            raise UsageError(f"--set {change}: changes nothing {why}")
    vain = [name for name in idle if not is_default(settings, name)]
    return [f"{name}: changes nothing {idle[name]}" for name in vain]


def idle_settings(settings: Recipe) -> dict[str, str]:
    """The settings that nothing looks at, and why not."""
    return {name: why for why, names in _unused(settings) for name in names}


def _unused(settings: Recipe) -> Iterator[tuple[str, list[str]]]:
    image, text, chosen = settings.image, settings.text, settings.neighbors
    needs = build_loss(settings).needs
    weight = build_weight(settings)
    beside = frozenset() if weight is None else weight.needs
    near = bool(needs & NEAR) or "neighbors" in beside
    meant = "meaning" in needs or "density" in beside
    space = chosen.space if (near and chosen.source == "text") or meant else ""
    yield (
        f"with image.encoder={image.encoder}",
        ["image.normalize" if image.encoder == "tuned" else "image.flip"],
    )
    with_text = f"with text.encoder={text.encoder}"
    if text.encoder != "gru":
        yield with_text, [f"text.{name}" for name in GRU]
    if text.encoder not in NUMBERED:
        yield with_text, [f"text.{name}" for name in WORDS]
        if space != "doc2vec":
            yield with_text, ["text.words"]
    if not text.encoder.startswith("sentence") and space != "sentence":
        yield with_text, ["text.model"]
    frozen = text.encoder in ("sentence", "precomputed")
    yield with_text, ["text.longest" if frozen else "text.normalize"]
    yield from _unused_by_head(settings)
    if settings.loss.get("warm") and not settings.loss.get("hard"):
        yield "where all negatives count from the first step on", ["loss.warm"]
    if not near:
        yield "with a loss that takes no neighbors", ["neighbors.source", "neighbors.k"]
    if weight is not None:
        yield from _unused_by(weight, settings.head.senses)
    if not space:
        yield "where no space of texts is used", ["neighbors.space"]
    if settings.training.schedule == "linear":
        yield "with training.schedule=linear", ["training.decay", "training.patience"]
    yield from _unused_by_scorer(settings)
    if settings.head.senses == 1:
        penalties = [f"penalties.{name}" for name in settings.penalties if name in OF_SENSES]
        yield "with one sense an item", penalties


def _unused_by_scorer(settings: Recipe) -> Iterator[tuple[str, list[str]]]:
    scorer, one = scorer_settings(settings.scorer), settings.head.senses == 1
    if scorer is None:
        yield "where points alone are compared", ["penalties.candidates"]
    if scorer is None and not settings.head.parts:
        yield "with one sense an item", ["image.grid"]
    if one and not isinstance(scorer, Match):
        yield "with one sense an item", ["head.attention"]
    if isinstance(scorer, Match) and "sampled" not in (scorer.form, scorer.asked):
        yield "where nothing is sampled", ["scorer.samples"]


def _unused_by_head(settings: Recipe) -> Iterator[tuple[str, list[str]]]:
    head = settings.head
    if head.kind != "dscmr":
        yield f"with head.kind={head.kind}", ["head.hidden"]
    if head.kind != "transformer":
        yield f"with head.kind={head.kind}", TRANSFORMER
    elif not head.transformer.mask:
        yield "where nothing is masked", ["head.transformer.codes", "loss.masked"]


def _unused_by(weight: Weight, senses: int) -> Iterator[tuple[str, list[str]]]:
    if isinstance(weight, Uniform):
        yield "where all weights are equal", ["weight.permuted", "weight.shuffled"]
    if isinstance(weight, Random):
        yield "where weights know nothing of the pairs", ["weight.shuffled"]
    if not isinstance(weight, Semantic):
        return
    if not weight.sign:
        unseen = [f"weight.{f.name}" for f in fields(weight) if f.name not in ("scale", "sign")]
        yield "with weight.sign=0, where all weights are equal", unseen
    if weight.measures == ("discrepancy",) and weight.steps == 1:
        yield "with weight.steps=1: no pair is its own neighbor", ["weight.itself"]
    if isinstance(weight, Scaled) and weight.sign and not weight.signed:
        yield "where the difference of images and texts counts", ["weight.sign"]
    if isinstance(weight, CombinedVal) and weight.chosen:
        yield "where beta and gamma are given", ["weight.share", "weight.epochs"]
    if "discrepancy" not in weight.measures:
        yield "with a weight that does not look at discrepancy", ["weight.steps"]
    if senses == 1:
        yield "with one sense an item", ["weight.senses"]
