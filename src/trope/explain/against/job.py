"""The whole job: from two finished runs to a page of what each keeps together."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from jaxtyping import Bool, Int

from trope import config
from trope.data.kept import FILE as SPLITS
from trope.data.pairs import Pairs
from trope.data.samples import Samples, samples
from trope.encoders import Model
from trope.errors import DataError, UsageError
from trope.evaluation.fed import Fed, fed
from trope.evaluation.runs import RunSource, open_run
from trope.evaluation.scoring import some
from trope.explain.against.distances import Couples, anyone, distances, neighboring, ratios
from trope.explain.against.findings import Contrast, Couple, Kept
from trope.explain.cards import text_card
from trope.explain.page import write_page
from trope.files import refuse_existing, replacing_folder, write_json
from trope.runtime import generator, provenance
from trope.training import Recipe
from trope.training.task import neighbors_in
from trope.views import Encoded

SIDES = ("image", "text")


@dataclass(frozen=True)
class AgainstSettings:
    """Of which `split`, how many couples of neighbors are looked at, and how many are shown."""

    split: Literal["train", "val", "test"] = "train"
    pairs: int = 6
    sample: int = 10_000
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("pairs", "sample"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, found {getattr(self, name)}")


@dataclass(frozen=True, eq=False)
class Placed:
    """The pairs of a split, by number, where one run and where the other places them."""

    pairs: Pairs
    chosen: Samples
    one: dict[str, Encoded]
    other: dict[str, Encoded]


def explain_against(
    run: str | os.PathLike[str],
    against: str | os.PathLike[str],
    out: str | os.PathLike[str],
    data: Path | Pairs | None = None,
    settings: AgainstSettings | None = None,
) -> tuple[Contrast, dict[str, Any]]:
    """Write `index.html`, its pictures and `against.json` to a new folder `out`.

    Returns what was found, and the JSON document that was written.
    """
    settings, out = settings or AgainstSettings(), Path(out)
    refuse_existing(out)
    found, pairs = contrast(Path(run), Path(against), data, settings)
    made = {"config": config.plain(settings), "provenance": provenance()}
    document = found.document() | made
    with replacing_folder(out, fresh=True) as folder:
        write_page(folder, "against.html", pairs, found, small=found.cards())
        write_json(folder / "against.json", document)
    return found, document


def contrast(
    run: Path, against: Path, data: Path | Pairs | None, settings: AgainstSettings
) -> tuple[Contrast, Pairs]:
    """What each run keeps closer than the other, of pairs parted as the first was trained."""
    one, other = _names(run, against)
    source, remarks = open_run(run, data)
    theirs, more = open_run(against, source.pairs)
    remarks = (*remarks, *more, *_parted(source, theirs, against))
    placed = _placed(source, RunSource(theirs.checkpoint, source.pairs), settings.split)
    recipe = _recipe(source, run)
    around, said = neighbors_in(source.pairs, recipe, placed.chosen)
    random = generator(settings.seed, "against")
    couples = neighboring(np.asarray(around), settings.sample, random)
    if not couples.size:
        raise DataError(f"{source.pairs.root}: no two texts of split '{settings.split}' are near")
    strangers = anyone(len(placed.chosen), couples.shape[1], random)
    found = Contrast(
        one=one,
        other=other,
        data=Path(source.pairs.root).absolute().name,
        split=settings.split,
        pairs=len(placed.chosen),
        neighbors=f"{around.shape[1]} nearest in the space {recipe.neighbors.space}",
        kept={side: _kept(placed, side, couples, strangers, settings.pairs) for side in SIDES},
        remarks=(*remarks, *said),
    )
    return found, source.pairs


def _placed(one: RunSource, other: RunSource, split: str) -> Placed:
    """Encode the pairs of a split by both; those that one of them cannot see are left out."""
    ours, theirs = (fed(run.checkpoint.plan, run.pairs, split) for run in (one, other))
    chosen = samples(one.pairs, ours.rows, split)
    pictures = theirs.rows[one.pairs.flat_texts()[1][chosen.texts]]
    kept = np.flatnonzero(pictures >= 0)
    if len(kept) < 2:
        raise DataError(f"{one.pairs.root}: split '{split}' has fewer than two pairs to compare")
    chosen = Samples(chosen.texts[kept], chosen.images[kept], chosen.meaning[kept])
    return Placed(
        one.pairs,
        chosen,
        _encoded(one.checkpoint.model, ours, chosen.texts, chosen.images),
        _encoded(other.checkpoint.model, theirs, chosen.texts, pictures[kept]),
    )


def _encoded(
    model: Model, given: Fed, texts: Int[np.ndarray, " n"], images: Int[np.ndarray, " n"]
) -> dict[str, Encoded]:
    numbers, place = np.unique(images, return_inverse=True)
    image, text = given.encoded(model, numbers, texts, parts=False)
    return {"image": some(image, place), "text": text}


def _kept(placed: Placed, side: str, couples: Couples, strangers: Couples, shown: int) -> Kept:
    one, other = (distances(where[side], couples) for where in (placed.one, placed.other))
    found = ratios(one, other)
    there: Bool[np.ndarray, " couples"] = ~np.isnan(found)
    couples, one, other, found = couples[:, there], one[there], other[there], found[there]
    if not len(found):
        raise DataError(f"{placed.pairs.root}: neighboring {side}s all lie at one point")
    order = np.argsort(found, kind="stable")

    def records(places: Int[np.ndarray, " some"]) -> tuple[Couple, ...]:
        return tuple(_couple(placed, couples[:, i], found[i], one[i], other[i]) for i in places)

    far = [distances(where[side], strangers) for where in (placed.one, placed.other)]
    afar = ratios(*far)
    nearer, farther = order[found[order] < 1], order[::-1][found[order[::-1]] > 1]
    return Kept(
        couples=len(found),
        closer=float((found < 1).mean()),
        strangers=float((afar[~np.isnan(afar)] < 1).mean()) if not np.isnan(afar).all() else 0.0,
        median=float(np.median(found)),
        near=(float(one.mean()), float(other.mean())),
        any=(float(far[0].mean()), float(far[1].mean())),
        by_one=records(nearer[:shown]),
        by_other=records(farther[:shown]),
    )


def _couple(
    placed: Placed, couple: Int[np.ndarray, " two"], ratio: float, one: float, other: float
) -> Couple:
    left, right = (text_card(placed.pairs, int(placed.chosen.texts[i])) for i in couple)
    return Couple(left, right, float(ratio), float(one), float(other))


def _recipe(source: RunSource, run: Path) -> Recipe:
    """The settings of a run, with neighbors by meaning whatever it was trained with."""
    known = source.checkpoint.description.get("settings", {})
    recipe = config.parse(Recipe, known, f"{run}: settings")
    return replace(recipe, neighbors=replace(recipe.neighbors, source="text"))


def _parted(one: RunSource, other: RunSource, against: Path) -> tuple[str, ...]:
    """A remark where the runs were not trained on the same rows, or where nobody knows.

    A run without splits of its own takes over those that the rows have, which are the first's.
    """
    folder = against if against.is_dir() else against.parent
    if not (folder / SPLITS).exists():
        told = "the second run has kept no splits: which rows it was trained on is not known"
        return (f"{told}; splits here are those of the first",)
    if one.pairs.column("split").equals(other.pairs.column("split")):
        return ()
    return ("the runs were not trained on the same rows; splits here are those of the first",)


def _names(run: Path, against: Path) -> tuple[str, str]:
    """What to call the runs; their folders' names, as far up as they differ."""
    one, other = run.absolute().parts[1:], against.absolute().parts[1:]
    if one == other:
        raise UsageError(f"{run}: a run is not compared with itself")
    for depth in range(1, max(len(one), len(other)) + 1):
        if one[-depth:] != other[-depth:]:
            break
    return "/".join(one[-depth:]), "/".join(other[-depth:])
