from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from encoder_samples import data_set, placed
from torch import nn

from trope.data.text import TextPreparation
from trope.encoders import HeadSettings, Plan, TextSettings
from trope.encoders.inputs import Words
from trope.encoders.sentences import TunedSentences, pieces
from trope.features.sentences import sentence_encoder

TEXTS = ["Justice is blind", "a ship at sea, far out, in wind and in rain", "न्याय", "bread"]


@pytest.fixture(scope="module")
def tuned() -> TunedSentences:
    return TunedSentences("minilm", dropout=0.0)


def batch(words: Words) -> tuple[torch.Tensor, ...]:
    return next(iter(words.batches([np.arange(len(words))], None)))


def test_before_training_it_gives_the_cached_vectors(tuned: TunedSentences) -> None:
    network = sentence_encoder("minilm")
    with torch.no_grad():
        found = tuned.eval()(*batch(pieces(TEXTS, "minilm", 150)))
    np.testing.assert_allclose(found.whole.numpy(), network.encode(TEXTS), atol=1e-5)
    cached = network.encode_tokens(TEXTS).astype(np.float32)
    longest = found.parts.shape[1]
    real = cached.any(axis=2)
    assert found.present.tolist() == real[:, :longest].tolist()
    np.testing.assert_allclose(found.parts[found.present].numpy(), cached[real], atol=2e-3)
    assert tuned.whole == tuned.part == 384


def test_only_the_dropout_of_the_settings_drops(tuned: TunedSentences) -> None:
    assert any(m.p > 0 for m in tuned.network.modules() if isinstance(m, nn.Dropout))
    ids, lengths = batch(pieces(TEXTS, "minilm", 150))
    with torch.no_grad():
        expected = tuned.eval()(ids, lengths).whole
        assert torch.equal(tuned.train()(ids, lengths).whole, expected)


def test_padding_never_matters(tuned: TunedSentences) -> None:
    ids, lengths = batch(pieces(TEXTS, "minilm", 150))
    other = torch.cat([ids, torch.full((len(ids), 3), 1_000)], dim=1)
    with torch.no_grad():
        expected, found = tuned.eval()(ids, lengths), tuned(other, lengths)
    torch.testing.assert_close(found.whole, expected.whole, atol=1e-5, rtol=1e-4)


def test_gradients_reach_the_words(tuned: TunedSentences) -> None:
    ids, lengths = batch(pieces(TEXTS[:2], "minilm", 150))
    tuned.train()(ids, lengths).whole[:, 0].sum().backward()
    words = next(
        value for name, value in tuned.named_parameters() if name.endswith("word_embeddings.weight")
    )
    assert words.grad is not None
    assert words.grad[ids[0, 1]].abs().max() > 0
    tuned.zero_grad()


@pytest.mark.parametrize("senses", [1, 2])
def test_every_weight_that_is_trained_gets_a_gradient(tuned: TunedSentences, senses: int) -> None:
    tower = placed(tuned, HeadSettings(4, senses)).train()
    mean, points, *_ = tower(*batch(pieces(TEXTS, "minilm", 150)))
    (mean if points is None else points).sum().backward()
    learned = [(name, p) for name, p in tower.named_parameters() if p.requires_grad]
    assert not [name for name, p in learned if p.grad is None]
    assert all("pooler" in name for name, p in tower.named_parameters() if not p.requires_grad)
    assert len(learned) > 50
    tower.zero_grad(set_to_none=True)


def test_long_texts_are_cut() -> None:
    made = pieces(["ship " * 400, "ship"], "minilm", 20)
    assert batch(made)[1].tolist() == [20, 3]
    longest = pieces(["ship " * 4_000], "minilm", 10_000)
    assert batch(longest)[1].tolist() == [sentence_encoder("minilm").network.max_seq_length]


def test_no_texts_are_no_pieces() -> None:
    assert len(pieces([], "minilm", 20)) == 0


def test_the_plan_feeds_it_prepared_texts(tmp_path: Path) -> None:
    pairs = data_set(tmp_path, [{"text": "<b>Justice</b>  is BLIND"}, {"texts": ["bread", "ship"]}])
    settings = TextSettings("sentence-tuned", preparation=TextPreparation(lower=True))
    found = Plan(text=settings).texts(pairs).inputs
    assert len(found) == 3
    expected = pieces(["justice is blind", "bread", "ship"], "minilm", 150)
    assert isinstance(found, Words)
    np.testing.assert_array_equal(found.flat, expected.flat)
    np.testing.assert_array_equal(found.starts, expected.starts)
