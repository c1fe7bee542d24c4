"""Training: a recipe and a data set in, a run's folder with the best model out."""

from trope.training.recipes import load_recipe, recipe_names, resolve
from trope.training.settings import Neighborhood, Optimization, Recipe
from trope.training.train import Trained, train

__all__ = [
    "Neighborhood",
    "Optimization",
    "Recipe",
    "Trained",
    "load_recipe",
    "recipe_names",
    "resolve",
    "train",
]
