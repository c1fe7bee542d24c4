from __future__ import annotations

from pathlib import Path

import numpy as np
import orjson
import pytest

import trope
from trope.data.text import TextPreparation
from trope.errors import UsageError
from trope.spaces.captions import Corpus


def test_captions_and_references_are_found_again() -> None:
    corpus = Corpus.from_tokens([[["a", "b"], []], [], [["b"], ["c", "a", "a"], ["d"]]])
    captions = [
        [corpus.words[t] for t in corpus.tokens[first:last]]
        for first, last in zip(corpus.starts[:-1], corpus.starts[1:], strict=True)
    ]
    assert captions == [["a", "b"], [], ["b"], ["c", "a", "a"], ["d"]]
    assert corpus.images.tolist() == [0, 2, 2, 5]
    assert corpus.reference_counts.tolist() == [2, 0, 3]
    assert (corpus.image_count, corpus.caption_count) == (3, 5)
    rows, ends = corpus.references(np.array([2, 1, 0, 2]))
    assert rows.tolist() == [2, 3, 4, 0, 1, 2, 3, 4]
    assert ends.tolist() == [0, 3, 3, 5, 8]


def test_joined_references_are_one_caption_each() -> None:
    joined = Corpus.from_tokens([[["a", "b"], ["c"]], [], [["b"]]]).joined()
    assert joined.starts.tolist() == [0, 3, 3, 4]
    assert joined.images.tolist() == [0, 1, 2, 3]


def test_texts_are_lowered_and_split_in_any_script(script: str) -> None:
    corpus = Corpus.from_texts([["A Dog, a DOG!"], [script]])
    assert corpus.words[:2] == ("a", "dog")
    assert corpus.lengths[0] == 4
    assert corpus.lengths[1] > 0


def test_text_settings_are_used() -> None:
    kept = Corpus.from_texts([["A Dog"]], TextPreparation(lower=False))
    assert kept.words == ("A", "Dog")


def test_a_data_set_gives_one_image_a_row(tmp_path: Path) -> None:
    rows = [
        {"id": "1", "texts": ["two dogs", "a dog"], "split": "train"},
        {"id": "2", "image": "x.jpg", "split": "train"},
        {"id": "3", "text": "正義は盲目", "split": "train"},
    ]
    path = tmp_path / "pairs.jsonl"
    path.write_bytes(b"\n".join(map(orjson.dumps, rows)))
    corpus = Corpus.from_pairs(trope.open(path))
    assert corpus.reference_counts.tolist() == [2, 0, 1]
    assert "義" in corpus.words


def test_images_must_divide_the_captions() -> None:
    with pytest.raises(ValueError, match="do not divide the 2 captions"):
        Corpus.from_captions([["a"], ["b"]], [1])


@pytest.mark.usefixtures("untyped")
def test_one_text_is_no_list_of_captions() -> None:
    """To Python, a text is a list of its letters: what is measured would be letters."""
    refused = {
        "captions of image 1: a list is wanted, found 'two cats'": [["a dog"], "two cats"],
        "captions of image 0: a list is wanted, found 't'": "two cats",
        "captions of image 0: a list is wanted, found None": [None],
        "captions of image 0: a list is wanted, found b'a'": [b"a"],
    }
    for told, images in refused.items():
        with pytest.raises(UsageError, match=told):
            Corpus.from_texts(images)  # type: ignore[arg-type]
    for made in (["a", "dog"], 7, None):
        with pytest.raises(
            UsageError, match=r"a caption is a text, found .* \((list|int|NoneType)\)"
        ):
            Corpus.from_texts([["a dog", made]])  # type: ignore[list-item]
    with pytest.raises(UsageError, match="captions of image 0: a list is wanted, found 'a dog'"):
        Corpus.from_tokens(["a dog"])  # type: ignore[list-item]
    with pytest.raises(UsageError, match="words of caption 1: a list is wanted, found 'a dog'"):
        Corpus.from_tokens([[["a"], "a dog"]])  # type: ignore[list-item]
    with pytest.raises(UsageError, match="words of caption 0: a list is wanted, found 'a dog'"):
        Corpus.from_captions(["a dog"], [1])
    with pytest.raises(UsageError, match=r"found 'x{59} \(str\)"):  # no megabyte on the screen
        Corpus.from_texts(["x" * 1_000_000])
