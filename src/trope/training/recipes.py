"""Recipes: settings files in the package, by name; a user's own file works the same way."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Literal

from trope import config
from trope.errors import UsageError, suggestion
from trope.training.settings import Recipe

SMALL = 20_000  # training pairs below which a recipe's `small` settings hold

Scale = Literal["auto", "small", "large"]


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
    """A recipe as it is written."""
    return config.load(Recipe, recipe_path(name))


def resolve(recipe: Recipe, sets: list[str], pairs: int, scale: Scale = "auto") -> Recipe:
    """Settings for so many training pairs: the recipe's, its `small` changes, then the user's."""
    small = pairs < SMALL if scale == "auto" else scale == "small"
    return config.override(recipe, [*(recipe.small if small else ()), *sets])
