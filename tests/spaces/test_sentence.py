"""The sentence encoder that comes in a package: offline, cached, refused with one line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import trope
from trope.data.pairs import Pairs
from trope.errors import DataError, MissingExtra, UsageError
from trope.features import sentences
from trope.features.sentences import SentenceEncoder, sentence_encoder
from trope.features.texts import sentences_folder
from trope.neighbors import Search, neighbors
from trope.spaces.sentence import Sentence
from trope.spaces.vectors import Space

TEXTS = [
    ["The court found him guilty.", "A judge passed the sentence."],
    ["Fresh bread from the oven.", ""],
    ["A verdict was reached by the jury."],
]


@pytest.fixture
def pairs(tmp_path: Path) -> Pairs:
    rows = [{"id": str(i), "texts": texts} for i, texts in enumerate(TEXTS)]
    (tmp_path / "data").mkdir()
    (tmp_path / "data/pairs.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return trope.open(tmp_path / "data")


def test_meaning_is_near(pairs: Pairs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    found = Sentence().vectors(pairs)
    assert isinstance(Sentence(), Space)
    texts = pairs.flat_texts()[0].to_pylist()
    assert found.values.shape == (len(texts), 384)
    assert found.owners.tolist() == pairs.flat_texts()[1].tolist()
    law, bread = texts.index(TEXTS[0][0]), texts.index(TEXTS[1][0])
    verdict = texts.index(TEXTS[2][0])
    assert found.values[law] @ found.values[verdict] > found.values[law] @ found.values[bread] + 0.2
    monkeypatch.setattr(SentenceEncoder, "encode", lambda *_: pytest.fail("encoded again"))
    again = Sentence().vectors(pairs)
    assert np.array_equal(again.values, found.values)
    assert again.space == found.space


def test_an_empty_text_has_no_content() -> None:
    vectors = sentence_encoder().encode(["", "word", " "])
    assert vectors.any(axis=1).tolist() == [False, True, False]
    assert not sentence_encoder().encode([""]).any()


def test_a_folder_is_known_by_its_content(tmp_path: Path) -> None:
    packaged = sentence_encoder()
    copied = tmp_path / "model"
    shutil.copytree(packaged.folder, copied)
    same = sentence_encoder(str(copied))
    assert same.fingerprint() == packaged.fingerprint()
    (copied / "1_Pooling/config.json").write_text("{}")
    assert same.fingerprint() != packaged.fingerprint()
    assert sentences_folder(same).name.startswith("model-")
    (copied / "model.safetensors").write_bytes(b"broken")
    with pytest.raises(DataError, match="cannot be loaded"):
        same.encode(["word"])


def test_what_is_not_there_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="did you mean 'minilm'"):
        sentence_encoder("minilmm")
    with pytest.raises(UsageError, match="no model of this name"):
        sentence_encoder("someone/no-such-model")
    with pytest.raises(UsageError, match=r"config\.json"):
        sentence_encoder(str(tmp_path))
    monkeypatch.setattr(sentences, "find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match=r"trope\[sentence\]"):
        sentence_encoder()


ODD = {
    "empty": "",
    "blank": " \t\n",
    "one word": "justice",
    "a megabyte": "court and verdict " * 56_000,
    "a megabyte of one word": "x" * 1_000_000,
    "Amharic": "ሰላም ለዓለም",
    "more Amharic": "ፍትሕ፣ ዕውር ናት።",
    "runes": "ᚠᚢᚦ ᚨᚱᚲ",
    "Japanese": "正義は盲目である",
    "mixed": "ሰላም peace",
}


def test_texts_of_all_kinds(tmp_path: Path) -> None:
    """Texts in a script the encoder never saw are one to it, but that makes no neighbors."""
    rows = [{"id": name, "texts": [text]} for name, text in ODD.items()]
    (tmp_path / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    pairs = trope.open(tmp_path)
    names = [pairs.ids[row] for row in pairs.flat_texts()[1]]
    found = Sentence().vectors(pairs)
    assert np.isfinite(found.values).all()
    silent = {name for name, value in zip(names, found.values, strict=True) if not value.any()}
    assert silent - {"empty", "blank"} == {"Amharic", "more Amharic", "runes"}
    assert "3 texts have no neighbors: minilm knows no word of them" in found.remarks
    table = neighbors(found.values, Search(50), found.owners)
    for name, near in zip(names, table.ids, strict=True):
        others = {names[i] for i in near if i >= 0}
        assert others == (set() if name in silent else {*names} - silent - {name})
