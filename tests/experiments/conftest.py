"""Every test of an experiment gets a miniature of the data."""

from __future__ import annotations

from pathlib import Path

import pytest
from crisscrossed_sample import write


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write(tmp_path / "annotations")
