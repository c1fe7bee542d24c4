"""What the papers say stands in the recipes, and words start as Doc2Vec leaves them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import planted
import pytest
import torch

import trope
from trope.encoders.gru import Gru
from trope.spaces import Doc2Vec
from trope.spaces.paragraphs import Training
from trope.training import load_recipe, resolve
from trope.training.task import build_loss, prepare

ANGULAR, TRIPLET = {"text": 0.2, "image": 0.3}, {"text": 0.3, "image": 0.1}
NEEDS: dict[str, set[str]] = {
    "neighborhoods": {"near-text", "near-image"},
    "structure-gt": {"near-text"},
    "structure-image": {"near-image"},
    "soft-targets": {"meaning", "look"},
    "angular": set(),
    "pcme": {"odds"},
    "pcme-daa": {"odds", "relevance"},
    "vse-daa": {"relevance"},
    "sgr-daa": {"relevance"},
}


@pytest.mark.parametrize(
    ("name", "loss"),
    [
        ("angular", {"name": "angular"}),
        ("triplet", {"name": "triplet"}),
        ("hard-negative", {"name": "triplet", "hard": True, "margin": 0.2}),
        ("neighborhoods", {"name": "angular", **ANGULAR}),
        ("neighborhoods-image", {"name": "angular", **ANGULAR}),
        ("neighborhoods-triplet", {"name": "triplet", **TRIPLET}),
        ("pvse-neighborhoods", {"name": "angular", **ANGULAR}),
        ("pvse-neighborhoods-triplet", {"name": "triplet", **TRIPLET}),
        ("structure-image", {"name": "structure", "text": 0.0, "image": 0.05}),
    ],
)
def test_weights_of_losses(name: str, loss: dict[str, Any]) -> None:
    assert dict(load_recipe(name).loss) == loss


@pytest.mark.parametrize("name", NEEDS)
def test_what_a_recipe_needs_beside_its_pairs(name: str) -> None:
    assert build_loss(load_recipe(name)).needs == NEEDS[name]


def test_a_term_is_dropped_by_its_weight() -> None:
    settings = resolve(load_recipe("neighborhoods"), ["loss.image=0"], 10**6)
    assert build_loss(settings).needs == {"near-text"}


def test_where_neighbors_come_from() -> None:
    found = {name: load_recipe(name).neighbors.source for name in NEEDS}
    assert found["neighborhoods"] == found["structure-image"] == "text"
    assert found["structure-gt"] == "siblings"
    assert load_recipe("neighborhoods-image").neighbors.source == "image"


@pytest.mark.parametrize("name", ["pvse", "pvse-angular", "pvse-neighborhoods"])
def test_several_senses_and_their_penalties(name: str) -> None:
    recipe = load_recipe(name)
    assert recipe.head.senses == 2
    assert dict(recipe.penalties) == {"diversity": 0.1, "mmd": 0.01}


def test_the_model_of_paper_004_is_the_default() -> None:
    recipe = load_recipe("neighborhoods")
    text = recipe.text
    assert (text.encoder, text.words, text.hidden, text.pretrained) == ("gru", 200, 512, True)
    assert (recipe.head.size, recipe.head.senses, recipe.head.attention) == (256, 1, 0)


def test_words_start_as_doc2vec_leaves_them(tmp_path: Path) -> None:
    pairs = trope.open(planted.write(tmp_path / "data", rows=64))
    sets = [*planted.PRECOMPUTED, "text.min_count=1"]
    settings = resolve(load_recipe("angular"), sets, 10**6)
    task = prepare(pairs, settings, 0)
    encoder = task.model.text.encoder
    assert isinstance(encoder, Gru)
    space = Doc2Vec(Training(size=12), settings.text.preparation).model(pairs)
    known = dict(zip(space.words, torch.from_numpy(space.word_vectors), strict=True))
    assert known
    for place, word in enumerate(task.plan.words, start=2):
        if word in known:
            assert torch.equal(encoder.words.weight[place], known[word]), word
    assert not encoder.words.weight[0].any()
