"""The towers of a trained model as ONNX files, checked against the model before they are there.

`text.onnx` takes what the text encoder takes: numbers of words and lengths (GRU), numbers of pieces
of words and lengths (a sentence encoder that was trained along; `tokenizer` has them), or features
of a sentence encoder. `image.onnx` takes features of the backbone, or pixels where it was trained
along.
Both give `mean` and, of several senses, `points`. `vocabulary.json` has the words in order, and
`inputs.json` says how texts and pictures are prepared.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from trope import config
from trope.checkpoints import Checkpoint, load_model
from trope.data.vocabulary import Vocabulary
from trope.encoders.fresh import Fresh
from trope.encoders.model import Tower
from trope.errors import MissingExtra, TropeError, UsageError
from trope.export.dense import Dense, dense
from trope.features.sentences import sentence_encoder
from trope.files import replacing_folder, write_json

OPSET = 18
CLOSE = 1e-4  # how far an output may be from the model's
WORDS = 9  # of the longest text that is tried
PIECES = 1_000  # of those that a sentence encoder knows, the first


@dataclass(frozen=True)
class Example:
    """What a tower takes, by name, and which of its sizes may change."""

    inputs: Mapping[str, Tensor]
    sizes: Mapping[str, Mapping[int, str]]

    def tried(self) -> Iterator[Mapping[str, Tensor]]:
        """All of it, a batch of another size, and one of shorter texts."""
        for items in (slice(None), slice(2), slice(1, None)):
            some = {name: value[items] for name, value in self.inputs.items()}
            if "lengths" in some:
                some["ids"] = some["ids"][:, : max(1, int(some["lengths"].max()))]
            yield some


def export_onnx(run: Path, out: Path) -> list[Path]:
    """Write both towers of a run's model to a new folder."""
    for package in ("onnx", "onnxruntime"):
        if find_spec(package) is None:
            raise MissingExtra("ONNX files", "onnx")
    checkpoint = load_model(run)
    plan = checkpoint.plan
    sides = {"text": _text(checkpoint), "image": _image(checkpoint)}
    with replacing_folder(out, fresh=True) as folder:
        for side, example in sides.items():
            tower = getattr(checkpoint.model, side)
            made = dense(tower, side, plan.head.senses)
            with _refused(side):
                _write(folder / f"{side}.onnx", made, example, plan.head.senses)
            _refuse_other_numbers(folder / f"{side}.onnx", tower, example)
        if plan.text.encoder == "gru":
            Vocabulary(plan.words).save(folder / "vocabulary.json")
        if plan.text.encoder == "sentence-tuned":
            network = sentence_encoder(plan.text.model).network
            network.tokenizer.save_pretrained(str(folder / "tokenizer"))
        about = {"image": config.plain(plan.image), "text": config.plain(plan.text)}
        write_json(folder / "inputs.json", about | {"head": config.plain(plan.head)})
    return sorted(out.iterdir())


def _text(checkpoint: Checkpoint) -> Example:
    """Texts to try: of several lengths, one without words among them."""
    plan = checkpoint.plan
    if plan.text.encoder == "sentence":
        return _features(plan.text_size, plan.head.senses > 1, masked=True)
    tuned = plan.text.encoder == "sentence-tuned"
    known = PIECES if tuned else max(len(plan.words), 2)
    lengths = torch.tensor([WORDS, 2, 3, 4] if tuned else [WORDS, 1, 0, 4])  # pieces mark both ends
    ids = torch.randint(1, known, (4, WORDS), generator=_numbers())
    ids = ids * (torch.arange(WORDS) < lengths[:, None])
    sizes = {"ids": {0: "texts", 1: "words"}, "lengths": {0: "texts"}}
    return Example({"ids": ids, "lengths": lengths}, sizes)


def _image(checkpoint: Checkpoint) -> Example:
    plan = checkpoint.plan
    if plan.image.encoder == "frozen":
        return _features(plan.image_size, plan.head.senses > 1, masked=False)
    size = Fresh(plan).image_size
    pixels = torch.randint(0, 256, (2, size, size, 3), dtype=torch.uint8, generator=_numbers())
    return Example({"pixels": pixels}, {"pixels": {0: "images"}})


def _features(size: int, parts: bool, masked: bool) -> Example:
    """Features to try; the third item has none."""
    shape = (4, 6, size) if parts else (4, size)
    values = torch.randn(shape, generator=_numbers())
    several = {0: "items", 1: "parts"} if parts else {0: "items"}
    if not parts or not masked:
        return Example({"features": values}, {"features": several})
    present = torch.arange(6) < torch.tensor([6, 2, 0, 1])[:, None]
    inputs = {"features": values * present[:, :, None], "present": present}
    return Example(inputs, {"features": several, "present": several})


def _write(path: Path, made: Dense, example: Example, senses: int) -> None:
    outputs = ["mean"] if senses == 1 else ["mean", "points"]
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")  # what the exporter has to say about its own future
        torch.onnx.export(
            made,
            tuple(example.inputs.values()),
            str(path),
            input_names=list(example.inputs),
            output_names=outputs,
            dynamic_axes={k: dict(v) for k, v in example.sizes.items()}
            | {name: {0: "items"} for name in outputs},
            opset_version=OPSET,
            dynamo=False,
        )


@contextmanager
def _refused(side: str) -> Iterator[None]:
    """What the exporter cannot do, as one line; it raises what its parts stumble on."""
    try:
        yield
    except Exception as error:
        why = (str(error).strip() or type(error).__name__).splitlines()[0][:200]
        raise UsageError(f"export: the {side} tower has no form in ONNX ({why})") from None


def _refuse_other_numbers(path: Path, tower: Tower, example: Example) -> None:
    """A file that does not give what the model gives is of no use to anybody."""
    runtime: Any = import_module("onnxruntime")
    session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    for some in example.tried():
        found = session.run(None, {name: value.numpy() for name, value in some.items()})
        with torch.no_grad():
            wanted = tower(*some.values())
        for one, other in zip(found, wanted, strict=False):
            assert other is not None
            if not np.allclose(one, other.numpy(), atol=CLOSE):
                raise TropeError(f"{path.name}: gives other numbers than the model; not written")


def _numbers() -> torch.Generator:
    return torch.Generator().manual_seed(0)
