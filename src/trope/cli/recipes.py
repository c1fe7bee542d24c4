"""`trope recipes`: what can be trained, and the paper each comes from."""

from __future__ import annotations

from trope.cli.options import Json
from trope.cli.output import print_json, table


def command(json: Json = False) -> None:
    """List the recipes of the package."""
    from trope.training.recipes import load_recipe, recipe_names

    found = {name: load_recipe(name) for name in recipe_names()}
    if json:
        print_json([{"name": n, "about": r.about, "paper": r.paper} for n, r in found.items()])
        return
    table("", ["recipe", "what", "from"], [[n, r.about, r.paper] for n, r in found.items()])
