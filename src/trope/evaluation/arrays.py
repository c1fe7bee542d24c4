"""Vectors in files of other programs: `.safetensors`, `.npz`, or two `.npy`; never unpickled."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
import orjson
import torch
from safetensors import SafetensorError, safe_open

from trope.errors import DataError, UsageError
from trope.maths import normalize
from trope.views import Encoded

SIDES = ("image", "text")
PREDICTED = ("image_labels", "text_labels")
BROKEN = (BadZipFile, zlib.error, RuntimeError, NotImplementedError)  # cut, damaged, encrypted


@dataclass(frozen=True, eq=False)
class Arrays:
    """What files of vectors hold: numbers by name, names of rows, and names of predicted labels."""

    path: Path
    numbers: Mapping[str, np.ndarray]
    ids: Mapping[str, Sequence[str]]
    labels: Sequence[str] = ()

    def encoded(self, name: str) -> Encoded:
        """The vectors of a name, at length one."""
        values = torch.from_numpy(np.array(self.numbers[name], np.float32))
        scaled = normalize(values)
        return Encoded(scaled) if values.ndim == 2 else Encoded(normalize(scaled.mean(1)), scaled)

    def __len__(self) -> int:
        return len(self.numbers["image"])


def read_arrays(paths: Sequence[Path]) -> Arrays:
    """Read files of vectors; what does not fit together is refused."""
    if len(paths) == 2:
        arrays = {side: _npy(path) for side, path in zip(SIDES, paths, strict=True)}
        found = Arrays(paths[0], arrays, {})
    elif len(paths) != 1 or paths[0].suffix == ".npy":
        raise UsageError("--embeddings: one file, or two .npy files, pictures first")
    elif paths[0].suffix == ".npz":
        found = _npz(paths[0])
    elif paths[0].suffix == ".safetensors":
        found = _safetensors(paths[0])
    else:
        kinds = "name a .safetensors or .npz file, or two .npy files"
        raise UsageError(f"{paths[0]}: not a kind of file that is read here; {kinds}")
    _refuse_unfit(found)
    return found


def _refuse_unfit(found: Arrays) -> None:
    for side in SIDES:
        if side not in found.numbers:
            there = ", ".join(sorted(found.numbers)) or "nothing"
            raise DataError(f"{found.path}: no array '{side}'; there is {there}")
    _refuse_unfit_labels(found)
    for name, values in found.numbers.items():
        if name == "owners" or name in PREDICTED:
            continue
        if values.ndim not in (2, 3) or values.dtype.kind != "f":
            raise DataError(
                f"{found.path}: '{name}' has shape {values.shape} and type {values.dtype}; "
                "expected floats of shape (n, d) or (n, k, d)"
            )
        if values.shape[-1] != found.numbers["image"].shape[-1]:
            raise DataError(
                f"{found.path}: '{name}' has {values.shape[-1]} dimensions, "
                f"'image' has {found.numbers['image'].shape[-1]}"
            )
    for side, ids in found.ids.items():
        if side not in SIDES or len(ids) != len(found.numbers[side]):
            raise DataError(f"{found.path}: {side}_ids and '{side}' are not of the same length")
    if found.ids and set(found.ids) != set(SIDES):
        raise DataError(f"{found.path}: image_ids and text_ids go together; one is missing")


def _refuse_unfit_labels(found: Arrays) -> None:
    """Predicted labels: of both sides, a row for each vector and a column for each name."""
    there = [name for name in PREDICTED if name in found.numbers]
    if not there and not found.labels:
        return
    if len(there) < len(PREDICTED) or not found.labels:
        what = f"{', '.join(PREDICTED)} and labels, the names of their columns"
        raise DataError(f"{found.path}: predicted labels need {what}; one is missing")
    if len(set(found.labels)) < len(found.labels):
        raise DataError(f"{found.path}: labels: a name stands there twice")
    for side, name in zip(SIDES, PREDICTED, strict=True):
        values, wanted = found.numbers[name], (len(found.numbers[side]), len(found.labels))
        if values.shape != wanted or values.dtype.kind not in "fb":
            raise DataError(
                f"{found.path}: '{name}' has shape {values.shape} and type {values.dtype}; "
                f"expected floats (or true and false) of shape {wanted}"
            )


def _npy(path: Path) -> np.ndarray:
    try:
        found = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise _unreadable(path, error) from None
    if not isinstance(found, np.ndarray):
        raise DataError(f"{path}: expected one array; name an .npz file alone")
    return found


def _npz(path: Path) -> Arrays:
    try:
        with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except (*BROKEN, OSError, ValueError, EOFError, TypeError, AttributeError, KeyError) as error:
        raise _unreadable(path, error) from None
    ids = {side: arrays.pop(f"{side}_ids").tolist() for side in SIDES if f"{side}_ids" in arrays}
    labels = arrays.pop("labels").tolist() if "labels" in arrays else []
    names = _named(path, ids | {"label": labels})
    return Arrays(path, arrays, {k: v for k, v in names.items() if k in SIDES}, names["label"])


def _safetensors(path: Path) -> Arrays:
    try:
        with safe_open(path, framework="pt") as file:
            about = file.metadata() or {}
            names = file.keys()
            tensors = {name: file.get_tensor(name) for name in names}
        listed = {
            side: orjson.loads(about[f"{side}_ids"]) for side in SIDES if f"{side}_ids" in about
        }
        listed["label"] = orjson.loads(about.get("labels", "[]"))
    except (OSError, SafetensorError, ValueError) as error:
        raise _unreadable(path, error) from None
    numbers = {
        name: (value.float() if value.is_floating_point() else value).numpy()
        for name, value in tensors.items()
    }
    names = _named(path, listed)
    return Arrays(path, numbers, {k: v for k, v in names.items() if k in SIDES}, names["label"])


def _named(path: Path, ids: Mapping[str, object]) -> dict[str, list[str]]:
    """The names of rows: a list of strings or whole numbers for each side that has one."""
    found = {}
    for side, names in ids.items():
        plain = isinstance(names, list) and all(type(name) in (str, int) for name in names)
        if not isinstance(names, list) or not plain:
            what = "labels" if side == "label" else f"{side}_ids"
            raise DataError(f"{path}: {what} must be a list of strings or whole numbers")
        found[side] = [*map(str, names)]
    return found


def _unreadable(path: Path, error: Exception) -> DataError | UsageError:
    if isinstance(error, FileNotFoundError):
        return UsageError(f"{path}: no such file")
    why = str(error).splitlines()[0] if str(error) else type(error).__name__
    return DataError(f"{path}: cannot be read as vectors ({why})")
