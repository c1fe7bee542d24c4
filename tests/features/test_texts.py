from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from trope.features import texts
from trope.features.sentences import TOKENS, sentence_encoder
from trope.features.texts import (
    cached_texts,
    sentence_features,
    sentences_folder,
    token_features,
)

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


def test_cached_vectors_and_tokens_equal_fresh_ones() -> None:
    network = sentence_encoder()
    for cached, fresh in (
        (sentence_features, network.encode),
        (token_features, network.encode_tokens),
    ):
        expected = fresh(TEXTS)
        for _ in range(2):
            values, remarks = cached(TEXTS, network)
            assert remarks == ()
            assert values.dtype == expected.dtype
            np.testing.assert_allclose(values, expected, atol=2e-3)
    vectors, tokens = sentence_features(TEXTS, network)[0], token_features(TEXTS, network)[0]
    assert vectors.shape == (6, 384)
    assert tokens.shape == (6, TOKENS, 384)
    assert vectors.any(axis=1).tolist() == [True, False, True, True, False, True]
    lengths = tokens.any(axis=2).sum(axis=1).tolist()
    assert lengths[:3] == [5, 0, 6]
    assert lengths[4:] == [0, TOKENS]


def test_tokens_and_vectors_are_kept_apart() -> None:
    network = sentence_encoder()
    sentence_features(["one"], network)
    token_features(["one"], network)
    folder = sentences_folder(network)
    assert stored(folder) == stored(folder / "tokens") == [1]
