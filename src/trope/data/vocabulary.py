"""The words a text encoder knows, numbered; everything else is one unknown word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import numpy as np
import orjson
from jaxtyping import Int

from trope.errors import DataError
from trope.files import write_json

PAD, UNKNOWN = 0, 1
# How the two special numbers are shown. A data word spelled the same is a word like any other:
# only `words` are looked up.
SPECIAL = ("<pad>", "<unk>")
_FORMAT = "trope-vocabulary-1"


@dataclass(frozen=True)
class Vocabulary:
    """Words numbered from 2, after padding (0) and the unknown word (1)."""

    words: tuple[str, ...]
    _numbers: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        numbers = {word: number for number, word in enumerate(self.words, start=len(SPECIAL))}
        if len(numbers) != len(self.words):
            repeated = next(word for word, count in Counter(self.words).items() if count > 1)
            raise ValueError(f"the word {repeated!r} stands twice")
        object.__setattr__(self, "_numbers", numbers)

    def __len__(self) -> int:
        return len(SPECIAL) + len(self.words)

    @classmethod
    def build(
        cls, texts: Iterable[Sequence[str]], min_count: int = 1, max_size: int | None = None
    ) -> Vocabulary:
        """The most frequent words of the training texts; ties in the order of the words.

        `max_size` counts words, without the two special numbers.
        """
        if min_count < 1 or (max_size is not None and max_size < 1):
            raise ValueError(
                f"min_count and max_size must be at least 1, found {min_count} and {max_size}"
            )
        counts = Counter(chain.from_iterable(texts))
        kept = [(-count, word) for word, count in counts.items() if count >= min_count]
        return cls(tuple(word for _, word in sorted(kept)[:max_size]))

    def encode(self, tokens: Sequence[str]) -> Int[np.ndarray, " tokens"]:
        """The numbers of the words of one text."""
        numbers = self._numbers
        return np.fromiter(
            (numbers.get(token, UNKNOWN) for token in tokens), dtype=np.int64, count=len(tokens)
        )

    def encode_batch(
        self, texts: Sequence[Sequence[str]]
    ) -> tuple[Int[np.ndarray, "texts longest"], Int[np.ndarray, " texts"]]:
        """The numbers of several texts, padded to the longest, and the length of each."""
        lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
        padded = np.full((len(texts), lengths.max(initial=0)), PAD, dtype=np.int64)
        padded[np.arange(padded.shape[1]) < lengths[:, None]] = self.encode(
            list(chain.from_iterable(texts))
        )
        return padded, lengths

    def unknown_share(self, texts: Iterable[Sequence[str]]) -> float:
        """The share of all words that are unknown; 0 when there are no words."""
        unknown = total = 0
        for tokens in texts:
            unknown += int(np.count_nonzero(self.encode(tokens) == UNKNOWN))
            total += len(tokens)
        return unknown / total if total else 0.0

    def save(self, path: Path) -> None:
        """Write the words as JSON, whole or not at all."""
        try:
            write_json(path, {"format": _FORMAT, "words": list(self.words)})
        except (TypeError, orjson.JSONEncodeError) as error:
            raise DataError(
                f"{path}: a word of the vocabulary is not valid text ({error})"
            ) from None

    @classmethod
    def load(cls, path: Path) -> Vocabulary:
        """Read what `save` wrote; anything else is an error that names the file."""
        try:
            document = orjson.loads(path.read_bytes())
        except OSError as error:
            raise DataError(f"{path}: {error.strerror}") from None
        except orjson.JSONDecodeError as error:
            raise DataError(f"{path}: not valid JSON ({error})") from None
        try:
            return cls(_words(document))
        except ValueError as error:
            raise DataError(f"{path}: not a vocabulary: {error}") from None


def _words(document: object) -> tuple[str, ...]:
    """The words of a loaded document, checked."""
    if not isinstance(document, dict) or set(document) != {"format", "words"}:
        raise ValueError("expected the two fields 'format' and 'words'")
    if document["format"] != _FORMAT:
        raise ValueError(f"expected format {_FORMAT!r}, found {document['format']!r}")
    words = document["words"]
    if not isinstance(words, list):
        raise ValueError("'words' is not a list")
    for position, word in enumerate(words):
        if not isinstance(word, str) or not word:
            raise ValueError(f"entry {position} of 'words' is not a word: {word!r}")
    return tuple(words)
