from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from PIL import Image

import trope
from trope.errors import DataError, TropeError, UsageError
from trope.features import backbone, features

SIZE, WIDTH = 32, 16
COLORS = {"image_mean": [0.5, 0.4, 0.3], "image_std": [0.2, 0.2, 0.25]}
LAYERS = {
    "hidden_size": WIDTH,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 8,
}
PATCHES = {"image_size": SIZE, "patch_size": 8}
WORDS = {"vocab_size": 20, "max_position_embeddings": 8, "bos_token_id": 0, "eos_token_id": 1}


def clip_config(name: str) -> Any:
    text = LAYERS | WORDS | {"pad_token_id": 1}
    return getattr(transformers, name)(text_config=text, vision_config=LAYERS | PATCHES)


def tiny(kind: str) -> Any:
    """A small network with random weights."""
    torch.manual_seed(0)
    if kind == "resnet":
        sizes = {"embedding_size": 8, "hidden_sizes": [8, WIDTH], "depths": [1, 1]}
        return transformers.ResNetModel(transformers.ResNetConfig(**sizes, layer_type="basic"))
    if kind == "vit":
        return transformers.ViTModel(transformers.ViTConfig(**LAYERS, **PATCHES))
    if kind == "dinov2":
        sizes = {k: v for k, v in LAYERS.items() if k != "intermediate_size"}
        config = transformers.Dinov2Config(**sizes, mlp_ratio=1, image_size=64, patch_size=8)
        return transformers.Dinov2Model(config)
    if kind == "clip":
        return transformers.CLIPModel(clip_config("CLIPConfig"))
    return transformers.SiglipModel(clip_config("SiglipConfig"))


def saved(folder: Path, model: Any) -> Path:
    model.eval().save_pretrained(folder)
    content = json.dumps(COLORS | {"size": {"height": SIZE, "width": SIZE}})
    (folder / "preprocessor_config.json").write_text(content, encoding="utf-8")
    return folder


@pytest.fixture
def pixels() -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (5, SIZE, SIZE, 3), dtype=np.uint8)


def direct(model: Any, pixels: np.ndarray) -> Any:
    """What the package's own model says, with the preparation done by hand."""
    values = (pixels / 255.0 - np.array(COLORS["image_mean"])) / np.array(COLORS["image_std"])
    network = getattr(model, "vision_model", model)
    with torch.inference_mode():
        return network(pixel_values=torch.tensor(values, dtype=torch.float32).permute(0, 3, 1, 2))


SPECIAL = {"vit": 1, "dinov2": 1, "clip": 1, "siglip": 0}


@pytest.mark.parametrize("kind", ["resnet", "vit", "dinov2", "clip", "siglip"])
def test_features_equal_those_of_the_model_itself(
    kind: str, tmp_path: Path, pixels: np.ndarray
) -> None:
    model = tiny(kind)
    made = backbone(str(saved(tmp_path, model)))
    expected = direct(model, pixels)
    hidden = expected.last_hidden_state
    cells = hidden.flatten(2).transpose(1, 2)
    hidden = cells if kind == "resnet" else hidden[:, SPECIAL[kind] :]
    pooled = made.encode(pixels, "pooled")
    assert (made.size, pooled.shape, pooled.dtype) == (SIZE, (5, WIDTH), np.float32)
    np.testing.assert_allclose(pooled, expected.pooler_output.flatten(1), atol=1e-5)
    assert hidden.shape == (5, 16, WIDTH)
    np.testing.assert_allclose(made.encode(pixels, "tokens"), hidden, atol=5e-3)
    square = hidden.transpose(1, 2).reshape(5, WIDTH, 4, 4)
    grid = torch.nn.functional.adaptive_avg_pool2d(square, 7).flatten(2).transpose(1, 2)
    np.testing.assert_allclose(made.encode(pixels, "grid"), grid, atol=5e-3)


def test_pooling_that_was_never_trained_is_not_used(tmp_path: Path, pixels: np.ndarray) -> None:
    torch.manual_seed(0)
    config = transformers.ViTConfig(**LAYERS, **PATCHES)
    model = transformers.ViTForImageClassification(config)
    made = backbone(str(saved(tmp_path, model)))
    expected = direct(model.vit, pixels).last_hidden_state[:, 0]
    np.testing.assert_allclose(made.encode(pixels, "pooled"), expected, atol=1e-5)


def test_through_the_cache(tmp_path: Path) -> None:
    folder = saved(tmp_path / "model", tiny("resnet"))
    for i in range(3):
        Image.new("RGB", (SIZE, SIZE), (80 * i, 10, 200)).save(tmp_path / f"{i}.png")
        (tmp_path / f"{i}.txt").write_text("text", encoding="utf-8")
    table = features(trope.open(tmp_path), str(folder), "tokens", workers=0)
    pixels = np.stack([np.asarray(Image.open(tmp_path / f"{i}.png")) for i in range(3)])
    np.testing.assert_array_equal(table.all(), backbone(str(folder)).encode(pixels, "tokens"))


def test_fingerprint_follows_weights_and_preparation_not_the_place(tmp_path: Path) -> None:
    folder = saved(tmp_path / "one", tiny("resnet"))
    plain = backbone(str(folder)).fingerprint()
    copy = Path(shutil.copytree(folder, tmp_path / "two"))
    assert backbone(str(copy)).fingerprint() == plain
    data = bytearray((copy / "model.safetensors").read_bytes())
    data[-1] ^= 1
    (copy / "model.safetensors").write_bytes(data)
    assert backbone(str(copy)).fingerprint() != plain
    content = json.dumps(COLORS | {"size": SIZE, "image_mean": [0.5, 0.4, 0.2]})
    (folder / "preprocessor_config.json").write_text(content, encoding="utf-8")
    assert backbone(str(folder)).fingerprint() != plain


def test_a_text_model_is_refused(tmp_path: Path, pixels: np.ndarray) -> None:
    model = transformers.BertModel(transformers.BertConfig(**LAYERS, vocab_size=20))
    with pytest.raises(UsageError, match="BertModel is not an image model"):
        backbone(str(saved(tmp_path, model))).encode(pixels, "pooled")


def test_missing_weights_are_refused(tmp_path: Path, pixels: np.ndarray) -> None:
    from safetensors.torch import load_file, save_file

    folder = saved(tmp_path, tiny("vit"))
    weights = load_file(folder / "model.safetensors")
    lost = next(name for name in weights if "layer" in name)
    save_file({k: v for k, v in weights.items() if k != lost}, folder / "model.safetensors")
    with pytest.raises(DataError, match="1 weight is missing"):
        backbone(str(folder)).encode(pixels, "pooled")


def test_a_folder_that_does_not_say_how_to_prepare_pixels(tmp_path: Path) -> None:
    folder = saved(tmp_path, tiny("resnet"))
    (folder / "preprocessor_config.json").unlink()
    with pytest.raises(DataError, match=r"no preprocessor_config\.json"):
        backbone(str(folder))


def test_no_weights(tmp_path: Path) -> None:
    folder = saved(tmp_path, tiny("resnet"))
    (folder / "model.safetensors").unlink()
    with pytest.raises(DataError, match="no weights"):
        backbone(str(folder)).fingerprint()


@pytest.mark.parametrize("damaged", ["model.safetensors", "config.json"])
def test_damaged_files_are_one_line(tmp_path: Path, pixels: np.ndarray, damaged: str) -> None:
    folder = saved(tmp_path, tiny("resnet"))
    (folder / damaged).write_bytes(b"rubbish")
    with pytest.raises(DataError, match="cannot be loaded") as caught:
        backbone(str(folder)).encode(pixels, "pooled")
    assert "\n" not in str(caught.value)


def test_pictures_of_another_size_are_one_line(tmp_path: Path) -> None:
    folder = saved(tmp_path, tiny("vit"))
    with pytest.raises(TropeError, match="no pooled features") as caught:
        backbone(str(folder)).encode(np.zeros((1, 16, 16, 3), np.uint8), "pooled")
    assert "\n" not in str(caught.value)


def test_loading_is_silent(
    tmp_path: Path, pixels: np.ndarray, capfd: pytest.CaptureFixture[str]
) -> None:
    config = transformers.ViTConfig(**LAYERS, **PATCHES)
    made = backbone(str(saved(tmp_path, transformers.ViTForImageClassification(config))))
    capfd.readouterr()
    made.encode(pixels, "pooled")
    assert capfd.readouterr() == ("", "")
