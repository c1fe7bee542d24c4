"""`trope evaluate`: how well a run retrieves, and whether it is better than another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from trope.cli.options import Json, Sets
from trope.cli.output import print_json
from trope.errors import UsageError


def command(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(metavar="RUN", help="The folder of a run; of several, the mean."),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option("--data", help="Image-text pairs; by default what the run was trained on."),
    ] = None,
    split: Annotated[str, typer.Option("--split", help="train, val or test.")] = "test",
    against: Annotated[
        list[Path] | None,
        typer.Option(
            "--against",
            metavar="RUN",
            help="A run, or a file of vectors, to compare with; may be given again.",
        ),
    ] = None,
    metrics: Annotated[
        str | None,
        typer.Option("--metrics", metavar="NAMES", help="Such as recall@1,asp; default: all."),
    ] = None,
    ways: Annotated[
        str | None,
        typer.Option("--ways", metavar="SIZES", help="Sizes of c-way tasks, such as 5,20,100."),
    ] = None,
    draws: Annotated[
        int, typer.Option("--draws", help="Random tasks a right item; 0: the exact expectation.")
    ] = 0,
    folds: Annotated[
        int, typer.Option("--folds", help="Images of a fold, 1000 for COCO's 1K; 0: no folds.")
    ] = 0,
    hubs: Annotated[
        str, typer.Option("--hubs", metavar="METHOD", help="qb-norm, inverted-softmax or nnn.")
    ] = "none",
    truth: Annotated[
        list[str] | None,
        typer.Option("--truth", help="Of COCO: eccv, cxc or cxc=FOLDER; may be given again."),
    ] = None,
    space: Annotated[
        str, typer.Option("--space", help="Of preservation: run, doc2vec or sentence.")
    ] = "run",
    embeddings: Annotated[
        list[Path] | None,
        typer.Option("--embeddings", metavar="FILE", help="Vectors of another model, not a run."),
    ] = None,
    queries: Annotated[
        Path | None,
        typer.Option("--queries", metavar="FILE", help="The results of every query, as Parquet."),
    ] = None,
    sets: Sets = None,
    json: Json = False,
) -> None:
    """Measure retrieval in both directions, with 95 % intervals."""
    from trope import config
    from trope.cli.evaluation import show
    from trope.evaluation.contest import contest
    from trope.evaluation.job import settings_from
    from trope.evaluation.queries import refuse_foreign, write_queries
    from trope.runtime import remark

    given = {"draws": draws, "folds": folds, "hubs": hubs, "space": space, "metrics": metrics}
    listed: dict[str, Any] = {"truth": truth or [], "ways": _sizes(ways)}
    settings = config.override(settings_from(**given, **listed), sets or ())
    if queries is not None:
        refuse_foreign(queries)
    found = contest(runs or [], against or [], embeddings or [], data, split, settings)
    if queries is not None:
        write_queries(queries, found.measurements)
    for text in found.evaluation.remarks:
        remark(text)
    if json:
        print_json(found.document())
    else:
        show(found)


def _sizes(given: str | None) -> list[int] | None:
    if given is None:
        return None
    try:
        found = [int(part) for part in given.split(",") if part.strip()]
    except ValueError:
        found = []
    if not found:
        raise UsageError(f"--ways '{given}': write sizes as 5,20,100")
    return found
