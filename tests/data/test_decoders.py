"""Workers that cannot be started: nothing of those that were stays behind."""

from __future__ import annotations

import errno
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from trope.data.decoders import Decoders
from trope.data.stores import FolderImages
from trope.errors import TropeError


def held() -> list[str]:
    """Files without a name, sockets and processes of this one."""
    links = list(Path("/proc/self/fd").iterdir())
    names = [str(link.readlink()) for link in links if link.is_symlink()]
    tasks = Path("/proc/self/task").iterdir()
    children = [child for task in tasks for child in (task / "children").read_text().split()]
    return sorted([n for n in names if n.startswith(("/memfd:trope", "socket:"))] + children)


@pytest.fixture
def pictures(tmp_path: Path, jpeg: Any) -> Decoders:
    for i in range(4):
        (tmp_path / f"{i}.jpg").write_bytes(jpeg((50 * i, 0, 0)))
    store = FolderImages(tmp_path, pa.chunked_array([[f"{i}.jpg" for i in range(4)]]))
    return Decoders(store, np.arange(4), np.zeros(4, bool), 8, 2, 3)


@pytest.mark.parametrize("code", [errno.EMFILE, errno.ENOMEM])
def test_nothing_stays_when_a_worker_cannot_be_started(
    pictures: Decoders, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, real, started = held(), subprocess.Popen, []

    def popen(*arguments: Any, **options: Any) -> subprocess.Popen[bytes]:
        if len(started) == 1:
            raise OSError(code, os.strerror(code))
        started.append(real(*arguments, **options))
        return started[-1]

    monkeypatch.setattr(subprocess, "Popen", popen)
    with pytest.raises(TropeError, match=os.strerror(code)) as told, pictures:
        pytest.fail("a worker is missing")
    assert held() == before
    assert started[0].returncode is not None
    assert told.value.__cause__ is None


def test_nothing_is_begun_before_it_is_entered_or_left_after(pictures: Decoders) -> None:
    before = held()
    with pictures:
        assert len(held()) > len(before)
        kept = [pixels for pixels, _ in pictures]
    assert kept[1].shape == (2, 8, 8, 3)
    del kept
    pictures._pixels.close()  # no loan is out any more
    assert held() == before
