"""One interface for all spaces, item -> vector, and the file in which vectors travel."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
import pyarrow as pa
from jaxtyping import Float32, Int
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from trope.data.fingerprints import feed
from trope.data.pairs import Pairs
from trope.errors import DataError
from trope.files import replacing

Values: TypeAlias = Float32[np.ndarray, "items d"]
Owners: TypeAlias = Int[np.ndarray, " items"]


@dataclass(frozen=True, eq=False)
class Vectors:
    """A vector per item, and the row each item belongs to; zeros where an item has no content.

    `data` names the items the vectors were made of, `space` the space and its settings.
    """

    values: Values = field(repr=False)
    owners: Owners = field(repr=False)
    space: str
    data: str
    remarks: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.values)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write vectors and owners as one `safetensors` file, whole or not at all."""
        arrays = {"values": np.ascontiguousarray(self.values), "owners": self.owners}
        with replacing(Path(path)) as file:
            file.write(save(arrays, {"space": self.space, "data": self.data}))

    @classmethod
    def load(cls, path: str | os.PathLike[str], data: str) -> Vectors:
        """Read what `save` wrote; vectors of other items than `data` are refused."""
        try:
            with safe_open(path, framework="np") as file:
                made = file.metadata() or {}
                if made["data"] != data:
                    raise DataError(f"{path}: holds vectors of another data set; not used")
                values, owners = file.get_tensor("values"), file.get_tensor("owners")
            if values.ndim != 2 or owners.shape != values.shape[:1]:
                raise ValueError("its parts do not fit together")
            return cls(values, owners, made["space"], data)
        except (OSError, SafetensorError, KeyError, ValueError) as error:
            raise DataError(f"{path}: cannot be read as vectors of a space ({error})") from None


@runtime_checkable
class Space(Protocol):
    """Where near means alike: every item of a data set has a vector."""

    @property
    def name(self) -> str:
        """What users call it."""
        ...

    def vectors(self, pairs: Pairs) -> Vectors:
        """The vector of every item: of each text in order, or of each row's picture."""
        ...


def texts_fingerprint(texts: pa.ChunkedArray) -> str:
    """What a list of texts is called: the same for the same texts in the same order."""
    digest = hashlib.blake2b(digest_size=16)
    for start in range(0, len(texts), 2**12):
        part = texts.slice(start, 2**12).chunks
        feed(digest, pa.concat_arrays(part))
    return digest.hexdigest()
