"""Other truths: the authors' package on its own rankings, judgments in files, numbers of COCO."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from evaluation_samples import pairs_of, vectors

from trope.data.pairs import Pairs
from trope.errors import DataError, UsageError
from trope.evaluation.embedded import Embedded
from trope.evaluation.gallery import gallery
from trope.evaluation.measuring import Plan, measure
from trope.evaluation.truth import truths
from trope.evaluation.truth.cxc import judgments as judgments_cxc
from trope.evaluation.truth.eccv import packaged
from trope.similarity import similarity


def coco(folder: Path, images: list[int], captions: dict[int, list[int]]) -> Pairs:
    """Rows with COCO's numbers; the captions say nothing."""
    rows = [
        {"id": str(i), "texts": [f"caption {c}" for c in captions[i]], "caption_ids": captions[i]}
        | {"split": "test"}
        for i in images
    ]
    return pairs_of(folder, rows)


def test_the_numbers_of_the_authors_package(tmp_path: Path) -> None:
    """Recall@1, R-precision and mAP@R over a part of COCO, as `eccv_caption` computes them."""
    pytest.importorskip("eccv_caption")
    from eccv_caption._metrics import compute_eccv_metrics

    original, eccv = packaged("original"), packaged("eccv")
    images = list(eccv.image)[:60]
    captions = {i: list(original.image[i]) for i in images}
    pairs = coco(tmp_path / "data", images, captions)
    found = gallery(pairs, np.arange(len(pairs)), "test")
    random = np.random.default_rng(0)
    embedded = Embedded(found, vectors(random, 60), vectors(random, len(found.texts)))
    judged = truths(("eccv",), found, pairs)
    values = measure(embedded, Plan((), truths=judged.of)).values
    numbers = np.array([c for i in images for c in captions[i]])
    scores = similarity(embedded.image, embedded.text).numpy()
    here = set(numbers.tolist())
    asked = {i: [c for c in eccv.image[i] if c in here] for i in images}
    ranked = {i: numbers[np.argsort(-row)].tolist() for i, row in zip(images, scores, strict=True)}
    theirs = compute_eccv_metrics(ranked, asked)
    ours = values["image_to_text"]
    assert np.nanmean(ours["eccv/map@r"]) == pytest.approx(theirs["eccv_map_at_r"])
    assert np.nanmean(ours["eccv/r-precision"]) == pytest.approx(theirs["eccv_rprecision"])
    assert np.nanmean(ours["eccv/recall@1"]) == pytest.approx(theirs["eccv_r1"])
    back = {c: [i for i in eccv.text[c] if i in asked] for c in eccv.text if c in here}
    turned = {
        int(c): np.array(images)[np.argsort(-row)].tolist()
        for c, row in zip(numbers, scores.T, strict=True)
    }
    theirs = compute_eccv_metrics(turned, {c: found for c, found in back.items() if found})
    ours = values["text_to_image"]
    assert np.nanmean(ours["eccv/map@r"]) == pytest.approx(theirs["eccv_map_at_r"])
    assert np.nanmean(ours["eccv/r-precision"]) == pytest.approx(theirs["eccv_rprecision"])
    assert "60 of 1,261 judged images" in judged.remarks[0]


@pytest.mark.parametrize("numbers", [None, [21, None]])
def test_captions_without_numbers_are_refused(tmp_path: Path, numbers: object) -> None:
    texts = ["one", "two"]
    rows = [
        {"id": "1", "texts": texts, "caption_ids": [11, 12], "split": "val"},
        {"id": "2", "texts": texts, "caption_ids": numbers, "split": "val"},
    ]
    pairs = pairs_of(tmp_path, rows)
    found = gallery(pairs, np.arange(2), "val")
    with pytest.raises(DataError, match=r"row '2' \(line 2\) has no caption_ids"):
        truths(("cxc=nowhere",), found, pairs)


@pytest.mark.parametrize("numbers", ["words", ["eleven", "twelve"], [1.5, 2.5], [-1, 2]])
def test_captions_whose_numbers_are_none_are_refused_by_row(
    tmp_path: Path, numbers: object
) -> None:
    rows = [{"id": "1", "texts": ["one", "two"], "caption_ids": numbers, "split": "test"}]
    pairs = pairs_of(tmp_path, rows)
    said = r"row '1' \(line 1\): caption_ids must be a list of COCO's numbers, found "
    with pytest.raises(DataError, match=said) as error:
        truths(("cxc=nowhere",), gallery(pairs, np.arange(1), "test"), pairs)
    assert "list_value_length" not in str(error.value)


@pytest.mark.parametrize("captions", [{1: [11, 12], 2: [21, 11]}, {1: [11, 11], 2: [21, 22]}])
def test_a_caption_has_a_number_of_its_own(tmp_path: Path, captions: dict[int, list[int]]) -> None:
    pairs = coco(tmp_path, [1, 2], captions)
    said = r"caption_ids: 11 stands in row '1' \(line 1\) already"
    with pytest.raises(DataError, match=said):
        truths(("cxc=nowhere",), gallery(pairs, np.arange(2), "test"), pairs)


def test_numbers_may_be_written_as_texts(tmp_path: Path, judged: Path) -> None:
    rows = [
        {"id": "1", "texts": ["a"], "caption_ids": ["11"], "split": "test"},
        {"id": "2", "texts": ["b"], "caption_ids": ["21"], "split": "test"},
    ]
    pairs = pairs_of(tmp_path / "data", rows)
    found = truths((f"cxc={judged}",), gallery(pairs, np.arange(2), "test"), pairs)
    assert found.of["image"][0].right.toarray().astype(int).tolist() == [[1, 1], [0, 0]]


SITS = """caption,image,agg_score,sampling_method
COCO_val2014:sentid:11,COCO_val2014_000000000001.jpg,4.2,x
COCO_val2014:sentid:21,COCO_val2014_000000000001.jpg,3.0,x
COCO_val2014:sentid:11,COCO_val2014_000000000002.jpg,2.99,x
COCO_val2014:sentid:99,COCO_val2014_000000000002.jpg,5,x
"""


@pytest.fixture
def judged(tmp_path: Path) -> Path:
    (tmp_path / "cxc").mkdir()
    (tmp_path / "cxc" / "sits_test.csv").write_text(SITS)
    return tmp_path / "cxc"


def test_captions_that_people_found_fitting(tmp_path: Path, judged: Path) -> None:
    pairs = coco(tmp_path / "data", [2, 1, 3], {1: [11, 12], 2: [21], 3: [31]})
    found = gallery(pairs, np.arange(3), "test")
    made = truths((f"cxc={judged}",), found, pairs)
    (truth,) = made.of["image"]
    assert truth.name == "cxc"
    assert truth.right.toarray().astype(int).tolist() == [[0, 0, 0, 0], [1, 1, 0, 0], [0, 0, 0, 0]]
    (back,) = made.of["text"]
    assert back.right.toarray().astype(int).tolist() == [[0, 1, 0], [0, 1, 0], [0, 0, 0], [0, 0, 0]]
    assert made.remarks == ("cxc: 1 of 2 judged images and 2 of 3 judged captions are in the data",)


def test_three_and_more_of_five_points_is_a_match(judged: Path) -> None:
    assert dict(judgments_cxc(judged).image) == {1: [11, 21], 2: [99]}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("caption,image\na,b\n", "not a table of judgments"),
        ("caption,image,agg_score\nx,1.jpg,5\n", "x is not a name of COCO"),
        ("caption,image,agg_score\nx:1,1.jpg,high\n", "not a table of judgments"),
    ],
)
def test_files_that_hold_no_judgments_are_refused(judged: Path, content: str, said: str) -> None:
    (judged / "sits_test.csv").write_text(content)
    with pytest.raises(DataError, match=said) as error:
        judgments_cxc(judged)
    assert "sits_test.csv" in str(error.value)


def test_what_cannot_be_judged_is_refused(tmp_path: Path, judged: Path) -> None:
    pairs = coco(tmp_path / "data", [1, 2], {1: [11], 2: [21]})
    found = gallery(pairs, np.arange(2), "test")
    with pytest.raises(UsageError, match="there is no sits_test"):
        truths((f"cxc={tmp_path}",), found, pairs)
    with pytest.raises(UsageError, match="needs COCO data"):
        truths(("eccv",), found, None)
    plain = pairs_of(tmp_path / "plain", [{"id": "1", "text": "a", "split": "test"}])
    with pytest.raises(UsageError, match="needs COCO data"):
        truths(("eccv",), found, plain)
    strange = coco(tmp_path / "strange", [7, 8], {7: [1], 8: [2]})
    with pytest.raises(DataError, match="none of the judged"):
        truths((f"cxc={judged}",), gallery(strange, np.arange(2), "test"), strange)
    named = pairs_of(
        tmp_path / "named", [{"id": "x", "texts": ["a"], "caption_ids": [1], "split": "test"}]
    )
    said = r"named: row 'x' \(line 1\): the id is no number of COCO"
    with pytest.raises(DataError, match=said):
        truths((f"cxc={judged}",), gallery(named, np.arange(1), "test"), named)
    uneven = pairs_of(
        tmp_path / "uneven", [{"id": "1", "texts": ["a"], "caption_ids": [1, 2], "split": "test"}]
    )
    said = r"row '1' \(line 1\): caption_ids and texts do not go together"
    with pytest.raises(DataError, match=said):
        truths((f"cxc={judged}",), gallery(uneven, np.arange(1), "test"), uneven)


def test_without_the_package_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "eccv_caption", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"pip install 'trope\[truth\]'"):
        packaged("eccv")
