"""A run as a model repository in the layout of Hugging Face, and back: folders on disk.

`model.safetensors` holds the model with its description, so that the folder can be used like a run;
`config.json` says the same for people and programs, `README.md` is the card. The network is asked
only by `publish` and by `fetch(…, download=True)`.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from trope.checkpoints import FILE, Checkpoint, load_model
from trope.data.kept import FILE as SPLITS
from trope.errors import MissingExtra, TropeError, UsageError
from trope.files import place, replacing, replacing_folder, write_json

CONFIG, CARD, SETTINGS = "config.json", "README.md", "config.toml"
KEPT = (FILE, SPLITS, SETTINGS)  # of a run, as they are
SENT = (*KEPT, CONFIG, CARD)  # of a repository, to the hub


def write_repository(run: Path, out: Path, name: str = "") -> Path:
    """The files of a run that others need, in a new folder with a card.

    `run` may be a file of weights: it is the model then, whatever lies beside it.
    """
    checkpoint = load_model(run)
    home, model = (run, run / FILE) if run.is_dir() else (run.parent, run)
    with replacing_folder(out, fresh=True) as folder:
        place(model, folder / FILE)
        _bring(home, folder)
        about = {
            key: checkpoint.description[key]
            for key in ("format", "settings", "run", "plan")
            if key in checkpoint.description
        }
        about["plan"] = {k: v for k, v in about["plan"].items() if k != "words"}
        write_json(folder / CONFIG, {"model_type": "trope", "library_name": "trope", **about})
        with replacing(folder / CARD, "w") as card:
            card.write(_card(checkpoint, name or home.resolve().name))
    return out


def fetch(source: str, out: Path, *, download: bool = False) -> Path:
    """A repository on disk, or with `download` one of the hub, as a folder to use like a run."""
    folder = Path(source).expanduser()
    if not folder.is_dir():
        if not download:
            raise UsageError(f"{source}: no such folder; the network is asked only with --download")
        folder = Path(_asked("snapshot_download", repo_id=source, allow_patterns=[*KEPT]))
    load_model(folder)
    with replacing_folder(out, fresh=True) as partial:
        _bring(folder, partial)
    return out


def publish(folder: Path, name: str) -> None:
    """Send a repository on disk to the hub under a name (`user/model`); this asks the network."""
    load_model(folder)
    if not (folder / CARD).is_file():
        raise UsageError(f"{folder}: has no {CARD}; `trope export repository` writes one")
    _asked("create_repo", repo_id=name, exist_ok=True)
    _asked("upload_folder", repo_id=name, folder_path=str(folder), allow_patterns=[*SENT])


def _bring(home: Path, folder: Path) -> None:
    """What is kept of a run; a file that is in the folder already stays."""
    for file in KEPT:
        if (home / file).is_file():
            place(home / file, folder / file)


def _asked(method: str, **given: Any) -> Any:
    """One call of the hub's package; whatever the network comes up with is one line."""
    if find_spec("huggingface_hub") is None:
        raise MissingExtra("the hub", "transformers")
    try:
        return getattr(import_module("huggingface_hub"), method)(**given)
    except Exception as error:
        why = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise TropeError(f"{given['repo_id']}: {why}") from None


def _card(checkpoint: Checkpoint, name: str) -> str:
    plan, about = checkpoint.plan, checkpoint.description
    run = about.get("run", {})
    senses = f", {plan.head.senses} senses an item" if plan.head.senses > 1 else ""
    return f"""---
library_name: trope
tags: [image-text-retrieval, trope]
---

# {name}

Image-text retrieval when the text does not describe the image. Made by `trope`
{run.get("trope", "")} with the recipe `{run.get("recipe", "")}`.

- images: `{plan.image.backbone}` ({plan.image.encoder})
- texts: `{plan.text.encoder}`
- vectors of {plan.width} numbers{senses}

```console
$ trope export fetch FOLDER run          # this folder as a run
$ trope index run --data DATA --out index
$ trope search index "words"
```
"""
