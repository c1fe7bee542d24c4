"""The towers of a trained model as ONNX files, checked against the model before they are there.

`text.onnx` takes what the text encoder takes: numbers of words and lengths (GRU), numbers of pieces
of words and lengths (a sentence encoder that was trained along; `tokenizer` has them), or features
of a sentence encoder. `image.onnx` takes features of the backbone, or pixels where it was trained
along.
Both give `mean` and, of several senses, `points`. Where the backbone is the default one,
`backbone.onnx` makes features of pixels. `inputs.json` says to programs how texts and pictures are
prepared, `README.md` to people; `prepare.py` does it by what lies beside it alone.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch

from trope.checkpoints import Checkpoint, load_model
from trope.data.vocabulary import Vocabulary
from trope.encoders import encode
from trope.encoders.fresh import Fresh
from trope.encoders.model import Tower
from trope.encoders.tuned import Tuned
from trope.errors import MissingExtra, TropeError
from trope.export import prepare
from trope.export.dense import Looked, dense
from trope.export.graphs import Example, ran, refused, write
from trope.export.inputs import BACKBONE, TOKENIZER, WORDS, described
from trope.export.readme import readme
from trope.features.backbones import backbone
from trope.features.backbones.efficientnet import EfficientNetLite0
from trope.features.sentences import sentence_encoder
from trope.files import replacing, replacing_folder, write_json

CLOSE = 1e-4  # how far an output may be from the model's
LONGEST = 9  # words of the longest text that is tried
PIECES = 1_000  # of those that a sentence encoder knows, the first


def export_onnx(run: Path, out: Path) -> list[Path]:
    """Write both towers of a run's model to a new folder."""
    for package in ("onnx", "onnxruntime"):
        if find_spec(package) is None:
            raise MissingExtra("ONNX files", "onnx")
    checkpoint = load_model(run)
    plan = checkpoint.plan
    sides = {"text": _text(checkpoint), "image": _image(checkpoint)}
    with replacing_folder(out, fresh=True) as folder:
        outputs = ["mean"] if plan.head.senses == 1 else ["mean", "points"]
        for side, example in sides.items():
            tower = getattr(checkpoint.model, side)
            made = dense(tower, side, plan.head.senses)
            with refused(side):
                write(folder / f"{side}.onnx", made, example, outputs)
            _refuse_other_numbers(folder / f"{side}.onnx", tower, example)
        if plan.text.encoder == "gru":
            Vocabulary(plan.words).save(folder / WORDS)
        if plan.text.encoder == "sentence-tuned":
            network = sentence_encoder(plan.text.model).network
            network.tokenizer.save_pretrained(str(folder / TOKENIZER))
        network = _network(checkpoint)
        if network is not None and plan.image.encoder == "frozen":
            _write_backbone(folder, checkpoint, network)
        about = described(plan, network)
        write_json(folder / "inputs.json", about)
        with replacing(folder / "README.md", "w") as file:
            file.write(readme(plan, about["inputs"]))
        with replacing(folder / "prepare.py") as file:
            file.write(Path(prepare.__file__).read_bytes())
    return sorted(out.iterdir())


def _network(checkpoint: Checkpoint) -> Tuned | None:
    """What takes pixels: the network that was trained along, or the default backbone."""
    plan = checkpoint.plan
    if plan.image.encoder == "tuned":
        found: Any = checkpoint.model.image.encoder
        assert isinstance(found, Tuned)
        return found
    if isinstance(backbone(plan.image.backbone), EfficientNetLite0):
        return Tuned(plan.image.backbone, 0.0, plan.image.grid).eval()
    return None


def _write_backbone(folder: Path, checkpoint: Checkpoint, network: Tuned) -> None:
    """A frozen backbone, compared by the vectors that the image tower makes of its features."""
    plan = checkpoint.plan
    fresh, example = Fresh(plan), _pixels(network.size)
    with refused("backbone"):
        write(folder / BACKBONE, Looked(network, plan.parts), example, ["features"])
    for some in example.tried():
        (features,) = ran(folder / BACKBONE, some)
        (mean, *_) = ran(folder / "image.onnx", {"features": torch.from_numpy(features)})
        count = len(features)
        fed = fresh.images(some["pixels"].numpy())
        wanted = encode(checkpoint.model.image, fed, np.arange(count)).mean
        if not np.allclose(mean, wanted.numpy(), atol=CLOSE):
            raise TropeError(f"{BACKBONE}: gives other numbers than the model; not written")


def _text(checkpoint: Checkpoint) -> Example:
    """Texts to try: of several lengths, one without words among them."""
    plan = checkpoint.plan
    if plan.text.encoder == "sentence":
        return _features(plan.text_size, plan.head.senses > 1, masked=True)
    tuned = plan.text.encoder == "sentence-tuned"
    known = PIECES if tuned else max(len(plan.words), 2)
    shorter = [2, 3, 4] if tuned else [1, 0, 4]  # pieces mark both ends
    lengths = torch.tensor([LONGEST, *shorter])
    ids = torch.randint(1, known, (4, LONGEST), generator=_numbers())
    ids = ids * (torch.arange(LONGEST) < lengths[:, None])
    sizes = {"ids": {0: "texts", 1: "words"}, "lengths": {0: "texts"}}
    return Example({"ids": ids, "lengths": lengths}, sizes)


def _image(checkpoint: Checkpoint) -> Example:
    plan = checkpoint.plan
    if plan.image.encoder == "frozen":
        return _features(plan.image_size, plan.head.senses > 1, masked=False)
    return _pixels(Fresh(plan).image_size)


def _pixels(size: int) -> Example:
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


def _refuse_other_numbers(path: Path, tower: Tower, example: Example) -> None:
    """A file that does not give what the model gives is of no use to anybody."""
    for some in example.tried():
        found = ran(path, some)
        with torch.no_grad():
            wanted = tower(*some.values())
        for one, other in zip(found, wanted, strict=False):
            assert other is not None
            if not np.allclose(one, other.numpy(), atol=CLOSE):
                raise TropeError(f"{path.name}: gives other numbers than the model; not written")


def _numbers() -> torch.Generator:
    return torch.Generator().manual_seed(0)
