"""Scorers: what compares images with texts itself, where a cosine of two points is not enough."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from trope import config
from trope.encoders.scorers.comparing import Comparing
from trope.encoders.scorers.filtration import Saf, Sgraf
from trope.encoders.scorers.matching import Match
from trope.encoders.scorers.reasoning import Sgr
from trope.errors import UsageError, suggestion

COSINE = "cosine"  # of two points: no scorer at all

ScorerSettings: TypeAlias = Match | Sgr | Saf | Sgraf

SCORERS: dict[str, type[ScorerSettings]] = {
    "match": Match,
    "sgr": Sgr,
    "saf": Saf,
    "sgraf": Sgraf,
}


def scorer_settings(table: Mapping[str, Any]) -> ScorerSettings | None:
    """The scorer that a table of settings names, its options checked; None for the cosine."""
    options: dict[str, Any] = dict(table)
    name = options.pop("name", COSINE)
    if name == COSINE:
        if options:
            raise UsageError(f"scorer 'cosine': no option '{next(iter(options))}'")
        return None
    if name not in SCORERS:
        raise UsageError(f"scorer: no scorer '{name}'{suggestion(str(name), [COSINE, *SCORERS])}")
    return config.parse(SCORERS[name], options, f"scorer '{name}'")


def build_scorer(table: Mapping[str, Any], dimensions: int) -> Comparing | None:
    """The scorer with new weights, for a joint space of so many dimensions."""
    settings = scorer_settings(table)
    return None if settings is None else settings.module(dimensions)
