"""The relevance of a batch: as whole matrices have it, learned from training texts alone."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import planted
import pytest
import torch

import trope
from trope.data.pairs import Pairs
from trope.data.samples import Samples, samples
from trope.data.text import TextPreparation
from trope.spaces.captions import Corpus, Relevance
from trope.training import load_recipe, resolve, train
from trope.training.graded import Graded, graded
from trope.training.task import prepare
from trope.training.validation import validate

PLAIN = TextPreparation()
SHORT = [*planted.PRECOMPUTED, "training.epochs=2"]


@pytest.fixture
def pairs(tmp_path: Path) -> Pairs:
    return trope.open(planted.write(tmp_path / "data", rows=64, texts=3))


def split(pairs: Pairs, name: str) -> Samples:
    """Pictures by number, some of them in two rows."""
    return samples(pairs, np.arange(len(pairs)) // 2, name)


def made(pairs: Pairs, measure: str) -> tuple[Graded, Graded]:
    return graded(pairs, measure, PLAIN, split(pairs, "train"), split(pairs, "val"))


@pytest.mark.parametrize("measure", ["cider", "bleu", "rouge", "mean", "cider-daa"])
@pytest.mark.parametrize("part", ["train", "val"])
def test_a_block_is_what_captions_say_one_by_one(pairs: Pairs, measure: str, part: str) -> None:
    """References are all texts of a picture in the split, over its rows."""
    texts = pairs.flat_texts()[0].to_pylist()

    def corpus(name: str) -> tuple[Corpus, list[int], Samples]:
        chosen = split(pairs, name)
        images = sorted(set(chosen.images.tolist()))
        said = [
            [texts[t] for t, i in zip(chosen.texts, chosen.images, strict=True) if i == image]
            for image in images
        ]
        return Corpus.from_texts(said), images, chosen

    fitted = Relevance(measure).fit(corpus("train")[0])
    whole, images, chosen = corpus(part)
    matrix = fitted.on(whole)
    flat = [text for image in images for text in texts_of(texts, chosen, image)]
    rows = np.random.default_rng(0).permutation(len(chosen))[:9]
    found = made(pairs, measure)[part == "val"].block(rows)
    for a, i in enumerate(rows):
        for b, j in enumerate(rows):
            image = images.index(int(chosen.images[i]))
            caption = flat.index(texts[chosen.texts[j]])
            one = matrix.block(np.array([image]), np.array([caption]))
            assert float(found[a, b]) == pytest.approx(float(one[0, 0]), abs=1e-6)


def texts_of(texts: list[str], chosen: Samples, image: int) -> list[str]:
    return [texts[t] for t, i in zip(chosen.texts, chosen.images, strict=True) if i == image]


def test_own_texts_are_most_relevant(pairs: Pairs) -> None:
    found = made(pairs, "cider")[0].block(np.arange(0, 60, 6))
    assert (found.diagonal() >= found.amax(dim=1)).all()


def test_words_of_validation_change_nothing_for_training(pairs: Pairs, tmp_path: Path) -> None:
    lines = [json.loads(row) for row in (pairs.root / "pairs.jsonl").read_text().splitlines()]
    for line in lines:
        if line["split"] != "train":
            line["texts"] = ["other words"] * len(line["texts"])
    other = tmp_path / "other"
    other.mkdir()
    (other / "pairs.jsonl").write_text("\n".join(map(json.dumps, lines)))
    rows = np.arange(20)
    one, changed = (made(some, "cider")[0].block(rows) for some in (pairs, trope.open(other)))
    assert torch.equal(one, changed)


def test_one_text_a_picture_is_its_own_reference(tmp_path: Path) -> None:
    pairs = trope.open(planted.write(tmp_path / "data", rows=64))
    train_pairs = samples(pairs, np.arange(len(pairs)), "train")
    found = graded(pairs, "cider", PLAIN, train_pairs, train_pairs)[0].block(np.arange(8))
    torch.testing.assert_close(found.diagonal(), torch.ones(8))


def test_validation_ranks_by_relevance_too(pairs: Pairs) -> None:
    """The loss of the whole recipe, which a schedule by plateaus goes by."""
    losses = []
    for weight in (0.0, 2.0):
        sets = [*SHORT, f"daa.weight={weight}"]
        task = prepare(pairs, resolve(load_recipe("vse-daa"), sets, 100), 0)
        losses.append(validate(task, 16, 0).loss)
    assert 0.3 < losses[1] - losses[0] < 2.5


def test_a_table_turns_it_on_and_none_turns_it_off(pairs: Pairs, tmp_path: Path) -> None:
    sets = [*SHORT, "training.epochs=1", "daa.weight=0.5", "daa.relevance=bleu"]
    done = train("angular", pairs, tmp_path / "run", sets=sets, quiet=True)
    assert done.settings.daa is not None
    assert (done.settings.daa.weight, done.settings.daa.relevance) == (0.5, "bleu")
    text = (tmp_path / "run" / "config.toml").read_text()
    assert "[daa]" in text
    again = resolve(load_recipe(str(tmp_path / "run" / "config.toml")), ["daa=none"], 100)
    assert again.daa is None


def test_it_goes_with_weights_of_pairs(pairs: Pairs, tmp_path: Path) -> None:
    sets = [*SHORT, "neighbors.k=4", "daa.weight=0.1", "daa.temperature=0.02"]
    done = train("diversity", pairs, tmp_path / "run", sets=sets, quiet=True)
    assert len(done.progress.history) == 2
