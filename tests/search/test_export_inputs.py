"""An exported folder is enough: a program without trope and torch makes the same vectors."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from PIL import Image

from scripts import SCRIPTS
from trope.checkpoints import Checkpoint, save_model
from trope.data.text import TextPreparation, prepare, tokenize
from trope.embedder import Embedder
from trope.encoders import ImageSettings, Plan
from trope.encoders.settings import HeadSettings, TextSettings
from trope.export import export_onnx
from trope.export.inputs import described
from trope.export.prepare import Exported

TEXTS = [
    "Apple, PLUM & <b>pear</b>",
    "snow’s https://example.org/a?b#c rain.",
    "never heard of",
    "",
    "fog \u200b red RED green",
    *SCRIPTS,
]
ALONE = """
import runpy, sys
for name in ("trope", "torch", "regex", "transformers", "orjson", "pyarrow"):
    sys.modules[name] = None
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def alone(folder: Path, *arguments: object) -> list[Any]:
    """What the folder's own program prints, with nothing of ours to import."""
    command = [sys.executable, "-I", "-c", ALONE, folder / "prepare.py", *arguments]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line)["vector"] for line in done.stdout.splitlines()]


def photos(folder: Path) -> list[Path]:
    """A photo taken sideways, a large one, gray of 16 bits, transparency, colors of a table."""
    random = np.random.default_rng(0)
    values = random.integers(0, 256, (900, 700, 3), np.uint8)
    turned = Image.Exif()
    turned[0x0112] = 6
    made: dict[str, tuple[Image.Image, dict[str, Any]]] = {
        "turned.jpg": (Image.fromarray(values[:60, :40]), {"exif": turned}),
        "large.jpg": (Image.fromarray(values), {}),
        "deep.png": (Image.fromarray(values[:50, :70, 0].astype(np.uint16) * 257), {}),
        "clear.png": (Image.fromarray(random.integers(0, 256, (30, 40, 4), np.uint8), "RGBA"), {}),
        "table.gif": (Image.fromarray(values[:32, :32]).convert("P"), {}),
    }
    for name, (image, more) in made.items():
        image.save(folder / name, **more)
    return [folder / name for name in made]


@pytest.mark.parametrize("recipe", ["infonce", "pvse"])
def test_texts_alone(home: Path, tmp_path: Path, recipe: str) -> None:
    export_onnx(home / recipe, tmp_path / "onnx")
    wanted = Embedder(home / recipe).texts(TEXTS).mean.numpy()
    np.testing.assert_allclose(Exported(tmp_path / "onnx").texts(TEXTS), wanted, atol=1e-4)
    for text, vector in zip(TEXTS[:2], alone(tmp_path / "onnx", *TEXTS[:2]), strict=True):
        np.testing.assert_allclose(vector, wanted[TEXTS.index(text)], atol=1e-4)
    page = (tmp_path / "onnx" / "README.md").read_text()
    assert "counted from 2; 1\n  for a word that is not there; 0 after" in page
    assert "features of backbone 'precomputed'" in page
    assert "model.texts(" in page
    assert "model.images(" not in page  # they come with the data


def test_what_the_program_cannot_make_is_told_and_the_rest_is_made(
    home: Path, tmp_path: Path
) -> None:
    export_onnx(home / "infonce", tmp_path / "onnx")
    Image.new("RGB", (8, 8)).save(tmp_path / "photo.jpg")
    command = [sys.executable, tmp_path / "onnx" / "prepare.py", tmp_path / "photo.jpg", "apple"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    assert done.returncode == 1
    (told,) = done.stderr.splitlines()
    assert told.startswith(f"{tmp_path / 'photo.jpg'}: image.onnx takes features of backbone")
    (line,) = done.stdout.splitlines()
    assert json.loads(line)["text"] == "apple"


def test_pictures_alone(pictured: Path, tmp_path: Path) -> None:
    """By the backbone that is exported with the rest."""
    export_onnx(pictured / "run", tmp_path / "onnx")
    shown = photos(tmp_path)
    wanted = Embedder(pictured / "run").images(shown).mean.numpy()
    np.testing.assert_allclose(alone(tmp_path / "onnx", *shown), wanted, atol=1e-4)
    page = (tmp_path / "onnx" / "README.md").read_text()
    assert "stretched to 224 × 224 pixels by bicubic" in page
    assert "mean [127.0, 127.0, 127.0], std [128.0, 128.0, 128.0]" in page


def test_several_cells_alone(tmp_path: Path) -> None:
    """A frozen backbone whose cells are joined, beside a sentence encoder that is not exported."""
    plan = Plan(
        ImageSettings(grid=3),
        TextSettings(words=4, hidden=6),
        HeadSettings(size=6, senses=2),
        image_size=1_280,
        words=("apple", "snow"),
    )
    model = plan.model(0).eval()
    save_model(tmp_path / "model.safetensors", model, plan, {})
    export_onnx(tmp_path / "model.safetensors", tmp_path / "onnx")
    shown = photos(tmp_path)
    wanted = Embedder(Checkpoint(model, plan, {})).images(shown).mean.numpy()
    np.testing.assert_allclose(Exported(tmp_path / "onnx").images(shown), wanted, atol=1e-4)


@pytest.fixture(scope="session")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Exported:
    """How texts are prepared, without a model."""
    folder = tmp_path_factory.mktemp("exported")
    words = TextSettings(preparation=TextPreparation(max_chars=60))
    about = described(Plan(text=words), None)
    (folder / "inputs.json").write_text(json.dumps(about), encoding="utf-8")
    return Exported(folder)


HARD = (
    st.text(st.sampled_from("aZé1.,'’<>/b&;#x \u200d\u200cकक्षمى字ไ\u0e33👩🏽\ufe0f🇫ſK")) | st.text()
)


@given(HARD)
@example("<b>O</b>nce <script>x</script> &amp;lt;p&gt; &#x41;")
@example("see www.example.org/a字, or co.ly/x). HTTPS://A.B")
@example("word " * 40)
@example("x" * 59 + "👩\u200d👩\u200d👧")
def test_texts_are_prepared_alike(exported: Exported, text: str) -> None:
    mine = prepare(text, TextPreparation(max_chars=60))
    assert exported.prepared(text) == mine
    assert exported.tokens(mine) == tokenize(mine)


def test_patterns_need_no_package(exported: Exported) -> None:
    for name, known in exported.about["text"]["patterns"].items():
        assert re.compile(known["pattern"]), name
        assert "\\p" not in known["pattern"]
