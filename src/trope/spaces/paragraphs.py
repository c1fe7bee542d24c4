"""The paragraph vector model itself: training and inference by gensim, storage without pickle."""

from __future__ import annotations

import copy
import hashlib
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from jaxtyping import Float32, Int
from rich.progress import Progress
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from trope.data.text import listed
from trope.errors import DataError
from trope.files import replacing
from trope.runtime import cores, progress_bar


@dataclass(frozen=True)
class Training:
    """How the model is trained; the defaults are those of paper 004, the rest those of gensim."""

    size: int = 200
    window: int = 20
    min_count: int = 20
    epochs: int = 20
    learning_rate: float = 0.025
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("size", "window", "min_count", "epochs"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, found {getattr(self, name)}")
        if not 0 < self.learning_rate < 1:
            raise ValueError(f"learning_rate must be between 0 and 1, found {self.learning_rate}")


@dataclass(frozen=True, eq=False)
class ParagraphModel:
    """Words as they first appear, with their counts and vectors, and the tree of the softmax."""

    training: Training
    words: tuple[str, ...]
    counts: Int[np.ndarray, " words"]
    word_vectors: Float32[np.ndarray, "words d"]
    nodes: Float32[np.ndarray, "words d"]

    @classmethod
    def train(cls, training: Training, texts: list[str], workers: int = 1) -> ParagraphModel:
        """Learn from texts, given as words with spaces between."""
        from gensim.models.doc2vec import TaggedDocument

        filled = [text for text in listed(texts, "texts") if text]
        documents = [TaggedDocument(text.split(" "), [i]) for i, text in enumerate(filled)]
        model = _gensim(training, workers)
        model.build_vocab(documents)
        with progress_bar("Doc2Vec: training", training.epochs) as bar:
            steps = [_steps(bar)]
            model.train(
                documents, total_examples=len(documents), epochs=model.epochs, callbacks=steps
            )
        counts = np.asarray(model.wv.expandos["count"], np.int64)
        return cls(training, tuple(model.wv.index_to_key), counts, model.wv.vectors, model.syn1)

    def infer(self, texts: list[str]) -> Float32[np.ndarray, "texts d"]:
        """Vectors of texts, given as words with spaces between; zeros without a known word."""
        parts = np.array_split(np.arange(len(listed(texts, "texts"))), cores())
        with ThreadPoolExecutor(cores()) as pool:
            done = pool.map(lambda part: self._inferred([texts[i] for i in part]), parts)
        return np.concatenate(list(done))

    def save(self, path: str | os.PathLike[str], data: str = "") -> None:
        """Write the model as one `safetensors` file, whole or not at all.

        `data` may name what it was learned from.
        """
        arrays = {"counts": self.counts, "word_vectors": self.word_vectors, "nodes": self.nodes}
        about = {"training": asdict(self.training), "words": self.words, "data": data}
        with replacing(Path(path)) as file:
            file.write(save(arrays, {name: orjson.dumps(v).decode() for name, v in about.items()}))

    @classmethod
    def load(cls, path: str | os.PathLike[str], data: str | None = None) -> ParagraphModel:
        """Read what `save` wrote; anything else is an error that names the file.

        With `data`, so is a model that was learned from something else.
        """
        try:
            with safe_open(path, framework="np") as file:
                about = {name: orjson.loads(text) for name, text in file.metadata().items()}
                if data not in (None, about.get("data", data)):
                    raise DataError(f"{path}: holds a model of another data set; not used")
                names = ("counts", "word_vectors", "nodes")
                arrays = {name: file.get_tensor(name) for name in names}
            return cls(Training(**about["training"]), tuple(about["words"]), **arrays)
        except (OSError, SafetensorError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise DataError(f"{path}: cannot be read as a Doc2Vec model ({error})") from None

    @cached_property
    def _model(self) -> Any:
        """The same in gensim's form; the tree over the words follows from their counts."""
        model = _gensim(self.training, workers=1)
        frequencies = dict(zip(self.words, self.counts.tolist(), strict=True))
        model.build_vocab_from_freq(frequencies, corpus_count=1)
        model.wv.vectors, model.syn1 = self.word_vectors, self.nodes
        return model

    def _inferred(self, texts: list[str]) -> Float32[np.ndarray, "texts d"]:
        """In one thread, with random numbers of its own for each text."""
        model, vectors = copy.copy(self._model), np.zeros((len(texts), self.training.size), "f4")
        known = model.wv.key_to_index
        for vector, text in zip(vectors, texts, strict=True):
            words = [word for word in text.split(" ") if word in known]
            if words:
                model.random = _random(self.training.seed, text)
                _fit(model, words, vector[None])
        return vectors


def _fit(model: Any, words: list[str], vector: Float32[np.ndarray, "1 d"]) -> None:
    """Move a random vector, in place, to where it predicts the words of a text.

    gensim's own `infer_vector` takes the same steps, but starts from Python's hash of the text,
    which is another one in every process.
    """
    from gensim.models.doc2vec_inner import train_document_dm

    size = vector.shape[1]
    vector[:] = (model.random.random_sample(size) - 0.5) / size
    work, sums, free = np.zeros(size, "f4"), np.zeros(size, "f4"), np.ones(1, "f4")
    for rate in np.linspace(model.alpha, model.min_alpha, model.epochs).tolist():
        train_document_dm(
            model,
            words,
            [0],
            rate,
            work,
            sums,
            learn_words=False,
            learn_hidden=False,
            doctag_vectors=vector,
            doctags_lockf=free,
        )


def _random(seed: int, text: str) -> np.random.RandomState:
    """gensim asks for this older kind of generator."""
    key = f"{seed}|{text}".encode("utf-8", "surrogatepass")
    return np.random.RandomState(
        np.frombuffer(hashlib.blake2b(key, digest_size=16).digest(), "<u4")
    )


def _gensim(training: Training, workers: int) -> Any:
    from gensim.models.doc2vec import Doc2Vec

    return Doc2Vec(
        dm=1,
        hs=1,
        negative=0,
        vector_size=training.size,
        window=training.window,
        min_count=training.min_count,
        epochs=training.epochs,
        alpha=training.learning_rate,
        seed=training.seed,
        workers=workers,
        sorted_vocab=0,  # sorting breaks ties differently on different processors
    )


def _steps(bar: Progress) -> Any:
    """What gensim calls after each epoch."""
    from gensim.models.callbacks import CallbackAny2Vec

    class Steps(CallbackAny2Vec):  # type: ignore[misc]
        def on_epoch_end(self, model: Any) -> None:
            bar.advance(bar.task_ids[0])

    return Steps()
