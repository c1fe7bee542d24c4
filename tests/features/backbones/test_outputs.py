from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from trope.features.backbones import outputs


def random_map(channels: int, side: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(2, channels, side, side, generator=torch.Generator().manual_seed(seed))


def test_prepared_by_hand() -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (2, 5, 5, 3), dtype=np.uint8)
    mean, std = (10.0, 20.0, 30.0), (2.0, 4.0, 8.0)
    made = outputs.prepared(pixels, mean, std, "cpu")
    for color in range(3):
        expected = (pixels[..., color].astype(np.float64) - mean[color]) / std[color]
        np.testing.assert_allclose(made[:, color].numpy(), expected, rtol=1e-6)
    assert made.is_contiguous(memory_format=torch.channels_last)


def test_pixels_that_may_not_be_written_are_taken_too() -> None:
    pixels = np.zeros((1, 4, 4, 3), np.uint8)
    pixels.flags.writeable = False
    assert outputs.prepared(pixels, (0.0,) * 3, (1.0,) * 3, "cpu").shape == (1, 3, 4, 4)


@pytest.mark.parametrize("side", [7, 14, 16, 4])
def test_grid_by_hand(side: int) -> None:
    features = random_map(3, side)
    made = outputs.grid(features)
    assert made.shape == (2, 49, 3)
    for cell in range(49):
        row, column = divmod(cell, 7)
        down = slice(row * side // 7, -(-(row + 1) * side // 7))
        right = slice(column * side // 7, -(-(column + 1) * side // 7))
        torch.testing.assert_close(made[:, cell], features[:, :, down, right].mean((2, 3)))


@given(st.integers(1, 6), st.integers(1, 5))
def test_cells_and_map_are_inverse(side: int, channels: int) -> None:
    features = random_map(channels, side)
    torch.testing.assert_close(outputs.as_map(outputs.cells(features)), features)


def test_tokens_that_are_no_square() -> None:
    with pytest.raises(ValueError, match="12 tokens"):
        outputs.as_map(torch.zeros(1, 12, 3))


@pytest.mark.parametrize("special", [0, 1, 5])
def test_special_tokens_are_left_out(special: int) -> None:
    hidden = torch.randn(2, special + 16, 3, generator=torch.Generator().manual_seed(1))
    patches = hidden[:, special:]
    torch.testing.assert_close(outputs.chosen(hidden, None, 16, "tokens"), patches)
    expected = outputs.grid(outputs.as_map(patches))
    torch.testing.assert_close(outputs.chosen(hidden, None, 16, "grid"), expected)
    pooled = hidden[:, 0] if special else patches.mean(1)
    torch.testing.assert_close(outputs.chosen(hidden, None, 16, "pooled"), pooled)
    own = torch.randn(2, 7, 1, 1)
    torch.testing.assert_close(outputs.chosen(hidden, own, 16, "pooled"), own[:, :, 0, 0])


def test_a_network_that_merges_patches_has_no_special_tokens() -> None:
    hidden = torch.randn(2, 16, 3)
    torch.testing.assert_close(outputs.chosen(hidden, None, 64, "tokens"), hidden)


def test_kinds_of_a_map() -> None:
    features = random_map(3, 4)
    torch.testing.assert_close(outputs.chosen(features, None, 0, "pooled"), features.mean((2, 3)))
    tokens = outputs.chosen(features, None, 0, "tokens")
    torch.testing.assert_close(tokens[:, 6], features[:, :, 1, 2])
    torch.testing.assert_close(outputs.chosen(features, None, 0, "grid"), outputs.grid(features))


def sums(pixels: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(pixels.astype(np.float32)).sum((1, 2)) * 1e3


@pytest.mark.parametrize("count", [1, 4, 11])
def test_parts_come_back_in_order(count: int) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (count, 5, 5, 3), dtype=np.uint8)
    made = outputs.in_parts(pixels, sums, "pooled", "cpu")
    np.testing.assert_array_equal(made, sums(pixels).numpy())
    assert made.dtype == np.float32


def test_sixteen_bits_do_not_overflow() -> None:
    made = outputs.in_parts(np.full((2, 9, 9, 3), 255, np.uint8), sums, "tokens", "cpu")
    assert made.dtype == np.float16
    assert np.all(made == 65_504)


def test_threads_are_as_before_and_no_gradient_is_kept() -> None:
    before, seen = torch.get_num_threads(), []

    def network(pixels: np.ndarray) -> torch.Tensor:
        seen.append((torch.get_num_threads(), torch.is_inference_mode_enabled()))
        return sums(pixels)

    outputs.in_parts(np.zeros((9, 4, 4, 3), np.uint8), network, "pooled", "cpu")
    assert set(seen) == {(1, True)}
    assert torch.get_num_threads() == before


@pytest.mark.parametrize(("device", "sizes"), [("cpu", [4, 4, 1]), ("meta", [9])])
def test_only_a_processor_takes_a_batch_in_parts(device: str, sizes: list[int]) -> None:
    seen: list[int] = []

    def network(pixels: np.ndarray) -> torch.Tensor:
        assert torch.is_inference_mode_enabled()
        seen.append(len(pixels))
        return sums(pixels)

    pixels = np.random.default_rng(0).integers(0, 256, (9, 4, 4, 3), dtype=np.uint8)
    made = outputs.in_parts(pixels, network, "pooled", device)
    np.testing.assert_array_equal(made, sums(pixels).numpy())
    assert sorted(seen, reverse=True) == sizes
