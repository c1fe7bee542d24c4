"""The experiment end to end on planted pairs; validation alone is looked at."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import orjson
import pytest
from planted_pairs import QUICK, write

import trope
from trope import config
from trope.config import plain
from trope.errors import UsageError
from trope.experiments import Findings, run
from trope.experiments.runs.outcome import Outcome
from trope.experiments.small_data import SmallData
from trope.experiments.small_data.page import page
from trope.experiments.small_data.variants import VARIANTS
from trope.training import load_recipe, resolve

DOCS = Path(__file__).parents[3] / "docs" / "results"
FEW = (
    'encoders=["gru"]',
    "seeds=2",
    "workers=1",
    'variants.gru={"head 8" = ["head.size=8"], "still" = ["training.learning_rate=1e-12"]}',
    f"sets={json.dumps([s for s in QUICK if 'rate' not in s])}",
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Findings]:
    home = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TROPE_CACHE", str(home / "cache"))
        write(home / "pairs")
        return home / "out", run("small-data", home / "pairs", home / "out", sets=FEW)


def results(out: Path) -> dict[str, Any]:
    return dict(orjson.loads((out / "results.json").read_bytes()))


def test_every_change_is_compared_with_what_is_in_force(made: tuple[Path, Findings]) -> None:
    found = results(made[0])["encoders"]["gru"]
    assert set(found["variants"]) == {"the papers' settings", "head 8", "still"}
    assert "training.learning_rate=1e-3" in found["changes"]
    assert not any("dropout" in change for change in found["changes"])  # set for all runs
    assert found["variants"]["head 8"]["sets"] == ["head.size=8"]
    assert found["variants"]["the papers' settings"]["sets"] == []
    present = found["present"]["both"]["value"]
    for known in found["variants"].values():
        gain = known["gain"]["both"]["difference"]
        assert gain == pytest.approx(known["both"]["value"] - present)
    still = found["variants"]["still"]["both"]["value"]
    assert present > still


def test_the_test_split_is_not_looked_at(made: tuple[Path, Findings]) -> None:
    ids = set(trope.open(made[0].parent / "pairs").in_split("val").ids)
    parts = list((made[0] / "parts").iterdir())
    assert len(parts) == 8
    for part in parts:
        outcome = Outcome.load(part)
        assert outcome is not None
        assert set(outcome.answers["text_to_image"].ids) == ids


def test_page_and_tables(made: tuple[Path, Findings]) -> None:
    out, findings = made
    text = (out / "small-data.md").read_text()
    assert page(results(out)) == text
    assert all(table.markdown() in text for table in findings.tables)
    assert "`training.learning_rate=1e-12`" in text
    assert "None" not in text
    line = text.split("```")[1].removeprefix("console\n$ ")
    words = shlex.split(line.replace("\\\n", " "))
    sets = [words[i + 1] for i, word in enumerate(words) if word == "--set"]
    assert plain(config.load(SmallData, None, sets)) | {"workers": 1} == results(out)["settings"]


def test_names_that_are_taken_are_refused(tmp_path: Path) -> None:
    data = write(tmp_path / "pairs")
    taken = 'variants.gru={"small-data settings" = []}'
    with pytest.raises(UsageError, match="is there already"):
        run("small-data", data, tmp_path / "out", sets=['encoders=["gru"]', taken])
    for wrong in ("seeds=0", "encoders=[]", "least=-1"):
        with pytest.raises(UsageError, match=wrong.partition("=")[0]):
            run("small-data", data, tmp_path / "out", sets=[wrong])


@pytest.mark.parametrize("encoder", VARIANTS)
def test_every_default_change_is_one(encoder: str) -> None:
    recipe, chosen = load_recipe("angular"), (f"text.encoder={encoder}",)
    present = resolve(recipe, chosen, 0)
    for name, changes in VARIANTS[encoder].items():
        assert resolve(recipe, (*chosen, *changes), 0) != present, name


def test_the_page_of_the_docs_is_what_the_command_writes() -> None:
    document = orjson.loads((DOCS / "small-data.json").read_bytes())
    assert page(document) == (DOCS / "small-data.md").read_text(encoding="utf-8")
