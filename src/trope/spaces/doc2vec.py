"""Doc2Vec (Le & Mikolov 2014) as in paper 004, Sec. 3.2-3.3: the default space of texts.

Distributed memory with hierarchical softmax, trained on the training texts alone; every text, also
of these, gets its vector by inference. With one worker, training gives the same bits every time;
inference starts from the text's own digest, so it does not depend on the process or on the threads.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from pathlib import Path

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from trope.data.pairs import Pairs
from trope.data.text import TextPreparation, prepare, tokenize
from trope.errors import DataError
from trope.features.texts import cached_texts
from trope.files import locked
from trope.runtime import cache_folder
from trope.spaces.paragraphs import ParagraphModel, Training
from trope.spaces.vectors import Vectors, texts_fingerprint
from trope.wording import counted

COVERED = 0.8  # the share of all words that must be known; else rarer words are let in
VERSION = 1  # of everything here that changes the vectors of the same texts


@dataclass(frozen=True)
class Doc2Vec:
    """The space and its settings, those of the paper.

    `min_count` lowers itself, and says so, where few words are frequent enough. More than one
    worker trains faster, but never the same model twice.
    """

    training: Training = field(default_factory=Training)
    preparation: TextPreparation = field(default_factory=TextPreparation)
    workers: int = 1

    name: str = field(default="doc2vec", init=False)

    def __post_init__(self) -> None:
        if self.workers < 1:
            raise ValueError(f"workers must be at least 1, found {self.workers}")

    def vectors(self, pairs: Pairs) -> Vectors:
        """A vector for every text, by inference; zeros for a text without a known word."""
        texts, owners = pairs.flat_texts()
        prepared = self._prepared(texts)
        folder, model, remarks = self._trained(pairs, prepared)
        values, damage = cached_texts(folder, prepared, model.infer, "Doc2Vec: texts")
        if empty := int((~values.any(axis=1)).sum()):
            remarks.append(
                f"{counted(empty, 'text has', 'texts have')} no known word, and so no neighbors"
            )
        return Vectors(values, owners, folder.name, texts_fingerprint(texts), (*remarks, *damage))

    def model(self, pairs: Pairs) -> ParagraphModel:
        """The trained model with its words and their vectors, which start a text encoder."""
        return self._trained(pairs, self._prepared(pairs.flat_texts()[0]))[1]

    def _prepared(self, texts: pa.ChunkedArray) -> list[str]:
        """Texts as their words with spaces between: the same words, the same vector."""
        return [" ".join(tokenize(prepare(text, self.preparation))) for text in texts.to_pylist()]

    def _trained(self, pairs: Pairs, prepared: list[str]) -> tuple[Path, ParagraphModel, list[str]]:
        """The model from the cache, or trained now; its folder bears the name of the content."""
        train = np.asarray(pc.fill_null(pc.equal(pairs.column("split"), "train"), False))
        texts = [prepared[i] for i in np.flatnonzero(np.repeat(train, pairs.text_counts))]
        if not any(texts):
            raise DataError(f"{pairs.root}: no words in the texts of split 'train' to learn from")
        training, remarks = fitting(self.training, texts, str(pairs.root))
        if self.workers > 1:
            remarks.append(f"trained by {self.workers} workers: not the same model every time")
        mark = self._mark(training, texts)
        folder = cache_folder() / "spaces" / f"doc2vec-{mark}"
        path = folder / "model.safetensors"
        with locked(folder):
            model = _stored(path, mark, remarks)
            if model is None:
                model = ParagraphModel.train(training, texts, self.workers)
                model.save(path, mark)
        return folder, model, remarks

    def _mark(self, training: Training, texts: list[str]) -> str:
        settings = orjson.dumps([asdict(training), self.workers > 1, VERSION])
        digest = hashlib.blake2b(settings, digest_size=16)
        for text in texts:
            digest.update(text.encode("utf-8", "surrogatepass") + b"\n")
        return digest.hexdigest()


def _stored(path: Path, mark: str, remarks: list[str]) -> ParagraphModel | None:
    """The model in the cache; one that is damaged or of other texts is told, and trained again."""
    if not path.exists():
        return None
    try:
        return ParagraphModel.load(path, mark)
    except DataError as error:
        remarks.append(f"{error}; trained again")
        return None


def fitting(training: Training, texts: list[str], source: str) -> tuple[Training, list[str]]:
    """The largest minimal count, up to the one asked for, that leaves most words known.

    `source` names the data set in errors.
    """
    words = Counter(chain.from_iterable(text.split(" ") for text in texts if text))
    counts = np.sort(np.fromiter(words.values(), np.int64, len(words)))
    known = np.cumsum(counts[::-1])[::-1] / counts.sum()  # the share of words at least so frequent
    asked = training.min_count
    if len(counts) < 2:
        alone = f"'{next(iter(words)):.40}'"
        raise DataError(f"{source}: the texts to learn from have one word ({alone}) alone")
    share = counts[counts >= asked].sum() / counts.sum()
    if share >= COVERED and counts[-2] >= asked:  # one word alone can be learned nothing from
        return training, []
    lower = int(counts[min(np.flatnonzero(known >= COVERED)[-1], len(counts) - 2)])
    why = f"words seen {asked} times make up only {share:.0%} of the text"
    return replace(training, min_count=lower), [f"min_count lowered from {asked} to {lower}: {why}"]
