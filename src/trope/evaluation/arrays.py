"""Vectors in files of other programs: `.safetensors`, `.npz`, or two `.npy`; never unpickled."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
import orjson
from safetensors import SafetensorError, safe_open

from trope.checkpoints import description_of
from trope.errors import DataError, TropeError, UsageError
from trope.evaluation.unfit import refuse_unfit
from trope.evaluation.vectors import SIDES, Arrays

KINDS = {".npy": (b"\x93NUMPY", "numpy.save"), ".npz": (b"PK", "numpy.savez")}
BROKEN = (BadZipFile, zlib.error, RuntimeError, NotImplementedError)  # cut, damaged, encrypted


def read_arrays(paths: Sequence[Path]) -> Arrays:
    """Read files of vectors; what does not fit together is refused."""
    if len(paths) == 2:
        arrays = {side: _npy(path) for side, path in zip(SIDES, paths, strict=True)}
        found = Arrays(paths[0], arrays, {}, files=dict(zip(SIDES, paths, strict=True)))
    elif len(paths) != 1 or paths[0].suffix == ".npy":
        raise UsageError("--embeddings: one file, or two .npy files, pictures first")
    elif paths[0].suffix == ".npz":
        found = _npz(paths[0])
    elif paths[0].suffix == ".safetensors":
        found = _safetensors(paths[0])
    else:
        kinds = "name a .safetensors or .npz file, or two .npy files"
        raise UsageError(f"{paths[0]}: not a kind of file that is read here; {kinds}")
    refuse_unfit(found)
    return found


def are_vectors(path: Path) -> bool:
    """Whether a path names a file of vectors and not a run, whose model is `.safetensors` too."""
    if path.suffix != ".safetensors" or not path.is_file():
        return path.suffix == ".npz"
    try:
        return "format" not in description_of(path)
    except TropeError:
        return True


def _npy(path: Path) -> np.ndarray:
    _refuse_other(path)
    try:
        found = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise _unreadable(path, error) from None
    if not isinstance(found, np.ndarray):
        raise DataError(f"{path}: expected one array; name an .npz file alone")
    return found


def _npz(path: Path) -> Arrays:
    _refuse_other(path)
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


def _refuse_other(path: Path) -> None:
    """What the name of a file promises must be in it: numpy takes anything else for a pickle."""
    begins, made_by = KINDS.get(path.suffix, KINDS[".npy"])
    try:
        with path.open("rb") as opened:
            found = opened.read(len(begins))
    except OSError as error:
        raise _unreadable(path, error) from None
    if found != begins:
        why = f"whatever its name says, it is no file that {made_by} writes"
        raise DataError(f"{path}: cannot be read as vectors ({why})")


def _unreadable(path: Path, error: Exception) -> DataError | UsageError:
    if isinstance(error, FileNotFoundError):
        return UsageError(f"{path}: no such file")
    why = str(error).splitlines()[0] if str(error) else type(error).__name__
    return DataError(f"{path}: cannot be read as vectors ({why})")
