"""Models that this machine already has, by whichever program fetched them."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from pathlib import Path

from trope.errors import UsageError, suggestion


def stored_model(what: str, name: str, known: Iterable[str], advice: str = "") -> Path:
    """The folder of the model `name`, looked up without the network; `what` is for the message."""
    try:
        found = import_module("huggingface_hub").try_to_load_from_cache(name, "config.json")
    except ValueError:  # not even the form of a name
        found = None
    if isinstance(found, str):
        return Path(found).parent
    raise UsageError(
        f"{what} '{name}': no such folder, and no model of this name on this machine"
        f"{advice}{suggestion(name, known)}"
    )
