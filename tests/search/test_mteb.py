"""A run as an encoder of the real `mteb`, on tasks made here; skipped where it is not installed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import trope
from trope.export.mteb import MtebModel

pytestmark = pytest.mark.filterwarnings("ignore")  # of its own, and of what it brings along


@pytest.fixture
def mteb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The package, whose results stay below the test's folder and which asks no network."""
    monkeypatch.setenv("MTEB_CACHE", str(tmp_path / "mteb"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return pytest.importorskip("mteb")


def task(mteb: Any, home: Path, kind: str) -> Any:
    """Texts of the data as queries, their pictures or texts of the same topic as what is found."""
    from datasets import Dataset
    from datasets import Image as Picture

    pairs = [pair for pair in trope.open(home / "data") if pair.split == "train"]
    texts = {"id": [p.id for p in pairs], "text": [p.texts[0] for p in pairs]}
    paths = [str(home / "data" / f"{p.id[1:]}.png") for p in pairs]
    shown = Dataset.from_dict({"id": texts["id"], "image": paths}).cast_column("image", Picture())
    right = {p.id: {q.id: 1 for q in pairs if q.labels == p.labels} for p in pairs}

    class Topics(mteb.abstasks.AbsTaskRetrieval):  # type: ignore[misc, name-defined]
        metadata = mteb.TaskMetadata(
            name=f"Topics-{kind}",
            description="Items of the same topic.",
            dataset={"path": "local/topics", "revision": "1"},
            type="Any2AnyRetrieval" if kind == "image" else "Retrieval",
            category="t2i" if kind == "image" else "t2t",
            modalities=["text", "image"] if kind == "image" else ["text"],
            eval_splits=["test"],
            eval_langs=["eng-Latn"],
            main_score="ndcg_at_10",
        )

        def load_data(self, *_: Any, **__: Any) -> None:
            corpus = shown if kind == "image" else Dataset.from_dict(texts)
            part = {"corpus": corpus, "queries": Dataset.from_dict(texts)}
            whole = part | {"relevant_docs": right, "top_ranked": None}
            self.dataset = {"default": {"test": whole}}
            self.data_loaded = True

    return Topics()


@pytest.mark.parametrize("kind", ["text", "image"])
def test_mteb_measures_what_the_model_gives(pictured: Path, mteb: Any, kind: str) -> None:
    model, made = MtebModel(pictured / "run", name="trope/small"), task(mteb, pictured, kind)
    found = mteb.evaluate(model, made, cache=None, co2_tracker=False, show_progress_bar=False)
    scores = found.task_results[0].scores["test"][0]
    pairs = [pair for pair in trope.open(pictured / "data") if pair.split == "train"]
    said = model.embedder.encode([pair.texts[0] for pair in pairs])
    pictures = [Image.open(pictured / "data" / f"{pair.id[1:]}.png") for pair in pairs]
    items = model.embedder.encode(pictures) if kind == "image" else said
    best = np.argsort(-(said @ items.T), axis=1, kind="stable")
    alike = np.array(
        [[pairs[i].labels == pairs[j].labels for j in row] for i, row in enumerate(best)]
    )
    for k in (1, 3, 10):
        assert scores[f"precision_at_{k}"] == pytest.approx(alike[:, :k].mean(), abs=1e-3)
    assert found.model_name == "trope/small"


def test_it_is_an_encoder_to_mteb(pictured: Path, mteb: Any) -> None:
    from mteb.models.models_protocols import EncoderProtocol

    model = MtebModel(pictured / "run")
    assert isinstance(model, EncoderProtocol)
    assert model.mteb_model_meta.embed_dim == 12
    assert model.mteb_model_meta.modalities == ["text", "image"]
