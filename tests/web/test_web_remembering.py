"""What a model remembers: each question for itself, and within bounds."""

from __future__ import annotations

from pathlib import Path

import pytest

from trope.embedder import Embedder
from trope.index.model import checkpoint_of
from trope.web.remembering import HEAVIEST, Remembering, weight

Asked = list[tuple[list[str], bool]]


@pytest.fixture(scope="module")
def model(home: Path) -> Remembering:
    return Remembering(checkpoint_of(home / "infonce-index"))


@pytest.fixture
def encoded(model: Remembering, monkeypatch: pytest.MonkeyPatch) -> Asked:
    """What goes through the model."""
    calls: Asked = []
    real = Embedder.texts

    def noted(self: Embedder, texts: list[str], batch: int = 64, *, parts: bool = False) -> object:
        calls.append((list(texts), parts))
        return real(self, texts, batch, parts=parts)

    monkeypatch.setattr(Embedder, "texts", noted)
    return calls


def test_no_text_is_taken_for_another(model: Remembering, encoded: Asked) -> None:
    asked = [("pear", True), ("pear+", False), ("pear", False), ("pear+", True)]
    for text, parts in [*asked, *asked]:
        model.texts([text], parts=parts)
    assert encoded == [([text], parts) for text, parts in asked]


def test_what_is_remembered_is_bounded_by_its_weight(home: Path, encoded: Asked) -> None:
    model = Remembering(checkpoint_of(home / "infonce-index"))
    texts = ["pear", "plum", "rain", "snow", "fog"]
    one = weight(model.texts(["apple"]))
    assert one >= 4 * model.size
    model.kept.heaviest = 3 * one
    model.texts(texts)
    assert len(model.kept) == 3
    model.texts(texts[-3:])
    assert [some for some, _ in encoded] == [["apple"], texts]


def test_the_bound_is_there(model: Remembering) -> None:
    assert model.kept.heaviest == HEAVIEST == 64 * 2**20


def test_what_is_kept_does_not_hold_all_that_was_made_with_it(model: Remembering) -> None:
    model.texts(["flute", "drum", "harp"])
    kept = model.texts(["drum"])
    assert kept.mean.untyped_storage().nbytes() == kept.mean.nbytes
