from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from trope.checkpoints import (
    FILE,
    FORMAT,
    fit,
    load_model,
    read_tensors,
    save_model,
    write_tensors,
)
from trope.encoders import HeadSettings, ImageSettings, Model, Plan, TextSettings
from trope.errors import DataError, TropeError, UsageError

PLAN = Plan(
    ImageSettings(backbone="precomputed"),
    TextSettings(words=4, hidden=6, bidirectional=True),
    HeadSettings(size=5, senses=2),
    image_size=7,
    words=("न्याय", "ship", "正義"),
)


def model(plan: Plan = PLAN) -> Model:
    torch.manual_seed(0)
    return plan.model(0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    save_model(tmp_path / FILE, model(), PLAN, {"run": {"seed": 3}, "score": np.float64(0.5)})
    return tmp_path / FILE


def one_line(error: pytest.ExceptionInfo[TropeError], path: Path) -> str:
    message = str(error.value)
    assert "\n" not in message
    assert str(path) in message
    return message


@pytest.mark.parametrize("by_folder", [True, False])
def test_a_model_comes_back_bit_by_bit(path: Path, by_folder: bool) -> None:
    torch.manual_seed(1)  # other initial weights
    found = load_model(path.parent if by_folder else path)
    expected = model().state_dict()
    assert list(found.model.state_dict()) == list(expected)
    for name, value in found.model.state_dict().items():
        assert torch.equal(value, expected[name])
        assert value.dtype == expected[name].dtype
    assert found.plan == PLAN
    assert found.description["run"] == {"seed": 3}
    assert found.description["score"] == 0.5
    assert not any(module.training for module in found.model.modules())


def test_a_tuned_model_comes_back_too(tmp_path: Path) -> None:
    plan = replace(PLAN, image=ImageSettings("tuned"), image_size=0)
    made = model(plan)
    with torch.no_grad():
        for value in made.parameters():
            value.add_(1)
    save_model(tmp_path / FILE, made, plan, {})
    found = load_model(tmp_path).model.state_dict()
    expected = made.state_dict()
    assert all(torch.equal(found[name], value) for name, value in expected.items())
    assert len(found) == len(expected)


def test_saving_replaces_the_file_whole(path: Path) -> None:
    other = replace(PLAN, words=(*PLAN.words, "more"))
    save_model(path, model(other), other, {})
    assert load_model(path).plan == other
    assert [file.name for file in path.parent.iterdir() if file.suffix != ""] == [FILE]


@pytest.mark.parametrize("share", [0.0, 0.001, 0.3, 0.99])
def test_a_truncated_file(path: Path, share: float) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(DataError, match="damaged") as error:
        load_model(path)
    one_line(error, path)


@pytest.mark.parametrize(
    "metadata",
    [None, {"format": "pt"}, {"description": "no JSON"}, {"description": "[1, 2]"}],
)
def test_a_foreign_file(path: Path, metadata: dict[str, str] | None) -> None:
    save_file({"weight": torch.zeros(2)}, path, metadata)
    with pytest.raises(DataError, match="not made by trope") as error:
        load_model(path)
    one_line(error, path)


def test_no_safetensors_at_all(path: Path) -> None:
    path.write_text("a text of some length, which is no model at all")
    with pytest.raises(DataError, match="not made by trope") as error:
        load_model(path)
    one_line(error, path)


@pytest.mark.parametrize("named", [FILE, "."])
def test_no_file(tmp_path: Path, named: str) -> None:
    with pytest.raises(UsageError, match="no such file") as error:
        load_model(tmp_path / named)
    one_line(error, tmp_path / FILE)


@pytest.mark.parametrize("format", ["trope-model-0", None])
def test_another_format(path: Path, format: str | None) -> None:
    tensors, document = read_tensors(path)
    write_tensors(path, tensors, document | {"format": format})
    with pytest.raises(DataError, match="not a model of this version") as error:
        load_model(path)
    one_line(error, path)


def test_a_model_of_an_earlier_version(path: Path) -> None:
    tensors, document = read_tensors(path)
    write_tensors(path, tensors, document | {"format": "trope-model-1"})
    with pytest.raises(DataError, match=r"made by an earlier version, .*; train anew") as error:
        load_model(path)
    one_line(error, path)


def test_without_a_plan(path: Path) -> None:
    tensors, _ = read_tensors(path)
    write_tensors(path, tensors, {"format": FORMAT})
    with pytest.raises(DataError, match="not a model of this version") as error:
        load_model(path)
    one_line(error, path)


def test_a_plan_with_an_unknown_setting(path: Path) -> None:
    tensors, document = read_tensors(path)
    document["plan"]["head"]["sizes"] = 3
    write_tensors(path, tensors, document)
    with pytest.raises(TropeError, match="no option 'sizes'; did you mean 'size'") as error:
        load_model(path)
    one_line(error, path)


def test_what_differs_is_said_in_one_sentence(path: Path) -> None:
    tensors, document = read_tensors(path)
    first, second = sorted(tensors)[:2]
    lacking = {name: value for name, value in tensors.items() if name not in (first, second)}
    wrong = {
        f"lacks 2 weights, the first is {first}": lacking,
        "has, unknown to the model, 1 weight, the first is more": tensors
        | {"more": torch.zeros(1)},
        rf"{first} has shape \(3, 1\), the model takes": tensors | {first: torch.zeros(3, 1)},
    }
    for message, weights in wrong.items():
        write_tensors(path, weights, document)
        with pytest.raises(DataError, match=message) as error:
            load_model(path)
        one_line(error, path)


def test_weights_that_do_not_fit_change_nothing() -> None:
    made = model()
    before = {name: value.clone() for name, value in made.state_dict().items()}
    wrong = {name: value + 1 for name, value in before.items()}
    wrong.popitem()
    with pytest.raises(DataError, match="lacks"):
        fit(made, wrong, "here")
    assert all(torch.equal(value, before[name]) for name, value in made.state_dict().items())
