"""Networks as files of ONNX: written, and run."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from trope.errors import UsageError

OPSET = 18


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


def write(path: Path, made: nn.Module, example: Example, outputs: list[str]) -> None:
    """A network as a file; its outputs have as many items as its inputs."""
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
def refused(side: str) -> Iterator[None]:
    """What the exporter cannot do, as one line; it raises what its parts stumble on."""
    try:
        yield
    except Exception as error:
        why = (str(error).strip() or type(error).__name__).splitlines()[0][:200]
        raise UsageError(f"export: the {side} tower has no form in ONNX ({why})") from None


def ran(path: Path, fed: Mapping[str, Tensor]) -> list[np.ndarray]:
    """What a file gives."""
    runtime: Any = import_module("onnxruntime")
    session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return list(session.run(None, {name: value.numpy() for name, value in fed.items()}))
