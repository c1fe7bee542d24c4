from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from encoder_samples import data_set, placed, write_pictures
from torch import nn

from trope.data.pairs import Pairs
from trope.encoders import HeadSettings, ImageSettings, Plan, TextSettings
from trope.encoders.tuned import Tuned
from trope.errors import UsageError
from trope.features import backbone, features


@pytest.fixture(scope="module")
def lite() -> Tuned:
    return Tuned("efficientnet-lite0", dropout=0.0)


@pytest.fixture
def pairs(tmp_path: Path) -> Pairs:
    names = write_pictures(tmp_path / "data", 3, side=60)
    return data_set(tmp_path / "data", [{"image": name, "text": "x"} for name in names])


def test_before_training_it_gives_the_cached_features(lite: Tuned, pairs: Pairs) -> None:
    plan = Plan(ImageSettings("tuned"), TextSettings("sentence"), HeadSettings())
    found = plan.pictures(pairs)
    ((pixels,),) = found.inputs.batches([found.rows], None)
    with torch.no_grad():
        content = lite.eval()(pixels)
    pooled, grid = (features(pairs, kind=kind, workers=0) for kind in ("pooled", "grid"))
    np.testing.assert_allclose(content.whole.numpy(), pooled.read(pooled.rows), atol=1e-4)
    cells = grid.read(grid.rows).astype(np.float32)
    np.testing.assert_allclose(content.parts.numpy(), cells, atol=5e-3)
    lite.side = 1
    with torch.no_grad():
        coarse = lite(pixels)
    lite.side = 7
    np.testing.assert_allclose(coarse.parts[:, 0].numpy(), content.whole.numpy(), atol=1e-4)
    assert torch.equal(coarse.whole, content.whole)
    assert content.present is None
    assert (lite.whole, lite.part) == (1280, 1280)


def test_gradients_reach_the_first_layer_and_statistics_stay(lite: Tuned) -> None:
    norms = [module for module in lite.modules() if isinstance(module, nn.BatchNorm2d)]
    before = [(norm.running_mean.clone(), norm.running_var.clone()) for norm in norms]
    pixels = torch.randint(0, 256, (2, 64, 64, 3), dtype=torch.uint8)
    lite.train()
    assert lite.training
    assert not any(norm.training for norm in norms)
    lite(pixels).whole.square().sum().backward()
    first = next(lite.network.parameters())
    assert first.grad is not None
    assert first.grad.abs().max() > 0
    for norm, (mean, var) in zip(norms, before, strict=True):
        assert torch.equal(norm.running_mean, mean)
        assert torch.equal(norm.running_var, var)
    lite.zero_grad()


def test_dropout_is_for_training(lite: Tuned, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lite.dropout, "p", 0.5)
    pixels = torch.randint(0, 256, (1, 64, 64, 3), dtype=torch.uint8)
    with torch.no_grad():
        expected = lite.eval()(pixels).whole
        assert torch.equal(lite(pixels).whole, expected)
        lite.dropout.train()
        dropped = lite(pixels).whole[expected > 0] == 0
    assert dropped.float().mean().item() == pytest.approx(0.5, abs=0.15)


def test_only_the_dropout_of_the_settings_drops(lite: Tuned, vit: Path) -> None:
    """Neither blocks of the network (stochastic depth) nor what it drops inside."""
    inside = Tuned(str(vit), dropout=0.0)
    assert any(m.p > 0 for m in inside.network.modules() if isinstance(m, nn.Dropout))
    assert lite.network._global_params.drop_connect_rate > 0
    for made in (lite, inside):
        pixels = torch.randint(0, 256, (2, made.size, made.size, 3), dtype=torch.uint8)
        with torch.no_grad():
            expected = made.eval()(pixels).parts
            assert torch.equal(made.train()(pixels).parts, expected)


@pytest.fixture
def vit(tmp_path: Path) -> Path:
    import transformers

    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = transformers.ViTConfig(
        **sizes, intermediate_size=8, image_size=32, patch_size=4, hidden_dropout_prob=0.1
    )
    transformers.ViTModel(config).eval().save_pretrained(tmp_path / "vit")
    wanted = {"image_mean": 0.4, "image_std": 0.2, "size": {"height": 32, "width": 32}}
    (tmp_path / "vit" / "preprocessor_config.json").write_text(json.dumps(wanted))
    return tmp_path / "vit"


def test_an_image_model_of_transformers(vit: Path) -> None:
    made, frozen = Tuned(str(vit), dropout=0.0).eval(), backbone(str(vit))
    pixels = np.random.default_rng(0).integers(0, 256, (2, 32, 32, 3), dtype=np.uint8)
    found = made(torch.from_numpy(pixels))
    assert (made.whole, made.size) == (16, 32)
    expected = frozen.encode(pixels, "grid").astype(np.float32)  # type: ignore[union-attr]
    np.testing.assert_allclose(found.parts.detach().numpy(), expected, atol=5e-3)
    torch.testing.assert_close(found.whole, found.parts.mean(dim=1))
    found.whole.square().sum().backward()
    gradient = made.network.embeddings.patch_embeddings.projection.weight.grad
    assert gradient.abs().max() > 0


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    """Its last normalization is for the class token alone, which is not asked for."""
    import transformers

    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = transformers.CLIPVisionConfig(
        **sizes, intermediate_size=8, image_size=32, patch_size=8
    )
    transformers.CLIPVisionModel(config).eval().save_pretrained(tmp_path / "clip")
    (tmp_path / "clip" / "preprocessor_config.json").write_text(
        json.dumps({"image_mean": 0.4, "image_std": 0.2, "size": {"height": 32, "width": 32}})
    )
    return tmp_path / "clip"


@pytest.mark.parametrize("senses", [1, 2])
@pytest.mark.parametrize("model", ["lite0", "vit", "clip"])
def test_every_weight_that_is_trained_gets_a_gradient(
    model: str, senses: int, request: pytest.FixtureRequest
) -> None:
    name = "efficientnet-lite0" if model == "lite0" else str(request.getfixturevalue(model))
    tower = placed(Tuned(name, dropout=0.1), HeadSettings(4, senses)).train()
    size = tower.encoder.size
    mean, points, *_ = tower(torch.randint(0, 256, (2, size, size, 3), dtype=torch.uint8))
    (mean if points is None else points).sum().backward()
    without = [name for name, p in tower.named_parameters() if p.requires_grad and p.grad is None]
    assert not without
    frozen = [name for name, p in tower.named_parameters() if not p.requires_grad]
    assert all("_fc" in name or "pooler" in name or "post_layernorm" in name for name in frozen)
    assert frozen
    tower.zero_grad()


def test_what_cannot_be_tuned_is_refused(pairs: Pairs) -> None:
    with pytest.raises(UsageError, match="'precomputed' cannot be tuned"):
        Tuned("precomputed", dropout=0.0)
    plan = Plan(ImageSettings("tuned", "precomputed"), TextSettings("sentence"))
    with pytest.raises(UsageError, match="'precomputed' cannot be tuned"):
        plan.pictures(pairs)
