from __future__ import annotations

import socket
from pathlib import Path

import huggingface_hub
import pytest

from trope.errors import MissingExtra, TropeError, UsageError
from trope.features import backbone
from trope.features.backbones import models
from trope.features.backbones.models import model_folder

KNOWN = ["efficientnet-lite0", "precomputed"]


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> None:
        raise AssertionError("the network was used")

    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)


@pytest.mark.parametrize("name", ["openai/clip-vit-base-patch32", "/no/such/folder", "", "a b/c/d"])
def test_unknown_names_are_one_line_and_cost_no_network(name: str) -> None:
    with pytest.raises(
        UsageError, match=r"no model of this name on this machine.*Python.*download=True"
    ):
        backbone(name)


def test_a_misspelt_name() -> None:
    with pytest.raises(UsageError, match="did you mean 'efficientnet-lite0'"):
        backbone("eficientnet-lite0")


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "find_spec", lambda name: None)
    with pytest.raises(
        MissingExtra, match=r"microsoft/resnet-50.*pip install 'trope\[transformers\]'"
    ):
        backbone("microsoft/resnet-50")
    with pytest.raises(MissingExtra, match=r"-e '\.\[transformers\]'; did you mean 'efficientnet"):
        backbone("eficientnet-lite0")


def test_a_folder_that_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"has no config\.json"):
        backbone(str(tmp_path))


def test_a_model_fetched_earlier_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = tmp_path / "models--some--model"
    snapshot = stored / "snapshots" / "0123abcd"
    snapshot.mkdir(parents=True)
    (snapshot / "config.json").write_text("{}")
    (stored / "refs").mkdir()
    (stored / "refs" / "main").write_text("0123abcd")
    find = huggingface_hub.try_to_load_from_cache
    monkeypatch.setattr(
        huggingface_hub, "try_to_load_from_cache", lambda *names: find(*names, cache_dir=tmp_path)
    )
    assert model_folder("some/model", KNOWN, download=False) == snapshot


class Hub:
    """Offers some files, and notes what was asked of it."""

    def __init__(self, folder: Path, *offered: str) -> None:
        self.folder, self.offered, self.asked = folder, offered, []  # type: ignore[var-annotated]

    def snapshot_download(self, name: str, allow_patterns: list[str]) -> str:
        self.asked.append((name, allow_patterns))
        for file in self.offered:
            if any(Path(file).match(pattern) for pattern in allow_patterns):
                (self.folder / file).write_text("{}")
        return str(self.folder)


def fetched(monkeypatch: pytest.MonkeyPatch, hub: Hub) -> Path:
    monkeypatch.setattr(huggingface_hub, "snapshot_download", hub.snapshot_download)
    return model_folder("some/model", KNOWN, download=True)


def test_a_download_is_asked_for_what_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub = Hub(tmp_path, "config.json", "model.safetensors", "pytorch_model.bin", "tf_model.h5")
    assert fetched(monkeypatch, hub) == tmp_path
    assert {path.name for path in tmp_path.iterdir()} == {"config.json", "model.safetensors"}


def test_older_weights_are_fetched_where_there_are_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub = Hub(tmp_path, "config.json", "pytorch_model.bin")
    assert fetched(monkeypatch, hub) == tmp_path
    assert (tmp_path / "pytorch_model.bin").exists()


def test_a_download_that_brings_no_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TropeError, match=r"offers no model\.safetensors"):
        fetched(monkeypatch, Hub(tmp_path, "config.json"))


def test_a_download_that_fails_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(name: str, allow_patterns: list[str]) -> str:
        raise ConnectionError("no route\nand more")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", fail)
    with pytest.raises(
        TropeError, match=r"^backbone 'some/model': cannot be fetched \(no route\)$"
    ):
        backbone("some/model", download=True)
