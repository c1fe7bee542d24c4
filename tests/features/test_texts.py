from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from trope.errors import UsageError
from trope.features import shards, texts
from trope.features.sentences import TOKENS, sentence_encoder
from trope.features.texts import (
    cached_texts,
    sentence_features,
    sentences_folder,
    token_features,
)
from trope.features.tokens import Ragged, TokenTable

SIZE = 3


@dataclass
class Counting:
    """Features are sums of letters; every encoded text is noted, and a limit may stop the work."""

    limit: int | None = None
    encoded: list[str] = field(default_factory=list)

    def __call__(self, found: list[str]) -> np.ndarray:
        if self.limit is not None and len(self.encoded) >= self.limit:
            raise KeyboardInterrupt
        self.encoded += found
        return by_hand(found)


def by_hand(found: list[str]) -> np.ndarray:
    sums = [[sum(map(ord, text)) / (i + 1) for i in range(SIZE)] for text in found]
    return np.array(sums, np.float32).reshape(-1, SIZE)


def stored(folder: Path) -> list[int]:
    return [len(np.load(path)) for path in sorted(folder.glob("*.npy"))]


@pytest.fixture(autouse=True)
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "SHARD_TEXTS", 8)
    monkeypatch.setattr(texts, "BATCH", 4)


@pytest.mark.parametrize("count", [1, 4, 7, 8, 9, 16, 30])
def test_features_of_every_text(tmp_path: Path, count: int) -> None:
    found = [f"text {i}" for i in range(count)]
    encode = Counting()
    values, remarks = cached_texts(tmp_path, found, encode, "texts")
    np.testing.assert_array_equal(values, by_hand(found))
    assert remarks == ()
    assert encode.encoded == found
    assert stored(tmp_path) == [8] * (count // 8) + [count % 8] * bool(count % 8)


def test_shards_are_bounded_by_their_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "SHARD_BYTES", 4 * SIZE * 4)
    cached_texts(tmp_path, [f"text {i}" for i in range(10)], Counting(), "texts")
    assert stored(tmp_path) == [4, 4, 2]


def test_a_second_run_computes_nothing(tmp_path: Path) -> None:
    found = [f"text {i}" for i in range(20)]
    first, _ = cached_texts(tmp_path, found, Counting(), "texts")
    encode = Counting()
    again, _ = cached_texts(tmp_path, found[::-1], encode, "texts")
    assert encode.encoded == []
    np.testing.assert_array_equal(again, first[::-1])


def test_only_new_texts_are_computed(tmp_path: Path) -> None:
    cached_texts(tmp_path, ["a", "b", "c"], Counting(), "texts")
    encode = Counting()
    values, _ = cached_texts(tmp_path, ["d", "b", "e", "d"], encode, "texts")
    assert encode.encoded == ["d", "e"]
    np.testing.assert_array_equal(values, by_hand(["d", "b", "e", "d"]))


def test_equal_texts_are_computed_once(tmp_path: Path, script: str) -> None:
    encode, found = Counting(), [script, "", script, "other", ""]
    values, _ = cached_texts(tmp_path, found, encode, "texts")
    assert sorted(encode.encoded) == sorted({script, "", "other"})
    np.testing.assert_array_equal(values, by_hand(found))


def test_no_texts(tmp_path: Path) -> None:
    encode = Counting()
    values, _ = cached_texts(tmp_path, [], encode, "texts")
    assert len(values) == 0
    assert stored(tmp_path) == []


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    found = [f"text {i}" for i in range(30)]
    with pytest.raises(KeyboardInterrupt):
        cached_texts(tmp_path, found, Counting(limit=20), "texts")
    assert stored(tmp_path) == [8, 8, 4]  # what was computed is kept
    encode = Counting()
    values, _ = cached_texts(tmp_path, found, encode, "texts")
    assert encode.encoded == found[20:]
    np.testing.assert_array_equal(values, by_hand(found))


def test_a_damaged_shard_is_told_and_computed_again(tmp_path: Path) -> None:
    found = [f"text {i}" for i in range(12)]
    cached_texts(tmp_path, found, Counting(), "texts")
    path = tmp_path / "000001.npy"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    encode = Counting()
    values, remarks = cached_texts(tmp_path, found, encode, "texts")
    np.testing.assert_array_equal(values, by_hand(found))
    assert encode.encoded == found[:8]
    assert len(remarks) == 1
    assert "000001.npy: damaged" in remarks[0]


def test_what_another_process_computed_meanwhile_is_not_computed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, clean = ["a", "b"], texts.shards.clean

    def other_first(folder: Path) -> list[str]:
        monkeypatch.setattr(texts.shards, "clean", clean)
        texts.shards.write(folder, named(found), by_hand(found))
        return clean(folder)

    monkeypatch.setattr(texts.shards, "clean", other_first)
    encode = Counting()
    values, _ = cached_texts(tmp_path, found, encode, "texts")
    np.testing.assert_array_equal(values, by_hand(found))
    assert encode.encoded == []
    assert stored(tmp_path) == [2]


def named(found: list[str]) -> np.ndarray:
    return np.array([texts.digest(text.encode()) for text in found], f"S{texts.WIDTH}")


TEXTS = ["Justice is blind", "", "a ship at sea", "न्याय अंधा होता है", " ", "bread " * 100]


def test_cached_vectors_equal_fresh_ones() -> None:
    network = sentence_encoder()
    expected = network.encode(TEXTS)
    for _ in range(2):
        values, remarks = sentence_features(TEXTS, network)
        assert remarks == ()
        assert values.dtype == expected.dtype
        np.testing.assert_allclose(values, expected, atol=2e-3)
    assert values.shape == (6, 384)
    assert values.any(axis=1).tolist() == [True, False, True, True, False, True]


def test_cached_tokens_equal_fresh_ones() -> None:
    network = sentence_encoder()
    expected = network.encode_tokens(TEXTS)
    assert expected.shape == (6, TOKENS, 384)
    for _ in range(2):
        table, remarks = token_features(TEXTS, network)
        assert remarks == ()
        assert table.size == 384
        values, present = table.read(np.arange(6))
        assert values.dtype == expected.dtype
        np.testing.assert_allclose(values, expected[:, : values.shape[1]], atol=2e-3)
        np.testing.assert_array_equal(present, expected.any(axis=2)[:, : values.shape[1]])
    counts = table.counts.tolist()
    assert counts[:3] == [5, 0, 6]
    assert counts[4:] == [0, TOKENS]
    shortest, _ = table.read(np.array([2, 0]))
    assert shortest.shape == (2, 6, 384)  # no longer than the longest that was asked for


def test_tokens_and_vectors_are_kept_apart() -> None:
    network = sentence_encoder()
    sentence_features(["one"], network)
    token_features(["one", "two words"], network)
    folder = sentences_folder(network)
    assert stored(folder) == [1]
    assert stored(folder / f"tokens-{TOKENS}") == [3 + 4]  # a row a token, with first and last


def padded(counts: list[int], seed: int = 0) -> np.ndarray:
    values = np.zeros((len(counts), max([1, *counts]), SIZE), np.float16)
    for i, count in enumerate(counts):
        values[i, :count] = np.random.default_rng(seed + i).normal(size=(count, SIZE))
    return values


@dataclass
class Padding:
    """A network whose tokens are as many as a text has letters."""

    folder: Path
    name: str = "padding"
    encoded: list[str] = field(default_factory=list)

    def fingerprint(self) -> str:
        return "padding"

    def encode_tokens(self, found: list[str]) -> np.ndarray:
        self.encoded += found
        values = padded([len(text) for text in found])
        for tokens, text in zip(values, found, strict=True):
            tokens[: len(text), 0] = [ord(letter) for letter in text]
        return values


LETTERS = ["abc", "", "a" * 40, "xy", "abc", *(chr(97 + i) * (1 + i % 5) for i in range(20))]


@pytest.mark.usefixtures("untyped")
def test_tokens_in_several_files_are_found_again(tmp_path: Path) -> None:
    network = Padding(tmp_path)
    for _ in range(2):
        table, _ = token_features(LETTERS, network)  # type: ignore[arg-type]
        assert table.counts.tolist() == [len(text) for text in LETTERS]
        for chosen in ([3, 0, 1], [24, 2, 2], [1], list(range(25))):
            values, present = table.read(np.array(chosen))
            longest = max([1, *(len(LETTERS[i]) for i in chosen)])
            assert values.shape == (len(chosen), longest, SIZE)
            for i, tokens, real in zip(chosen, values, present, strict=True):
                text = LETTERS[i]
                assert real.tolist() == [p < len(text) for p in range(longest)]
                assert tokens[real, 0].tolist() == [ord(letter) for letter in text]
                assert not tokens[~real].any()
    assert len(network.encoded) == len(set(LETTERS))
    assert len(table.parts) > 1
    assert all(isinstance(part, np.memmap) for part in table.parts)
    stored_tokens = sum(len(part) for part in table.parts)
    assert stored_tokens == sum(map(len, set(LETTERS)))  # nothing is padded on disk


@pytest.mark.usefixtures("untyped")
def test_a_damaged_number_of_tokens_is_told_and_computed_again(tmp_path: Path) -> None:
    network = Padding(tmp_path)
    token_features(["ab", "c"], network)  # type: ignore[arg-type]
    (described,) = (sentences_folder(network) / f"tokens-{TOKENS}").glob("*.json")  # type: ignore[arg-type]
    (shard,) = shards.shards(described.parent)
    assert shard.counts is not None
    counts = shard.counts.tobytes().hex()
    swapped = shard.counts[::-1].tobytes().hex()
    described.write_text(described.read_text().replace(counts, swapped))
    table, remarks = token_features(["ab", "c"], network)  # type: ignore[arg-type]
    assert "damaged" in remarks[0]
    assert table.counts.tolist() == [2, 1]


def test_no_tokens_at_all() -> None:
    table = TokenTable.of(Ragged.of(padded([0, 0])))
    values, present = table.read(np.array([1, 0, 1]))
    assert values.shape == (3, 1, SIZE)
    assert not present.any()
    table, _ = token_features(["", " "], sentence_encoder())
    assert not table.read(np.array([0, 1]))[1].any()
    assert len(token_features([], sentence_encoder())[0]) == 0


@pytest.mark.usefixtures("untyped")
def test_one_text_is_no_list_of_texts(tmp_path: Path) -> None:
    network = sentence_encoder()
    for call in (
        lambda text: cached_texts(tmp_path, text, Counting(), "texts"),
        lambda text: sentence_features(text, network),
        lambda text: token_features(text, network),
        network.encode,
        network.encode_tokens,
    ):
        with pytest.raises(UsageError, match=r"texts: a list is wanted, found 'a ship' \(str\)"):
            call("a ship")
