from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from trope.features import BACKBONES, backbone
from trope.features.backbones import efficientnet
from trope.features.backbones.efficientnet import EfficientNetLite0, network, weights


@pytest.fixture(scope="module")
def lite() -> EfficientNetLite0:
    made = backbone("efficientnet-lite0")
    assert isinstance(made, EfficientNetLite0)
    return made


@pytest.fixture(scope="module")
def pixels() -> np.ndarray:
    down, right = np.mgrid[0:224, 0:224]
    waves = [np.sin(down / (5 + i)) * np.cos(right / (9 - i)) for i in range(5)]
    colors = np.stack([np.stack([wave, wave**2, -wave], -1) for wave in waves])
    return (127 + 120 * colors).astype(np.uint8)


@pytest.fixture(scope="module")
def expected(pixels: np.ndarray) -> np.ndarray:
    """The last map as the package itself computes it."""
    values = torch.tensor((pixels.astype(np.float32) - 127) / 128).permute(0, 3, 1, 2)
    with torch.inference_mode():
        return network().extract_features(values).numpy()


def test_pooled_grid_and_tokens(
    lite: EfficientNetLite0, pixels: np.ndarray, expected: np.ndarray
) -> None:
    assert expected.shape == (5, 1280, 7, 7)
    pooled = lite.encode(pixels, "pooled")
    assert pooled.dtype == np.float32
    np.testing.assert_allclose(pooled, expected.mean((2, 3)), atol=1e-4)
    cells = expected.reshape(5, 1280, 49).transpose(0, 2, 1)
    for kind in ("grid", "tokens"):
        made = lite.encode(pixels, kind)
        assert made.dtype == np.float16
        np.testing.assert_allclose(made.astype(np.float32), cells, atol=5e-3)


def test_pictures_do_not_influence_each_other(lite: EfficientNetLite0, pixels: np.ndarray) -> None:
    together, alone = lite.encode(pixels, "pooled"), lite.encode(pixels[3:4], "pooled")
    np.testing.assert_allclose(together[3:4], alone, atol=1e-4)
    assert np.abs(together[0] - together[3]).max() > 0.1


def test_the_weights_are_those_of_a_trained_network(pixels: np.ndarray) -> None:
    state = network().state_dict()
    assert state["_bn0.running_var"].std() > 0.1
    assert sum(value.numel() for value in state.values()) == pytest.approx(4.7e6, rel=0.02)


def test_fingerprint_follows_the_weights_and_the_preparation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = EfficientNetLite0().fingerprint()
    assert EfficientNetLite0().fingerprint() == plain
    monkeypatch.setattr(efficientnet, "MEAN", (128.0,) * 3)
    assert EfficientNetLite0().fingerprint() != plain
    monkeypatch.undo()
    changed = bytearray(weights().read_bytes())
    changed[-1] ^= 1
    (tmp_path / "weights").write_bytes(changed)
    monkeypatch.setattr(efficientnet, "weights", lambda: tmp_path / "weights")
    assert EfficientNetLite0().fingerprint() != plain


def test_the_fingerprint_does_not_load_torch() -> None:
    script = (
        "import sys; from trope.features import backbone;"
        "backbone('efficientnet-lite0').fingerprint(); print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, b"False\n"), done.stderr


def test_the_table_is_plain() -> None:
    assert list(BACKBONES) == ["efficientnet-lite0", "precomputed"]
