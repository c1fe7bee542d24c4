"""What stands on a page."""

from __future__ import annotations

from trope.explain.page import LONGEST, shown


def test_long_texts_are_cut_and_control_characters_replaced() -> None:
    assert shown("two\nlines\t here") == "two lines here"
    assert shown("bell\x07 and \x9b") == "bell\ufffd and \ufffd"
    assert shown("न्‍याय 👩‍👧") == "न्‍याय 👩‍👧"  # joiners stay
    assert shown("x" * LONGEST["card"]) == "x" * LONGEST["card"]
    assert shown("x" * 10_000_000) == "x" * (LONGEST["card"] - 1) + "…"
    assert shown(" " * 10_000 + "late") == "…"
    assert len(shown("word " * 1_000, "pair")) <= LONGEST["pair"]
