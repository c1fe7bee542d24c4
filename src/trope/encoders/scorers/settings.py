"""The settings that SGR and SAF share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class Alignment:
    """Similarity vectors of `size` dimensions; `temperature` multiplies what attention compares."""

    locals: ClassVar[bool] = True  # whether items are compared by their parts

    size: int = 256
    temperature: float = 9.0

    def __post_init__(self) -> None:
        check_least(size=self.size)
        if not self.temperature > 0:
            raise ValueError(f"temperature must be above 0, found {self.temperature}")


def check_least(**settings: int) -> None:
    """Refuse what is below one, by name."""
    for name, value in settings.items():
        if value < 1:
            raise ValueError(f"{name} must be at least 1, found {value}")
