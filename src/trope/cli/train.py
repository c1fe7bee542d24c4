"""`trope train`: learn from a data set by a recipe."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

import trope
from trope.cli.options import Sets
from trope.cli.output import say


def command(
    recipe: Annotated[str, typer.Argument(help="A recipe's name, or a TOML file of your own.")],
    data: Annotated[Path, typer.Option("--data", help="A folder or table of image-text pairs.")],
    out: Annotated[Path, typer.Option("--out", help="The folder of the run.")],
    sets: Sets = None,
    seed: Annotated[int, typer.Option("--seed", help="Of everything random.")] = 0,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a stopped run.")] = False,
    scale: Annotated[
        Literal["auto", "small", "large"],
        typer.Option("--scale", help="Which defaults hold; auto goes by the number of pairs."),
    ] = "auto",
) -> None:
    """Train a model; `trope recipes` lists what there is."""
    from trope.training import train

    done = train(
        recipe, trope.open(data), out, sets=sets or (), seed=seed, resume=resume, scale=scale
    )
    progress = done.progress
    best = progress.history[progress.best_epoch]
    say(
        f"{out}: best of {progress.epoch} epochs is {progress.best_epoch + 1}: validation 5-way "
        f"recall {best['val_image_to_text']:.3f} image to text, "
        f"{best['val_text_to_image']:.3f} text to image"
    )
    say(f"next: trope evaluate {out} --data {data}")
