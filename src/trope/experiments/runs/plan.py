"""Which trainings an experiment consists of, and by what name each is known on disk."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass

from trope import config
from trope.data.documents import dumps
from trope.data.pairs import Pairs
from trope.data.ratio import fewer_rows, training_ratio
from trope.data.retold import retold
from trope.data.splits import split
from trope.experiments.runs.measure import USUAL, Asked
from trope.training import Recipe, load_recipe, resolve
from trope.training.idle import refuse_idle
from trope.training.settings import WORDS_ONLY
from trope.training.small import Scale

FORM = 1  # of what is kept of a run


@dataclass(frozen=True)
class Variant:
    """What is compared: a recipe with changes, written like `--set`.

    It is trained on so many `rows` (0: all), and on a `share` of what these hold, and measured on
    so many rows of test (`asked`; 0: all). `text` is a column that takes the place of the texts, as
    in `retold`.
    """

    name: str
    recipe: str
    sets: tuple[str, ...] = ()
    scale: Scale = "auto"
    rows: int = 0
    share: float = 1.0
    text: str = ""
    asked: int = 0

    def taken(self, pairs: Pairs) -> Pairs:
        """The data as this variant is trained and measured on it; validation is whole."""
        if self.text:
            pairs = retold(pairs, self.text)
        if not self.rows and not self.asked and self.share == 1:
            return pairs
        plan = config.override(load_recipe(self.recipe), self.sets).split
        parted = split(pairs, plan)[0]
        fewer = fewer_rows(parted, self.rows) if self.rows else parted
        fewer = fewer_rows(fewer, self.asked, "test") if self.asked else fewer
        return fewer if self.share == 1 else training_ratio(fewer, self.share)


@dataclass(frozen=True)
class Run:
    """One training. Runs of one seed start from the same weights and see the same batches."""

    variant: Variant
    seed: int

    def __str__(self) -> str:
        return f"{self.variant.name}, seed {self.seed}"


def ordered(variants: Iterable[Variant], seeds: int) -> list[Run]:
    """Seed by seed, so that an experiment that is stopped early has as many runs of each."""
    known = list(variants)
    return [Run(variant, seed) for seed in range(seeds) for variant in known]


def resolved(variant: Variant, pairs: Pairs) -> Recipe:
    """The settings that training will take for these pairs, which are the variant's."""
    recipe = load_recipe(variant.recipe)
    changed = config.override(recipe, variant.sets)
    count = int(split(pairs, changed.split)[0].in_split("train").text_counts.sum())
    settings = resolve(recipe, variant.sets, count, variant.scale)
    refuse_idle(settings, variant.sets)
    return settings


def name(run: Run, settings: Recipe, pairs: Pairs, part: str, measure: Asked = USUAL) -> str:
    """A file name that holds for these settings, this data and this seed, and no other."""
    chosen = {k: v for k, v in config.plain(settings).items() if k not in WORDS_ONLY}
    made_of = [FORM, pairs.fingerprint, chosen, run.variant.recipe, run.seed, part]
    made_of += [] if measure == USUAL else [config.plain(measure)]
    key = hashlib.blake2b(dumps(made_of), digest_size=8).hexdigest()
    words = re.sub(r"[^a-z0-9.=]+", "-", run.variant.name.lower()).strip("-")
    return f"{words[:60]}-{run.seed}-{key}"
