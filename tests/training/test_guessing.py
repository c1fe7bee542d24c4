"""A model that may be guessing is said to be; one that is not, is not."""

from __future__ import annotations

from pathlib import Path

import planted
import pytest

from trope.training import train
from trope.training.guessing import no_better
from trope.training.state import Progress


def reached(image_to_text: float, text_to_image: float) -> Progress:
    """A run of two epochs, the second the best."""
    first = {"val_image_to_text": 0.9, "val_text_to_image": 0.9}
    best = {"val_image_to_text": image_to_text, "val_text_to_image": text_to_image}
    return Progress(best_epoch=1, history=[first, best])


def test_what_luck_could_reach() -> None:
    """Of 64 pairs, guessing finds 0.2 with a deviation of 0.05."""
    assert no_better(reached(0.31, 0.31), 64) == []
    (said,) = no_better(reached(0.27, 0.31), 64)
    assert "5-way recall 0.290 on 64 validation pairs" in said
    assert "(0.200, or up to 0.300 by luck)" in said
    assert no_better(reached(0.27, 0.31), 640) == []


def test_nothing_is_said_without_recall() -> None:
    assert no_better(Progress(best_epoch=0, history=[{"val_loss": 1.0}]), 3) == []


@pytest.mark.parametrize(("rate", "guessing"), [("1e-9", True), ("1e-3", False)])
def test_a_run_says_so_at_its_end(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], rate: str, guessing: bool
) -> None:
    data = planted.write(tmp_path / "data", rows=128)
    sets = [*planted.PRECOMPUTED, f"training.learning_rate={rate}", "training.epochs=4"]
    train("angular", data, tmp_path / "run", sets=sets)
    assert ("cannot be told from guessing" in capsys.readouterr().err) is guessing
