"""Training: a recipe and a data set in, a run's folder with the best model out."""

from trope.training.recipes import load_recipe, recipe_names, resolve
from trope.training.settings import Neighborhood, Optimization, Recipe
from trope.training.train import Trained, train
from trope.training.weighed import WeighedRun, weigh_run

__all__ = [
    "Neighborhood",
    "Optimization",
    "Recipe",
    "Trained",
    "WeighedRun",
    "load_recipe",
    "recipe_names",
    "resolve",
    "train",
    "weigh_run",
]
