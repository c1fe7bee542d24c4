"""`trope train`: learn from a data set by a recipe."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import trope
from trope.cli.options import Sets
from trope.cli.output import say
from trope.errors import TropeError
from trope.wording import counted

SAYING = 5.0  # seconds in which the first process says why: torchrun ends it when others have ended


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
    from trope.training.processes import Elsewhere, first_process

    again = [*launcher(os.environ), "train", recipe, "--data", str(data), "--out", str(out)]
    again += [word for change in sets or () for word in ("--set", change)]
    again += ["--seed", str(seed)] * (seed != 0) + ["--scale", scale] * (scale != "auto")
    go_on = f"to go on: {shlex.join([*again, '--resume'])}"
    try:
        pairs = trope.open(data)
        done = train(recipe, pairs, out, sets=sets or (), seed=seed, resume=resume, scale=scale)
    except Elsewhere as error:
        if first_process():
            raise TropeError(f"{error}; {go_on}") from None
        time.sleep(SAYING)
        raise SystemExit(error.exit_code) from None
    except TropeError:
        if not first_process():
            time.sleep(SAYING)  # and if the first has nothing to say, this one does
        raise
    except KeyboardInterrupt:
        if not first_process():
            raise SystemExit(Stopped.exit_code) from None
        raise Stopped(f"stopped; {go_on}") from None
    if not first_process():
        return
    progress = done.progress
    best = progress.history[progress.best_epoch]
    epochs = counted(progress.epoch, "epoch")
    say(
        f"{out}: best of {epochs} is {progress.best_epoch + 1}: "
        f"{found(best, done.settings.training.select)}"
    )
    then = f"next: trope evaluate {out} --data {data}"
    say(then if done.rows["test"] else f"{then} --split val (no row is of test)")


def launcher(environment: Mapping[str, str]) -> list[str]:
    """How this process was started, as far as its environment tells."""
    if "TORCHELASTIC_RUN_ID" not in environment:
        return ["trope"]
    nodes, beside = (environment.get(f"{of}_WORLD_SIZE", "1") for of in ("GROUP", "LOCAL"))
    where = [] if nodes == "1" else ["--nnodes", nodes, "--rdzv-backend", "c10d"]
    where += [] if nodes == "1" else ["--rdzv-endpoint", "HOST:PORT"]
    return ["torchrun", *where, "--nproc-per-node", beside, "-m", "trope"]


def found(line: Mapping[str, Any], select: str) -> str:
    """What validation found after an epoch, NDCG first where it has selected."""
    measures = {"NDCG": "val_ndcg_"} if select == "labels" else {}
    measures["5-way recall"] = "val_"
    known = [
        f"{name} {line[f'{start}image_to_text']:.3f} image to text, "
        f"{line[f'{start}text_to_image']:.3f} text to image"
        for name, start in measures.items()
        if f"{start}image_to_text" in line
    ]
    return f"validation {'; '.join(known) or 'loss {:.4f}'.format(line['val_loss'])}"
