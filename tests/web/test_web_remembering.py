"""What a model remembers: each question for itself, and within bounds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from trope.embedder import Embedder
from trope.index.job import checkpoint_of
from trope.web.remembering import Remembering

Asked = list[tuple[list[str], bool]]


@pytest.fixture(scope="module")
def model(home: Path) -> Remembering:
    return Remembering(checkpoint_of(home / "infonce-index"))


@pytest.fixture
def encoded(model: Remembering, monkeypatch: pytest.MonkeyPatch) -> Iterator[Asked]:
    """What goes through the model."""
    calls: Asked = []
    real = Embedder.texts

    def noted(self: Embedder, texts: list[str], batch: int = 64, *, parts: bool = False) -> object:
        calls.append((list(texts), parts))
        return real(self, texts, batch, parts=parts)

    monkeypatch.setattr(Embedder, "texts", noted)
    yield calls


def test_no_text_is_taken_for_another(model: Remembering, encoded: Asked) -> None:
    asked = [("pear", True), ("pear+", False), ("pear", False), ("pear+", True)]
    for text, parts in [*asked, *asked]:
        model.texts([text], parts=parts)
    assert encoded == [([text], parts) for text, parts in asked]
