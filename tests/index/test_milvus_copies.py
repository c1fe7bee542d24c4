"""Copies of a folder name one collection: only one of them may write to it."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from index_samples import items, made

from trope.errors import DataError, UsageError
from trope.index import IndexSettings, open_engine
from trope.index.folder import read_state, write_state
from trope.index.milvus import claims

pytestmark = pytest.mark.xdist_group("milvus")

SWITCH = "trope.index.milvus.writing.write_state"
CLAIM = "trope.index.milvus.claims.write_json"


class Killed(BaseException):
    """As if the process ended here."""


def ends(*_: object) -> None:
    raise Killed


def killed(folder: Path, at: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write through the folder that ends half-way."""
    index = open_engine(folder)
    with monkeypatch.context() as patch:
        patch.setattr(at, ends)
        with pytest.raises(Killed):
            index.add(*items(3, seed=1, start=50))
    index.close()


def copied(milvus: IndexSettings, tmp_path: Path) -> tuple[Path, Path, list[str]]:
    """Two folders of one collection, and its items."""
    one, other, some = tmp_path / "one", tmp_path / "other", items(10)
    index = made(one, milvus)
    index.add(*some)
    index.close()
    shutil.copytree(one, other)
    return one, other, some[0]


def test_a_copy_does_not_write_over_what_another_has_written(
    milvus: IndexSettings, tmp_path: Path
) -> None:
    one, other, ids = copied(milvus, tmp_path)
    first, second = open_engine(one), open_engine(other)
    assert second.remove(["image:nobody"]) == 0  # takes nothing from the first
    first.add(*items(5, seed=1, start=50))
    for write in (lambda: second.remove(ids[:2]), lambda: second.add(*items(1, start=90))):
        with pytest.raises(UsageError, match="other: the collection was changed through another"):
            write()
    assert (first.count("image"), second.count("image")) == (15, 10)
    assert first.remove(ids[:2]) == 2
    assert first.count("image") == 13
    shutil.rmtree(other)
    shutil.copytree(one, other)  # as it is now
    again = open_engine(other)
    assert again.remove(ids[2:3]) == 1
    with pytest.raises(UsageError, match="one: the collection was changed through another"):
        first.remove(ids[3:4])
    for index in (first, second, again):
        index.close()


def test_a_folder_goes_on_after_writes_of_its_own_that_were_killed(
    milvus: IndexSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other, ids = copied(milvus, tmp_path)
    for at in (SWITCH, CLAIM, SWITCH, SWITCH):
        killed(one, at, monkeypatch)
    with pytest.raises(UsageError, match="through another copy"):
        open_engine(other).remove(ids[:1])
    index = open_engine(one)
    assert index.count("image") == 10
    assert index.remove(ids[:1]) == 1
    assert not (one / claims.NOTE).exists()
    index.close()


def test_a_killed_switch_of_another_copy_is_not_taken_for_an_own_write(
    milvus: IndexSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other, ids = copied(milvus, tmp_path)
    killed(one, "trope.index.milvus.writing.settled", monkeypatch)  # after the switch
    with pytest.raises(UsageError, match="through another copy"):
        open_engine(other).remove(ids[:1])
    index = open_engine(one)
    assert index.count("image") == 13
    assert index.remove(ids[:1]) == 1
    assert index.count("image") == 12
    index.close()


def test_a_note_that_is_damaged_and_an_index_of_an_earlier_version_are_told(
    milvus: IndexSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other, ids = copied(milvus, tmp_path)
    killed(one, SWITCH, monkeypatch)
    (one / claims.NOTE).write_bytes(b"{")
    with pytest.raises(DataError, match=r"writer\.json: damaged"):
        open_engine(one).remove(ids[:1])
    state = read_state(other)
    del state.remote[claims.WRITER]
    write_state(other, replace(state))
    with pytest.raises(DataError, match="made by an earlier version"):
        open_engine(other)
