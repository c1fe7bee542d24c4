from __future__ import annotations

import json
from pathlib import Path

import pytest

from trope.errors import DataError
from trope.features.backbones.preparation import Preparation, preparation

COLORS = {"image_mean": [0.5, 0.4, 0.3], "image_std": [0.2, 0.2, 0.25]}
SCALED = ((127.5, 102.0, 76.5), (51.0, 51.0, 63.75))


def said(folder: Path, content: object, name: str = "preprocessor_config.json") -> Preparation:
    (folder / name).write_text(json.dumps(content), encoding="utf-8")
    return preparation(folder)


@pytest.mark.parametrize(
    ("content", "size"),
    [
        ({"size": 224, "crop_pct": 0.875}, 224),
        ({"size": {"height": 384, "width": 384}}, 384),
        ({"size": {"shortest_edge": 224}}, 224),
        ({"size": {"shortest_edge": 256}, "crop_size": {"height": 224, "width": 224}}, 224),
        ({"size": 256, "crop_size": 224, "do_center_crop": True}, 224),
        ({"size": 256, "crop_size": 224, "do_center_crop": False}, 256),
        ({"size": 32, "rescale_factor": 1 / 255, "do_rescale": True}, 32),
    ],
)
def test_size_and_colors(tmp_path: Path, content: dict[str, object], size: int) -> None:
    made = said(tmp_path, COLORS | content)
    assert made.size == size
    assert made.mean == pytest.approx(SCALED[0])
    assert made.std == pytest.approx(SCALED[1])


def test_no_rescaling_and_no_normalization(tmp_path: Path) -> None:
    raw = said(tmp_path, COLORS | {"size": 8, "do_rescale": False})
    assert raw == Preparation(8, (0.5, 0.4, 0.3), (0.2, 0.2, 0.25))
    made = said(tmp_path, {"size": 8, "do_normalize": False})
    assert made.mean == (0.0,) * 3
    assert made.std == pytest.approx((255.0,) * 3)


def test_one_number_for_all_colors(tmp_path: Path) -> None:
    made = said(tmp_path, {"size": 8, "image_mean": 0.5, "image_std": 0.5})
    assert made.mean == made.std == pytest.approx((127.5,) * 3)


def test_inside_the_file_of_a_processor(tmp_path: Path) -> None:
    content = {"image_processor": COLORS | {"size": 16}, "tokenizer": "x"}
    assert said(tmp_path, content, "processor_config.json").size == 16


@pytest.mark.parametrize(
    "content",
    [
        {"size": 224},
        COLORS,
        COLORS | {"size": "large"},
        COLORS | {"size": {"height": 10, "width": 20}},
        COLORS | {"size": {}},
        {"size": 8, "image_mean": [0.5], "image_std": [0.5]},
        [1, 2],
    ],
)
def test_what_cannot_be_followed_is_one_line(tmp_path: Path, content: object) -> None:
    with pytest.raises(DataError, match=r"preprocessor_config\.json: ") as caught:
        said(tmp_path, content)
    assert "\n" not in str(caught.value)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no preprocessor_config\.json"):
        preparation(tmp_path)
