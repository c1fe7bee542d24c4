from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from encoder_samples import Small, data_set, six, write_pictures

from trope import config
from trope.data.images import decode
from trope.data.pairs import Pairs
from trope.data.text import TextPreparation
from trope.data.vocabulary import UNKNOWN, Vocabulary
from trope.encoders import HeadSettings, ImageSettings, Plan, TextSettings, encode
from trope.encoders.frozen import Frozen
from trope.encoders.gru import Gru
from trope.encoders.heads import Linear, PieNet
from trope.encoders.inputs import Tokens, Words
from trope.encoders.pixels import Pixels
from trope.errors import DataError
from trope.features import BACKBONES
from trope.features.sentences import sentence_encoder

SMALL = TextSettings(words=4, hidden=6, min_count=1)


@pytest.fixture(autouse=True)
def _small_backbone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BACKBONES, "small", lambda device: Small())
    monkeypatch.setitem(BACKBONES, "larger", lambda device: Small(channels=5))


@pytest.fixture
def pairs(tmp_path: Path) -> Pairs:
    return six(tmp_path / "data")


def plan(senses: int = 1, text: TextSettings = SMALL) -> Plan:
    return Plan(ImageSettings(backbone="small"), text, HeadSettings(size=8, senses=senses))


def fitted(pairs: Pairs, senses: int = 1) -> Plan:
    made = plan(senses).fitted(pairs)
    return replace(made, image_size=made.pictures(pairs).size)


def test_words_come_from_training_texts_alone(pairs: Pairs) -> None:
    made = plan().fitted(pairs)
    assert set(made.words) == {"a", "red", "ship", "the", "old", "bread", "and", "salt"}
    found = made.texts(pairs).inputs
    assert len(found) == 6
    ((ids, lengths),) = found.batches([np.array([4, 3])], None)
    known = Vocabulary(made.words)
    assert ids[0, :2].tolist() == [int(known.encode(["salt"])[0]), UNKNOWN]  # zebra: only in test
    assert ids[1].tolist() == known.encode(["a", "red", "loaf"]).tolist()
    assert lengths.tolist() == [2, 3]


def test_texts_are_prepared_and_cut(tmp_path: Path) -> None:
    rows = [{"text": "<i>One</i> TWO three four", "split": "train"}]
    settings = replace(SMALL, longest=3, preparation=TextPreparation(lower=True))
    made = plan(text=settings).fitted(data_set(tmp_path, rows))
    found = made.texts(data_set(tmp_path, rows)).inputs
    assert isinstance(found, Words)
    assert [made.words[i - 2] for i in found.flat] == ["one", "two", "three"]


def test_words_seen_once_stand_for_the_unknown(pairs: Pairs) -> None:
    made = plan(text=TextSettings(words=4, hidden=6)).fitted(pairs)
    assert made.words == ("ship",)
    ((ids, _),) = made.texts(pairs).inputs.batches([np.array([0])], None)
    assert ids.tolist() == [[UNKNOWN, UNKNOWN, 2]]


def test_no_word_is_frequent_enough(pairs: Pairs) -> None:
    with pytest.raises(DataError, match=r"no word occurs 3 times.*lower text\.min_count"):
        plan(text=replace(SMALL, min_count=3)).fitted(pairs)


def test_no_words_to_learn_from(tmp_path: Path) -> None:
    pairs = data_set(
        tmp_path, [{"text": "a word", "split": "test"}, {"text": "", "split": "train"}]
    )
    with pytest.raises(DataError, match="no words"):
        plan().fitted(pairs)


def test_only_a_gru_needs_words(pairs: Pairs) -> None:
    made = plan(text=TextSettings("sentence"))
    assert made.fitted(pairs) is made


def by_hand(pairs: Pairs, kind: str) -> np.ndarray:
    pixels = [decode(pairs.images.read(row), size=8) for row in range(len(pairs))]
    return Small().encode(np.stack(pixels), kind)


def squares(count: int) -> np.ndarray:
    """Seven by seven cells, numbered."""
    return np.tile(np.arange(49.0, dtype=np.float32)[:, None], (count, 1, 3))


@pytest.mark.parametrize(("senses", "kind"), [(1, "pooled"), (2, "grid")])
def test_pictures_as_features(pairs: Pairs, senses: int, kind: str) -> None:
    found = plan(senses).pictures(pairs)
    assert found.size == 3
    ((values,),) = found.inputs.batches([found.rows], None)
    np.testing.assert_array_equal(values.numpy(), by_hand(pairs, kind))


def test_pictures_in_fewer_cells(pairs: Pairs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Small, "encode", lambda self, pixels, kind: squares(len(pixels)))
    made = replace(plan(2), image=ImageSettings(backbone="small", grid=1)).pictures(pairs)
    ((values,),) = made.inputs.batches([made.rows], None)
    assert values.shape == (6, 1, 3)
    np.testing.assert_allclose(values[:, 0].numpy(), np.full((6, 3), 24.0))
    with pytest.raises(ValueError, match="grid must be from 1 to 7, found 8"):
        ImageSettings(grid=8)


def test_pictures_as_pixels(tmp_path: Path) -> None:
    names = write_pictures(tmp_path, 2)
    (tmp_path / "copy.png").write_bytes((tmp_path / names[1]).read_bytes())
    images = [names[1], None, names[0], "copy.png", "lost.png"]
    pairs = data_set(tmp_path, [{"image": image, "text": "x"} for image in images])
    found = replace(plan(), image=ImageSettings("tuned")).pictures(pairs, seed=4)
    assert isinstance(found.inputs, Pixels)
    assert found.rows.tolist() == [found.rows[0], -1, found.rows[2], found.rows[0], -1]
    assert sorted(found.rows[[0, 2]].tolist()) == [0, 1]
    assert [row for row, _ in found.failed] == [4]
    assert (len(found.inputs), found.inputs.size, found.inputs.seed) == (2, 224, 4)
    assert found.inputs.flip
    ((pixels,),) = found.inputs.batches([found.rows[[2, 3]]], None)
    for row, values in zip((2, 0), pixels.numpy(), strict=True):
        np.testing.assert_array_equal(values, decode(pairs.images.read(row), size=224))


@pytest.mark.parametrize("senses", [1, 2])
def test_texts_as_features(pairs: Pairs, senses: int) -> None:
    made = plan(senses, TextSettings("sentence"))
    found, network = made.texts(pairs), sentence_encoder()
    assert found.size == 384
    texts, items = pairs.flat_texts()[0].to_pylist(), np.array([4, 1])
    (values, *present), *_ = found.inputs.batches([items], None)
    if senses == 1:
        expected = network.encode([texts[i] for i in items])
        np.testing.assert_allclose(values.numpy(), expected, atol=1e-5)
    else:
        assert isinstance(found.inputs, Tokens)
        tokens = network.encode_tokens([texts[i] for i in items])
        np.testing.assert_allclose(values.numpy(), tokens[:, : values.shape[1]], atol=2e-3)
        np.testing.assert_array_equal(present[0].numpy(), tokens.any(axis=2)[:, : values.shape[1]])


def test_features_of_another_size_are_refused(pairs: Pairs) -> None:
    other = replace(fitted(pairs), image=ImageSettings(backbone="larger"))
    with pytest.raises(DataError, match="pictures have size 5, the model takes 3"):
        other.pictures(pairs)
    texts = replace(plan(text=TextSettings("sentence")), text_size=300)
    with pytest.raises(DataError, match="texts have size 384, the model takes 300"):
        texts.texts(pairs)


@pytest.mark.parametrize("senses", [1, 2])
def test_the_same_seed_gives_the_same_model(pairs: Pairs, senses: int) -> None:
    made = fitted(pairs, senses)
    first, again, other = (made.model(seed).state_dict() for seed in (5, 5, 6))
    assert all(torch.equal(first[name], again[name]) for name in first)
    learned = [name for name in first if first[name].ndim > 1]  # others start as zeros and ones
    assert learned
    assert not any(torch.equal(first[name], other[name]) for name in learned)


def test_models_start_equal_in_what_they_share(pairs: Pairs) -> None:
    words = fitted(pairs)
    sentences = replace(words, text=TextSettings("sentence"), text_size=384)
    several = replace(words, head=replace(words.head, senses=2))
    one, other, third = (made.model(3) for made in (words, sentences, several))
    assert torch.equal(one.image.head.map.weight, other.image.head.map.weight)
    assert torch.equal(one.image.head.map.weight, third.image.head.map.weight)
    assert torch.equal(one.text.head.map.weight, third.text.head.map.weight)
    assert equal(one.text.encoder, third.text.encoder)


def test_parts_of_one_shape_start_differently() -> None:
    made = Plan(text=TextSettings("sentence"), image_size=9, text_size=9).model(0)
    assert not torch.equal(made.image.head.map.weight, made.text.head.map.weight)


def test_building_a_model_leaves_random_numbers_alone(pairs: Pairs) -> None:
    made = fitted(pairs)
    torch.manual_seed(0)
    expected = torch.rand(3)
    torch.manual_seed(0)
    made.model(7)
    assert torch.equal(torch.rand(3), expected)


def equal(one: torch.nn.Module, other: torch.nn.Module) -> bool:
    pairs = zip(one.state_dict().values(), other.state_dict().values(), strict=True)
    return all(torch.equal(mine, theirs) for mine, theirs in pairs)


def test_a_model_has_the_parts_that_the_plan_names(pairs: Pairs) -> None:
    made = fitted(pairs)
    model = made.model(0)
    assert isinstance(model.image.encoder, Frozen)
    assert isinstance(model.text.encoder, Gru)
    assert isinstance(model.image.head, Linear)
    assert model.text.encoder.words.weight.shape == (len(made.words) + 2, 4)
    sentences = replace(made, text=TextSettings("sentence"), text_size=384)
    assert isinstance(sentences.model(0).text.encoder, Frozen)
    assert isinstance(fitted(pairs, senses=2).model(0).text.head, PieNet)


@pytest.mark.parametrize("senses", [1, 2])
def test_what_the_plan_feeds_its_model_takes(pairs: Pairs, senses: int) -> None:
    made = fitted(pairs, senses)
    model, pictures = made.model(0), made.pictures(pairs)
    image = encode(model.image, pictures.inputs, pictures.rows, batch=4)
    text = encode(model.text, made.texts(pairs).inputs, np.arange(6), batch=4)
    assert image.mean.shape == text.mean.shape == (6, 8)
    assert torch.isfinite(image.mean).all()


def test_a_plan_survives_as_plain_values(pairs: Pairs) -> None:
    preparation = TextPreparation(sentences=2, max_chars=None)
    text = replace(SMALL, preparation=preparation, dropout=0.25)
    made = replace(fitted(pairs), text=text, head=HeadSettings(8, 3))
    assert config.parse(Plan, config.plain(made), "test") == made


@pytest.mark.parametrize(
    "wrong", [{"size": 0}, {"senses": 0}, {"dropout": -0.1}, {"attention": -1}]
)
def test_settings_of_heads_are_checked(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        HeadSettings(**wrong)  # type: ignore[arg-type]


def test_settings_of_pictures_are_checked() -> None:
    with pytest.raises(ValueError, match="dropout"):
        ImageSettings(dropout=1.0)
