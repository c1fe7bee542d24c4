from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trope.features import shards

DIGESTS = np.array([bytes([i]) * 15 + b"\0" for i in range(1, 7)], "S16")
VALUES = np.random.default_rng(0).normal(size=(6, 3)).astype(np.float16)


def test_what_is_written_is_found_and_mapped(tmp_path: Path) -> None:
    shards.write(tmp_path, DIGESTS[:4], VALUES[:4])
    shards.write(tmp_path, DIGESTS[4:], VALUES[4:])
    found = shards.shards(tmp_path)
    assert [shard.path.name for shard in found] == ["000001.npy", "000002.npy"]
    assert all(shard.intact for shard in found)
    assert isinstance(found[0].features(), np.memmap)
    np.testing.assert_array_equal(np.concatenate([s.features() for s in found]), VALUES)
    np.testing.assert_array_equal(np.concatenate([s.digests for s in found]), DIGESTS)


def test_every_single_byte_counts(tmp_path: Path) -> None:
    path = shards.write(tmp_path, DIGESTS, VALUES).path
    data = path.read_bytes()
    for place in range(0, len(data), 7):
        changed = bytearray(data)
        changed[place] ^= 0x10
        path.write_bytes(changed)
        assert not shards.shards(tmp_path)[0].intact
    path.write_bytes(data)
    assert shards.shards(tmp_path)[0].intact


def test_removed_numbers_are_not_mixed_up_with_older_ones(tmp_path: Path) -> None:
    for part in (slice(0, 2), slice(2, 4)):
        shards.write(tmp_path, DIGESTS[part], VALUES[part])
    shards.shards(tmp_path)[0].remove()
    shards.write(tmp_path, DIGESTS[4:], VALUES[4:])
    assert [shard.path.name for shard in shards.shards(tmp_path)] == ["000002.npy", "000003.npy"]


def test_no_folder_holds_no_shards(tmp_path: Path) -> None:
    assert shards.shards(tmp_path / "none") == []


keys = st.binary(min_size=16, max_size=16).filter(any)


@given(st.lists(st.lists(keys, max_size=4), max_size=4), st.lists(keys))
def test_look_up_by_hand(held: list[list[bytes]], others: list[bytes]) -> None:
    there = [shards.Shard(Path("x"), np.array(part, "S16"), "") for part in held]
    wanted = np.array([*others, *(key for part in held for key in part)], "S16")
    places = shards.look_up(there, wanted)
    everything = {key: None for part in held for key in np.array(part, "S16").tolist()}
    for i, key in enumerate(wanted.tolist()):
        if key in everything:
            assert there[places.part[i]].digests[places.offset[i]] == key
        else:
            assert places.part[i] == places.offset[i] == -1
    missing = [i for i, key in enumerate(wanted.tolist()) if key not in everything]
    assert places.missing.tolist() == missing


def test_a_checksum_is_compared_once_in_a_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = shards.write(tmp_path, DIGESTS, VALUES).path
    compared: list[int] = []
    plain = shards._checksum
    monkeypatch.setattr(shards, "_checksum", lambda *a: compared.append(1) or plain(*a))
    assert all(shards.shards(tmp_path)[0].intact for _ in range(3))
    assert len(compared) == 3  # so new that a change might not show in its date
    os.utime(path, (1, 1))
    assert all(shards.shards(tmp_path)[0].intact for _ in range(3))
    assert len(compared) == 4
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    assert not any(shards.shards(tmp_path)[0].intact for _ in range(2))
    assert len(compared) == 6


def test_other_digests_are_compared_again(tmp_path: Path) -> None:
    path = shards.write(tmp_path, DIGESTS, VALUES).path
    os.utime(path, (1, 1))
    shard = shards.shards(tmp_path)[0]
    assert shard.intact
    assert not shards.Shard(path, DIGESTS[::-1], shard.checksum).intact
