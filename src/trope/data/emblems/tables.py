"""The tables of the Emblem Book that come with the package."""

from __future__ import annotations

import tomllib
from importlib import resources
from typing import Any


def read_table(name: str) -> dict[str, Any]:
    """One of the package's TOML files."""
    return tomllib.loads((resources.files(__package__) / name).read_text(encoding="utf-8"))


def topic_names() -> list[str]:
    """The topics there is a file for, in alphabetical order."""
    files = (resources.files(__package__) / "topics").iterdir()
    return sorted(file.name.removesuffix(".toml") for file in files if file.name.endswith(".toml"))
