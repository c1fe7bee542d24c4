"""Recipes, one TOML file each: the rows of the papers' tables."""
