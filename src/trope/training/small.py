"""Small data wants other settings than the papers': which ones, and when they hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any, Literal

from trope import config
from trope.training.settings import Recipe

SMALL = 20_000  # training pairs below which the data is small
FILE = "small.toml"

Scale = Literal["auto", "small", "large"]


def small_lists() -> dict[str, list[str]]:
    """The lists of `small.toml`: for all recipes, for each text encoder, for heads that attend."""
    with resources.as_file(resources.files("trope.training") / FILE) as path:
        return config.read_toml(path)


def small_changes(recipe: Recipe, sets: Sequence[str], pairs: int, scale: Scale) -> list[str]:
    """What holds because the data is small, a setting once, without what the user sets.

    What a recipe sets itself stays, be it to the default; only its own `small` changes that.
    """
    wanted, lists = config.override(recipe, sets), small_lists()
    if wanted.small is None or not (pairs < SMALL if scale == "auto" else scale == "small"):
        return []
    shared = lists["always"] + lists[wanted.text.encoder]
    attending = wanted.head.senses > 1 or wanted.scorer["name"] == "match"
    shared += lists["senses"] if attending else []
    changes = [change for change in shared if not _is_set(recipe, setting(change))]
    changes += wanted.small
    last = {setting(change): change for change in changes}
    chosen = [setting(change) for change in sets]
    return [last[name] for name in last if not any(_inside(name, other) for other in chosen)]


def setting(change: str) -> str:
    """The dotted name in `a.b=c`."""
    return ".".join(name.strip() for name in change.partition("=")[0].split("."))


def is_default(recipe: Recipe, name: str) -> bool:
    """Whether a setting, by its dotted name, has the value it has where nobody sets it."""
    return bool(_value(recipe, name) == _value(Recipe(), name))


def _is_set(recipe: Recipe, name: str) -> bool:
    """Whether a recipe says something of a setting, in its file or by another value."""
    written = any(_inside(name, other) or _inside(other, name) for other in recipe.written)
    return written or not is_default(recipe, name)


def _value(recipe: Recipe, name: str) -> Any:
    found = config.plain(recipe)
    for part in name.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def _inside(name: str, other: str) -> bool:
    return name == other or name.startswith(f"{other}.")
