"""The transformer of semantic sharing: masks, places, padding, labels, and the layers of a BERT."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from trope import config
from trope.encoders import HeadSettings, ImageSettings, Plan, TextSettings
from trope.encoders.bert import refuse_other_sizes, start_layers
from trope.encoders.boxes import grid_boxes, with_area
from trope.encoders.content import Content
from trope.encoders.joining import packed
from trope.encoders.settings import TransformerSettings
from trope.encoders.sharing import Sharing
from trope.encoders.states import GruStates
from trope.encoders.transformer import Transformer
from trope.encoders.words import WordVectors
from trope.errors import UsageError
from trope.features.sentences import encoder_folder

SMALL = HeadSettings(
    kind="transformer", size=8, dropout=0.1, transformer=TransformerSettings(heads=2, hidden=12)
)
PLAN = Plan(
    ImageSettings(backbone="precomputed"),
    TextSettings(encoder="words", words=6, hidden=6, longest=9),
    SMALL,
    image_size=5,
    words=tuple("abcdefgh"),
    labels=("cat", "dog", "sky"),
    boxes=True,
    image_targets=4,
    text_targets=10,
)


def texts(*lengths: int) -> tuple[Tensor, Tensor]:
    ids = torch.randint(2, 10, (len(lengths), max(*lengths, 1)))
    sizes = torch.tensor(lengths)
    return ids.masked_fill(torch.arange(ids.shape[1]) >= sizes[:, None], 0), sizes


@pytest.mark.parametrize("encoder", ["words", "gru"])
@pytest.mark.parametrize("vector", ["labels", "hidden"])
def test_an_item_does_not_depend_on_padding_or_on_its_batch(encoder: str, vector: str) -> None:
    head = replace(SMALL, transformer=replace(SMALL.transformer, vector=vector))
    plan = replace(PLAN, head=head, text=replace(PLAN.text, encoder=encoder))
    tower = plan.model(0).double().eval().text
    ids, lengths = texts(3, 9, 1, 5)
    whole = packed(tower(ids, lengths))
    assert whole.logits is not None
    for row, size in enumerate(lengths.tolist()):
        alone = packed(tower(ids[row : row + 1, :size], lengths[row : row + 1]))
        assert alone.logits is not None
        assert torch.allclose(alone.mean[0], whole.mean[row], atol=1e-12)
        assert torch.allclose(alone.logits[0], whole.logits[row], atol=1e-12)


def test_the_order_of_words_counts_and_that_of_regions_does_not() -> None:
    model = PLAN.model(0).eval()
    ids, lengths = texts(4)
    assert not torch.allclose(model.text(ids, lengths)[0], model.text(ids.flip(1), lengths)[0])
    regions, boxes = torch.randn(1, 3, 5), torch.rand(1, 3, 5)
    real, turned = torch.ones(1, 3, dtype=torch.bool), torch.tensor([2, 0, 1])
    one = model.image(regions, real, boxes)[0]
    other = model.image(regions[:, turned], real, boxes[:, turned])[0]
    assert torch.allclose(one, other, atol=1e-6)
    assert not torch.allclose(one, model.image(regions[:, turned], real, boxes)[0])


def test_a_text_without_words_is_like_nothing() -> None:
    tower = PLAN.model(0).text
    for training in (True, False):
        tower.train(training)
        mean, *_, logits, _, masked = tower(*texts(0, 4))
        assert not mean[0].any()
        assert mean.isfinite().all()
        assert logits.isfinite().all()
        assert masked is None if not training else masked[0] == 0 < masked[1]


def test_scores_are_the_mean_of_scaled_scores_of_parts() -> None:
    """In plain loops, from the states on."""
    settings = replace(SMALL, dropout=0.0)
    head = Sharing(5, settings, Transformer(settings, 3)).double().eval()
    parts, present = torch.randn(2, 4, 5).double(), torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0]]) > 0
    states = head.transformer(head.enter(head.map(parts)), present)
    states = states.detach()
    weight, bias = (one.detach() for one in head.transformer.classify.parameters())
    expected = []
    for item in range(2):
        total = [0.0] * 3
        real = [k for k in range(4) if present[item, k]]
        for k in real:
            raw = [float(weight[c] @ states[item, k] + bias[c]) for c in range(3)]
            scores = [1 / (1 + math.exp(-z)) for z in raw]
            length = math.sqrt(sum(s * s for s in scores))
            total = [t + s / length / len(real) for t, s in zip(total, scores, strict=True)]
        expected.append(total)
    found = head(Content(parts.mean(dim=1), parts, present))
    assert torch.allclose(torch.sigmoid(found.logits), torch.tensor(expected).double(), atol=1e-9)
    unit = torch.nn.functional.normalize(torch.tensor(expected).double(), dim=1)
    assert torch.allclose(found.mean, unit, atol=1e-9)


def test_scores_that_are_not_scaled_are_probabilities() -> None:
    settings = replace(SMALL, transformer=replace(SMALL.transformer, normalized=False))
    head = Sharing(5, settings, Transformer(settings, 3)).double().eval()
    one = torch.randn(2, 1, 5).double()
    logits = head.transformer.classify(
        head.transformer(head.enter(head.map(one)), torch.ones(2, 1, dtype=torch.bool))
    )
    assert torch.allclose(head(Content(one[:, 0])).logits, logits[:, 0], atol=1e-9)


def test_what_is_masked_costs_what_predicting_it_costs() -> None:
    settings = replace(SMALL, dropout=0.0)
    head = Sharing(5, settings, Transformer(settings, 3), targets=6).double().eval()
    parts, masked = torch.randn(2, 3, 5).double(), torch.tensor([[1, 0, 1], [0, 0, 0]]) > 0
    targets = torch.tensor([[5, 0, 2], [0, 0, 0]])
    every = torch.ones(2, 3, dtype=torch.bool)
    states = head.transformer(head.enter(head.map(parts)), every)
    shares = torch.log_softmax(head.predict(states), dim=2)
    expected = -(shares[0, 0, 5] + shares[0, 2, 2]) / 2
    found = head(Content(parts.mean(dim=1), parts, masked=masked, targets=targets)).masked
    assert torch.allclose(found, torch.stack([expected, torch.zeros(()).double()]))


@pytest.mark.parametrize("shared", [True, False])
def test_one_transformer_for_both_or_one_each(shared: bool) -> None:
    head = replace(SMALL, transformer=replace(SMALL.transformer, shared=shared))
    model = replace(PLAN, head=head).model(0)
    assert (model.image.head.transformer is model.text.head.transformer) is shared
    assert model.image.head.map is not model.text.head.map


@pytest.mark.parametrize("both_ways", [False, True])
def test_states_are_those_of_a_gru_over_each_text_alone(both_ways: bool) -> None:
    settings = TextSettings(words=4, hidden=6, bidirectional=both_ways)
    encoder = GruStates(10, settings).double().eval()
    ids, lengths = texts(3, 5, 0)
    found = encoder(ids, lengths)
    for row, size in enumerate((3, 5)):
        alone, _ = encoder.gru(encoder.words(ids[row : row + 1, :size]))
        assert torch.allclose(found.parts[row, :size], alone[0], atol=1e-12)
        assert torch.allclose(found.whole[row], alone[0].mean(dim=0), atol=1e-12)
    assert not found.parts[2].any()


def test_words_are_masked_before_anything_reads_them() -> None:
    """Whatever the masked words were, the states are the same."""
    torch.manual_seed(0)
    encoder = GruStates(10, TextSettings(words=4, hidden=6, bidirectional=True), 0.5).train()
    ids, lengths = texts(6, 6)
    torch.manual_seed(1)
    one = encoder(ids, lengths)
    other = ids.clone()
    other[one.masked] = 2 + (other[one.masked] - 1) % 8
    torch.manual_seed(1)
    two = encoder(other, lengths)
    assert torch.equal(one.masked, two.masked)
    assert torch.equal(one.parts, two.parts)
    assert torch.equal(one.targets, ids)


def test_word_vectors_start_elsewhere_and_have_a_mask_of_their_own() -> None:
    encoder = WordVectors(4, TextSettings(words=3), 0.2)
    known = torch.tensor([[0.0, 0, 0], [0, 0, 0], [1, 2, 3], [0, 0, 0]])
    encoder.start_from(known)
    assert encoder.words.weight.shape == (5, 3)
    assert encoder.words.weight[2].tolist() == [1, 2, 3]


def test_boxes_of_a_grid() -> None:
    boxes = grid_boxes(2)
    assert boxes[0].tolist() == [0, 0, 0.5, 0.5, 0.25]
    assert boxes[1].tolist() == [0.5, 0, 1, 0.5, 0.25]
    assert boxes[2].tolist() == [0, 0.5, 0.5, 1, 0.25]
    assert with_area(torch.tensor([0.0, 0, 1, 1])).tolist() == [0, 0, 1, 1, 1]


MINILM = HeadSettings(
    kind="transformer",
    size=384,
    transformer=TransformerSettings(layers=2, heads=12, hidden=1536, start="minilm"),
)


def test_the_layers_of_a_bert_give_what_they_give_there() -> None:
    """The packaged MiniLM is a BERT; its own code says what its layers make of some states."""
    models = pytest.importorskip("transformers")
    model = replace(PLAN, head=MINILM).model(0)
    start_layers(model, MINILM)
    bert = models.BertModel.from_pretrained(encoder_folder("minilm"), add_pooling_layer=False)
    states, present = torch.randn(2, 7, 384), torch.tensor([[1] * 7, [1] * 4 + [0] * 3]) > 0
    with torch.no_grad():
        found = model.text.head.transformer.eval()(states, present)
        bert.encoder.layer = bert.encoder.layer[:2]
        wanted = bert.eval()(inputs_embeds=states, attention_mask=present.long())
        # The same embeddings, without what BERT adds of its own before the first layer.
        own = bert.embeddings(inputs_embeds=states)
        direct = model.text.head.transformer.eval()(own, present)
    assert torch.allclose(direct[present], wanted.last_hidden_state[present], atol=1e-4)
    assert found.shape == direct.shape
    weight = bert.embeddings.position_embeddings.weight[:9]
    assert torch.equal(model.text.head.places.weight, weight)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"size": 768, "transformer": {"heads": 12}}, r"hidden_size 384, and head\.size is 768"),
        ({"transformer": {"heads": 6}}, r"num_attention_heads 12"),
        ({"transformer": {"hidden": 512}}, r"intermediate_size 1536"),
        ({"transformer": {"layers": 9}}, r"6 layers, and head\.transformer\.layers is 9"),
    ],
)
def test_a_bert_of_other_sizes_is_refused(change: dict, named: str) -> None:
    inside = replace(MINILM.transformer, **change.pop("transformer", {}))
    with pytest.raises(UsageError, match=named):
        refuse_other_sizes(encoder_folder("minilm"), replace(MINILM, transformer=inside, **change))


def test_what_is_no_bert_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "gpt2"}))
    with pytest.raises(UsageError, match="of type gpt2"):
        refuse_other_sizes(tmp_path, MINILM)
    known = json.loads((encoder_folder("minilm") / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(known))
    settings = replace(MINILM, transformer=replace(MINILM.transformer, start=str(tmp_path)))
    with pytest.raises(UsageError, match=r"no model\.safetensors"):
        start_layers(replace(PLAN, head=settings).model(0), settings)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"kind": "transformer", "size": 10}, "4 heads"),
        ({"kind": "dscmr", "senses": 2}, "senses"),
        ({"transformer": {"mask": 1.0}}, "mask"),
        ({"transformer": {"codes": 1}}, "codes"),
    ],
)
def test_settings_that_cannot_be(settings: dict, named: str) -> None:
    with pytest.raises(UsageError, match=named):
        config.parse(HeadSettings, settings, "recipe.toml: head")


def test_features_of_one_vector_are_one_part() -> None:
    plan = replace(PLAN, boxes=False, image_targets=0)
    tower = plan.model(0).eval().image
    values = torch.from_numpy(np.random.default_rng(0).normal(size=(3, 5)).astype(np.float32))
    assert torch.allclose(tower(values)[0], tower(values[:, None])[0], atol=1e-6)
