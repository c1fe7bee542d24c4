"""Tables and figures of the papers, made again. A new one is a file, and a line here."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from trope.experiments.complementary import EXPERIMENT as COMPLEMENTARY
from trope.experiments.complementary_overview import EXPERIMENT as COMPLEMENTARY_OVERVIEW
from trope.experiments.consistency import EXPERIMENT as CONSISTENCY
from trope.experiments.daa import DATA_RATIO
from trope.experiments.daa import EXPERIMENT as DAA
from trope.experiments.folder import run_in
from trope.experiments.label_failures import EXPERIMENT as LABEL_FAILURES
from trope.experiments.label_wise import EXPERIMENT as LABEL_WISE
from trope.experiments.masked_weight import EXPERIMENT as MASKED_WEIGHT
from trope.experiments.mined_positives import EXPERIMENT as MINED_POSITIVES
from trope.experiments.neighborhoods import EXPERIMENT as NEIGHBORHOODS
from trope.experiments.small_data import EXPERIMENT as SMALL_DATA
from trope.experiments.spec import Experiment, Findings
from trope.experiments.wikipedia import EXPERIMENT as WIKIPEDIA
from trope.experiments.wrong_pairs import EXPERIMENT as WRONG_PAIRS

EXPERIMENTS: dict[str, Experiment] = {
    "complementary": COMPLEMENTARY,
    "complementary-overview": COMPLEMENTARY_OVERVIEW,
    "daa": DAA,
    "data-ratio": DATA_RATIO,
    "consistency": CONSISTENCY,
    "label-failures": LABEL_FAILURES,
    "label-wise": LABEL_WISE,
    "masked-weight": MASKED_WEIGHT,
    "mined-positives": MINED_POSITIVES,
    "neighborhoods": NEIGHBORHOODS,
    "small-data": SMALL_DATA,
    "wikipedia": WIKIPEDIA,
    "wrong-pairs": WRONG_PAIRS,
}

__all__ = ["EXPERIMENTS", "Experiment", "Findings", "run"]


def run(
    name: str,
    data: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    sets: Sequence[str] = (),
) -> Findings:
    """Run an experiment on `data` and write tables, plot and page to `out`.

    `sets` are changes to its settings as `name=value`. A run that was stopped goes on where it was.
    """
    return run_in(EXPERIMENTS, name, Path(data), Path(out), sets)
