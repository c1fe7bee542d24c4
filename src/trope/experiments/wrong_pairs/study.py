"""The study: swap, judge all pairs by every score, and count how many of the swapped come first."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import orjson
import pyarrow as pa
from jaxtyping import Float32, Int, Shaped

from trope.config import plain
from trope.data.components import components
from trope.data.digests import image_digests
from trope.data.documents import dumps
from trope.data.pairs import Pairs
from trope.data.readers import open as open_pairs
from trope.errors import DataError
from trope.experiments.spec import Findings
from trope.experiments.wrong_pairs import WrongPairs
from trope.experiments.wrong_pairs.candidates import Case
from trope.experiments.wrong_pairs.figures import panels, tables
from trope.experiments.wrong_pairs.finding import by_chance, figures, interval
from trope.experiments.wrong_pairs.page import page
from trope.experiments.wrong_pairs.swaps import among_neighbors, at_random, within_groups
from trope.explain.shares import groups_of
from trope.explain.wrong.scores import Hearing
from trope.explain.wrong.sides import Sides, require, ties, usable, vectors_of
from trope.files import write_json
from trope.neighbors import Search, neighbors
from trope.neighbors.rows import copies
from trope.runtime import generator, progress
from trope.spaces import Sentence, Visual

FORM = 1  # of the figures a stopped run leaves behind

Rows: TypeAlias = Int[np.ndarray, " n"]


@dataclass(frozen=True, eq=False)
class Clean:
    """The pairs as they are, before any is swapped."""

    pairs: Pairs = field(repr=False)
    image: Float32[np.ndarray, "n d"] = field(repr=False)
    text: Float32[np.ndarray, "n e"] = field(repr=False)
    digests: Shaped[np.ndarray, " n"] = field(repr=False)
    components: Rows = field(repr=False)
    near: Int[np.ndarray, "n near"] = field(repr=False)


def run(data: Path, parts: Path, settings: WrongPairs) -> Findings:
    """Swap, judge, count, and describe what came out."""
    clean = gather(open_pairs(data), settings)
    found = {
        swap: [
            _part(clean, parts / f"{swap}-{seed}.json", swap, seed, settings)
            for seed in progress(range(settings.seeds), f"{swap} swaps")
        ]
        for swap in settings.swaps
    }
    results = {
        "data": data.resolve().name,
        "pairs": len(clean.pairs),
        "components": len(np.unique(clean.components)),
        "largest": int(np.bincount(clean.components).max()),
        "swaps": {
            swap: described(known, len(clean.pairs), settings.scores)
            for swap, known in found.items()
        },
    }
    return Findings(results, tables(results), panels(results), page)


def gather(pairs: Pairs, settings: WrongPairs) -> Clean:
    """The pairs that take part, as vectors, and what belongs together."""
    if settings.splits:
        pairs = pairs.in_split(*settings.splits)
    if settings.rows and settings.rows < len(pairs):
        chosen = generator(0, "wrong-pairs").choice(len(pairs), settings.rows, replace=False)
        pairs = pairs.take(np.sort(chosen))
    texts, pictures = Sentence().vectors(pairs), Visual().vectors(pairs)
    rows = usable(texts, pictures)
    require(len(rows), pairs)
    image, text = vectors_of(texts, pictures, rows)
    pairs = pairs.take(rows)
    digests = image_digests(pairs).values
    belongs = components(pairs, digests)
    near = neighbors(text, Search(settings.near, "cosine"), belongs).ids
    return Clean(pairs, image, text, digests, belongs, np.asarray(near, np.int64))


def swapped(clean: Clean, swap: str, seed: int, share: float) -> Rows:
    """For every pair, the pair whose texts it has now."""
    count, random = round(share * len(clean.pairs)), generator(seed, "swap", swap)
    if count < 2:
        few = f"{share:.1%} of {len(clean.pairs):,} pairs are {count}, and two are swapped at least"
        raise DataError(f"{clean.pairs.root}: {few}; choose a larger share")
    if swap == "random":
        source = at_random(clean.components, count, random)
    elif swap == "near":
        source = among_neighbors(clean.near, count, random)
    else:
        looks, meanings = copies(clean.image), copies(clean.text)
        source = within_groups(groups_of(clean.pairs), looks, meanings, count, random)
    if not (source != np.arange(len(source))).any():
        raise DataError(f"{clean.pairs.root}: no pairs that can be swapped ({swap})")
    return source


def case(clean: Clean, source: Rows, seed: int, settings: WrongPairs) -> Case:
    """The pairs after a swap, as an archive would hold them: nothing tells who was swapped."""
    text = clean.text[source]
    texts = clean.pairs.column("texts").combine_chunks().take(pa.array(source))
    changed = clean.pairs.with_column("texts", texts)
    tied, _ = ties(clean.image, text, changed, "pairs")
    belongs = components(changed, clean.digests)
    sides = Sides(clean.image, text, tied)
    return Case(sides, belongs, Hearing(settings.k, settings.strength, settings.trust), seed)


def described(parts: list[dict[str, Any]], total: int, scores: tuple[str, ...]) -> dict[str, Any]:
    """Means over seeds with intervals, and differences of average precision from the first score.

    Differences are taken seed by seed.
    """
    table = {
        score: {name: np.array([part["scores"][score][name] for part in parts]) for name in names}
        for score in scores
        for names in [parts[0]["scores"][score]]
    }
    first = table[scores[0]]["ap"]
    return {
        "swapped": parts[0]["swapped"],
        "chance": by_chance(parts[0]["swapped"], total),
        "scores": {
            score: {name: interval(values) for name, values in known.items()}
            | {"gain": interval(known["ap"] - first, least=-1.0)}
            for score, known in table.items()
        },
    }


def _part(clean: Clean, path: Path, swap: str, seed: int, settings: WrongPairs) -> dict[str, Any]:
    """The figures of one seed; what an earlier run found is used again."""
    key = _key(clean, swap, seed, settings)
    if (known := _known(path, key)) is not None:
        return known
    source = swapped(clean, swap, seed, settings.share)
    wrong = source != np.arange(len(source))
    judged = case(clean, source, seed, settings).scores(settings.scores)
    found = {
        "key": key,
        "swapped": int(wrong.sum()),
        "scores": {score: figures(values, wrong) for score, values in judged.items()},
    }
    write_json(path, found)
    return found


def _known(path: Path, key: str) -> dict[str, Any] | None:
    try:
        found = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return None
    return found if isinstance(found, dict) and found.get("key") == key else None


def _key(clean: Clean, swap: str, seed: int, settings: WrongPairs) -> str:
    """What the figures of a seed depend on."""
    chosen = {name: value for name, value in plain(settings).items() if name != "seeds"}
    digest = hashlib.blake2b(dumps([FORM, chosen, swap, seed]), digest_size=16)
    digest.update(clean.pairs.fingerprint.encode())
    for side in (clean.image, clean.text):
        digest.update(np.ascontiguousarray(side).data)
    return digest.hexdigest()
