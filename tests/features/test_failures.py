from __future__ import annotations

from pathlib import Path

import numpy as np
import PIL
import pytest

from trope.data import images
from trope.features import failures

DIGESTS = np.array([b"\1" * 16, b"\2" * 15 + b"\0", b"\3" * 16], "S16")


def test_what_is_remembered_is_recalled() -> None:
    assert failures.recall(DIGESTS) == {}
    failures.remember(DIGESTS[1:2], ["cannot be decoded (न्याय)"])
    failures.remember(DIGESTS[2:], ["too many pixels"])
    assert failures.recall(DIGESTS) == {1: "cannot be decoded (न्याय)", 2: "too many pixels"}
    assert failures.recall(DIGESTS[::-1][:1]) == {0: "too many pixels"}


def test_another_decoder_tries_again(monkeypatch: pytest.MonkeyPatch) -> None:
    failures.remember(DIGESTS, ["a", "b", "c"])
    with monkeypatch.context() as patch:
        patch.setattr(PIL, "__version__", "0")
        assert failures.recall(DIGESTS) == {}
    with monkeypatch.context() as patch:
        patch.setenv("TROPE_MAX_PIXELS", "9")
        assert failures.recall(DIGESTS) == {}
    assert len(failures.recall(DIGESTS)) == 3
    monkeypatch.setattr(images, "VERSION", images.VERSION + 1)
    assert failures.recall(DIGESTS) == {}


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"x": "y"}', b"\xff"])
def test_a_damaged_file_counts_as_none(tmp_path: Path, content: bytes) -> None:
    failures.remember(DIGESTS, ["a", "b", "c"])
    (path,) = (tmp_path / ".trope-cache" / "broken").glob("[!.]*")
    path.write_bytes(content)
    assert failures.recall(DIGESTS) == {}
    failures.remember(DIGESTS[:1], ["a"])
    assert failures.recall(DIGESTS) == {0: "a"}


@pytest.mark.parametrize(
    ("reason", "why"),
    [
        ("row 7: cannot be decoded (truncated)", "cannot be decoded (truncated)"),
        ("row 7: 9 pixels, more than 1 pixels; more", "9 pixels, more than 1 pixels; more"),
        ("row 7: cannot be decoded (MemoryError)", None),
        ("row 7: cannot be decoded (out of memory)", None),
        ("row 7: TimeoutError", None),
        ("/disk/7.jpg: Input/output error", None),
    ],
)
def test_only_what_the_bytes_decide_lasts(reason: str, why: str | None) -> None:
    assert failures.lasting(reason) == why
