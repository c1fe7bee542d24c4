"""Weights for complementary pairs over several data sets (Thomas & Kovashka 2022, Table 2)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from trope.experiments.spec import Experiment, Findings


@dataclass(frozen=True)
class Overview:
    """All that was measured is shown.

    `literal` are the folders of data whose texts describe their pictures: their order of recipes is
    held against that of the paper's literal data, that of all others against its abstract data.
    `notes` are sentences about these results that a reader should know.
    """

    literal: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def _run(data: Path, parts: Path, settings: Overview) -> Findings:
    # Imported when it runs: the list of experiments must not cost what an experiment needs.
    from trope.experiments.complementary_overview.study import run

    return run(data, settings)


EXPERIMENT = Experiment(
    title="On which data do weights for complementary pairs help?",
    paper="Thomas & Kovashka 2022, Emphasizing Complementary Samples, Table 2",
    data="a folder with one of `trope experiment complementary` for each data set",
    settings=Overview,
    run=_run,
)
