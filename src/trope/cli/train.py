"""`trope train`: learn from a data set by a recipe."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Literal

import typer

import trope
from trope.cli.options import Sets
from trope.cli.output import say
from trope.errors import TropeError


class Stopped(TropeError):  # noqa: N818
    """Ended by Ctrl-C or a request of the system; what was learned is saved."""

    exit_code = 130


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

    pairs = trope.open(data)
    try:
        done = train(recipe, pairs, out, sets=sets or (), seed=seed, resume=resume, scale=scale)
    except KeyboardInterrupt:
        again = ["trope", "train", recipe, "--data", str(data), "--out", str(out)]
        again += [word for change in sets or () for word in ("--set", change)]
        again += ["--seed", str(seed)] * (seed != 0) + ["--scale", scale] * (scale != "auto")
        raise Stopped(f"stopped; to go on: {shlex.join([*again, '--resume'])}") from None
    progress = done.progress
    best = progress.history[progress.best_epoch]
    say(f"{out}: best of {progress.epoch} epochs is {progress.best_epoch + 1}: {found(best)}")
    say(f"next: trope evaluate {out} --data {data}")


def found(line: dict[str, float]) -> str:
    """What validation found after an epoch."""
    if "val_image_to_text" not in line:
        return f"validation loss {line['val_loss']:.4f}"
    return (
        f"validation 5-way recall {line['val_image_to_text']:.3f} image to text, "
        f"{line['val_text_to_image']:.3f} text to image"
    )
