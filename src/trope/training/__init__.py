"""Training: a recipe and a data set in, a run's folder with the best model out."""

from trope.training.recipes import load_recipe, recipe_names, resolve
from trope.training.settings import Experiment, Neighborhood, Optimization
from trope.training.train import Trained, train

__all__ = [
    "Experiment",
    "Neighborhood",
    "Optimization",
    "Trained",
    "load_recipe",
    "recipe_names",
    "resolve",
    "train",
]
