"""Options that change nothing beside the others: refused, for somebody thinks that they do."""

from __future__ import annotations

from collections.abc import Iterator

from trope.errors import UsageError
from trope.evaluation.selection import PREDICTED, Request
from trope.evaluation.settings import EvaluationSettings

TASKS = ("recall/c-way", "mean-rank/c-way")


def refuse_idle(settings: EvaluationSettings, wanted: Request, coco: bool = False) -> None:
    """Say why an option that was given changes nothing; `coco`: on data with COCO's numbers."""
    for option, why in (*_idle(settings, wanted), *_idle_labels(settings, wanted, coco)):
        raise UsageError(f"{option}: changes nothing {why}")


def _idle(settings: EvaluationSettings, wanted: Request) -> Iterator[tuple[str, str]]:
    hubs, named = settings.hubs, ", ".join(settings.metrics)
    asked = f": --metrics {named}" if named else ""
    if settings.ways and not wanted.families & set(TASKS):
        sizes = ",".join(map(str, settings.ways))
        more = f"beside --metrics {named}: name recall/c-way or mean-rank/c-way"
        yield f"--ways {sizes}", f"{more}, or the size in a metric, as in recall@1/5-way"
    if settings.draws and not any(map(wanted.asks, TASKS)):
        yield f"--draws {settings.draws}", f"without tasks: --metrics {named} asks for none"
    if not wanted.asks("preservation"):
        if settings.space != "run":
            yield f"--space {settings.space}", f"without preservation{asked}"
        if settings.neighbors is not None:
            yield "--set neighbors", f"without preservation{asked}"
    if settings.seed and not settings.draws:
        yield f"--set seed={settings.seed}", "without --draws: nothing else is drawn by it"
    if hubs.method == "none" and hubs.strength is not None:
        yield "--set hubs.strength", "without --hubs"
    if hubs.method != "nnn" and hubs.nearest is not None:
        yield "--set hubs.nearest", "without --hubs nnn"


def _idle_labels(
    settings: EvaluationSettings, wanted: Request, coco: bool
) -> Iterator[tuple[str, str]]:
    if settings.labels != "any" and not wanted.asks("pmrp"):
        yield f"--set labels={settings.labels}", "without pmrp, the one metric that goes by them"
    if settings.labels != "any" and not coco:
        yield f"--set labels={settings.labels}", "on data without COCO's numbers (caption_ids)"
    if settings.threshold is not None and not any(map(wanted.asks, PREDICTED)):
        why = f"without {' or '.join(PREDICTED)}, which are of predicted labels"
        yield f"--set threshold={settings.threshold:g}", why
