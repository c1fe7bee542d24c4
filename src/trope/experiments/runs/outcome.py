"""What is kept of a run: a number for every query, and how it was trained."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from jaxtyping import Float, Int
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from trope.files import replacing

Values = Float[np.ndarray, " queries"]
Clusters = Int[np.ndarray, " queries"]

PARTS = ("values", "clusters")


@dataclass(frozen=True, eq=False)
class Answers:
    """One direction: the ids of the queries, the number of each, and the component it is of."""

    ids: tuple[str, ...]
    values: Values
    clusters: Clusters


@dataclass(frozen=True, eq=False)
class Outcome:
    """The answers by name, and what is known of the run: seed, validation, time, commit, settings.

    Answers are named by direction (`image_to_text`) or by modality (`image`).
    """

    answers: Mapping[str, Answers]
    about: Mapping[str, Any]

    def save(self, path: Path) -> None:
        """Write it, whole or not at all."""
        tensors: dict[str, np.ndarray] = {}
        for name, found in self.answers.items():
            tensors |= {f"{name}.values": found.values, f"{name}.clusters": found.clusters}
        ids = {name: found.ids for name, found in self.answers.items()}
        text = orjson.dumps({"about": self.about, "ids": ids}).decode()
        with replacing(path) as file:
            file.write(save(tensors, {"document": text}))

    @classmethod
    def load(cls, path: Path) -> Outcome | None:
        """What was kept, if it is there and whole."""
        try:
            with safe_open(path, framework="np") as file:
                document = orjson.loads(file.metadata()["document"])
                answers = {
                    name: Answers(tuple(ids), *(file.get_tensor(f"{name}.{p}") for p in PARTS))
                    for name, ids in document["ids"].items()
                }
                return cls(answers, document["about"])
        except (OSError, SafetensorError, KeyError, TypeError, orjson.JSONDecodeError):
            return None
