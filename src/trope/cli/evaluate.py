"""`trope evaluate`: how well a run retrieves."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import trope
from trope import config
from trope.cli.options import Json
from trope.cli.output import print_json, say, table


def command(
    run: Annotated[Path, typer.Argument(help="The folder of a run.")],
    data: Annotated[Path, typer.Option("--data", help="A folder or table of image-text pairs.")],
    split: Annotated[str, typer.Option("--split", help="train, val or test.")] = "test",
    json: Json = False,
) -> None:
    """Measure retrieval in both directions, with 95 % intervals."""
    from trope.checkpoints import load_model
    from trope.data.splits import SplitPlan
    from trope.data.splits import split as split_pairs
    from trope.evaluation import evaluate

    checkpoint = load_model(run)
    plan = config.parse(SplitPlan, checkpoint.description["settings"]["split"], str(run))
    pairs, _ = split_pairs(trope.open(data), plan)
    found = evaluate(checkpoint, pairs, split)
    if json:
        print_json(found.document() | {"run": str(run), "data": str(data), "split": split})
        return
    say(f"{run} on {split} of {data}: {found.images:,} images, {found.texts:,} texts", style="bold")
    rows = [
        [name, _shown(found.image_to_text[name]), _shown(found.text_to_image[name])]
        for name in found.image_to_text
        if name in found.text_to_image
    ]
    table("", ["", "image to text", "text to image"], rows)


def _shown(result: object) -> str:
    value, low, high = (getattr(result, name) for name in ("value", "low", "high"))
    return f"{value:.3f} [{low:.3f}, {high:.3f}]"
