"""Recipes: settings files in the package, by name; a user's own file works the same way."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

from trope import config
from trope.errors import UsageError, suggestion
from trope.training.settings import Recipe, dotted
from trope.training.small import Scale, small_changes


def recipe_names() -> list[str]:
    """The recipes of the package."""
    folder = resources.files("trope.recipes")
    return sorted(item.name[:-5] for item in folder.iterdir() if item.name.endswith(".toml"))


def recipe_path(name: str) -> Path:
    """The file of a recipe: one of the package, or a TOML file of the user's."""
    if name.endswith(".toml"):
        return Path(name)
    if name not in recipe_names():
        raise UsageError(f"no recipe '{name}'{suggestion(name, recipe_names())}")
    with resources.as_file(resources.files("trope.recipes") / f"{name}.toml") as path:
        return path


def load_recipe(name: str) -> Recipe:
    """A recipe as it is written, which knows what stands in its file."""
    path = recipe_path(name)
    document = config.read_toml(path)
    recipe = config.parse(Recipe, document, str(path))
    object.__setattr__(recipe, "written", frozenset(dotted(document)))
    return recipe


def resolve(recipe: Recipe, sets: Sequence[str], pairs: int, scale: Scale = "auto") -> Recipe:
    """Settings for so many training pairs: the recipe's, those for small data, then the user's.

    What comes out is settled: resolved again it stays as it is.
    """
    changed = config.override(recipe, [*small_changes(recipe, sets, pairs, scale), *sets])
    return replace(changed, small=None)


def as_sets(settings: Mapping[str, Any], before: str = "") -> list[str]:
    """Settings given as keywords, in tables or by dotted names, written like `--set`."""
    found: list[str] = []
    for name, value in settings.items():
        if isinstance(value, Mapping):
            found += as_sets(value, f"{before}{name}.")
        else:
            text = config.NONE if value is None else json.dumps(value, ensure_ascii=False)
            found.append(f"{before}{name}={text}")
    return found
