"""Contact sheets: what stands where, and captions that fit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import ImageFont

import trope
from trope.data.contact import BLANK, GAP, contact_sheet, wrapped
from trope.data.pairs import Pairs

COLORS = ((200, 30, 30), (30, 160, 40), (40, 60, 200))


@pytest.fixture
def pairs(tmp_path: Path, write_jpeg: Callable[..., Path]) -> Pairs:
    """Three pictures of one color each, and a row without one."""
    rows = [{"id": f"r{k}", "image": f"{k}.jpg", "text": f"picture {k}"} for k in range(3)]
    for row, color in zip(rows, COLORS, strict=True):
        write_jpeg(row["image"], color)
    lines = [orjson.dumps(row) for row in (*rows, {"id": "bare", "text": "no picture"})]
    (tmp_path / "pairs.jsonl").write_bytes(b"\n".join(lines))
    return trope.open(tmp_path)


def test_pictures_stand_in_reading_order(pairs: Pairs) -> None:
    sheet = contact_sheet(pairs, [2, 0, 3, 1], columns=2, size=64)
    pixels = np.asarray(sheet, np.int64)
    wide = 64 + GAP
    high = (sheet.height - GAP) // 2
    expected = (COLORS[2], COLORS[0], BLANK, COLORS[1])
    for place, color in enumerate(expected):
        y = GAP + place // 2 * high + 32
        x = GAP + place % 2 * wide + 32
        assert np.abs(pixels[y, x] - color).max() < 8


def test_every_picture_has_its_text_below(pairs: Pairs) -> None:
    sheet = contact_sheet(pairs, [0, 1], columns=2, size=64)
    below = np.asarray(sheet.convert("L"))[GAP + 64 + 3 :]
    for left in (GAP, 64 + 2 * GAP):
        assert below[:, left : left + 64].min() < 100


def test_a_short_last_line_and_no_rows_at_all(pairs: Pairs) -> None:
    three = contact_sheet(pairs, [0, 1, 2], columns=2, size=64)
    four = contact_sheet(pairs, [0, 1, 2, 3], columns=2, size=64)
    assert three.size == four.size
    assert contact_sheet(pairs, [], columns=5).size[0] > 0


@pytest.mark.parametrize(("columns", "size"), [(0, 64), (3, 0)])
def test_absurd_sheets_are_refused(pairs: Pairs, columns: int, size: int) -> None:
    with pytest.raises(ValueError, match="positive"):
        contact_sheet(pairs, [0], columns=columns, size=size)


@given(st.text(max_size=200), st.integers(30, 200), st.integers(1, 5))
def test_captions_fit(text: str, width: int, lines: int) -> None:
    font = ImageFont.load_default(13)
    done = wrapped(text, font, width, lines)
    assert len(done) <= lines
    assert all(len(line) == 1 or font.getlength(line) <= width for line in done)
    words = "".join(text.split())
    kept = "".join("".join(done).split())
    assert kept == words or (kept.endswith("…") and words.startswith(kept[:-1]))


def test_words_stay_whole_where_they_can() -> None:
    font = ImageFont.load_default(13)
    lines = wrapped("the quick brown fox jumps over the lazy dog", font, 90, 9)
    assert " ".join(lines) == "the quick brown fox jumps over the lazy dog"
    assert len(lines) > 2
