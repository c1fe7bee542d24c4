"""What an experiment is: a table or figure of a paper, made again by one command."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trope.reports.plots import Panel
from trope.reports.tables import Table


@dataclass(frozen=True)
class Findings:
    """What came of an experiment: every figure, the tables and the plot, and a page about them.

    `page` makes the page from the whole of `results.json`, and of nothing else.
    """

    results: dict[str, Any]
    tables: tuple[Table, ...]
    panels: tuple[Panel, ...]
    page: Callable[[Mapping[str, Any]], str]


@dataclass(frozen=True)
class Experiment:
    """A named experiment: `run` takes the data, a folder to resume from, and the settings.

    `loose` settings may be others when a folder is used again: what is finished there bears the
    name of all that it depends on.
    """

    title: str
    paper: str
    data: str
    settings: type
    run: Callable[[Path, Path, Any], Findings]
    loose: frozenset[str] = frozenset()
