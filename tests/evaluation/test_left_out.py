"""Rows that are not asked are told, with the reason and the place of the first."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from evaluation_samples import pairs_of

from trope.evaluation.left_out import left_out

ROWS = [
    {"id": "a", "image": "1.jpg", "texts": ["one"], "split": "test"},
    {"id": "b", "image": "2.jpg", "texts": ["two"], "split": "test"},
    {"id": "c", "texts": ["three"], "split": "test"},
    {"id": "d", "image": "4.jpg", "texts": [], "split": "test"},
    {"id": "e", "image": "5.jpg", "texts": [" \u200b"], "split": "test"},
    {"id": "f", "image": "6.jpg", "texts": ["six"], "split": "test"},
    {"id": "g", "image": "7.jpg", "texts": [], "split": "train"},
]


def test_each_reason_with_its_count_and_first_row(tmp_path: Path) -> None:
    pairs = pairs_of(tmp_path, ROWS)
    pictures = np.array([0, -1, -1, 1, 2, -1, -1])
    failed = {1: "row 17: cannot be decoded (broken)", 5: "2.jpg: gone", 6: "gone"}
    assert left_out(pairs, pictures, "test", failed) == (
        "2 rows of split 'test' left out, with a picture that cannot be used: "
        "the first is row 'b' (line 2), 2.jpg: cannot be decoded (broken)",
        "1 row of split 'test' left out, with no picture: row 'c' (line 3)",
        "2 rows of split 'test' left out, with no text: the first is row 'd' (line 4)",
    )


def test_nothing_is_told_where_all_rows_are_asked(tmp_path: Path) -> None:
    pairs = pairs_of(tmp_path, ROWS[:2])
    assert left_out(pairs, np.arange(2), "test") == ()
