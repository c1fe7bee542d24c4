from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import combinations
from typing import Literal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rensa import RMinHash

from trope import config
from trope.data import duplicates, shingles
from trope.data.duplicates import DuplicateClusters, NearDuplicates, find
from trope.data.shingles import Shingled
from trope.data.text import tokenize
from trope.errors import UsageError

Unit = Literal["characters", "words"]


def shingle_set(text: str, width: int = 5, unit: Unit = "characters") -> set[tuple[str, ...]]:
    text = " ".join(text.casefold().split())
    units = tokenize(text) if unit == "words" else list(text)
    return {tuple(units[i : i + width]) for i in range(max(1, len(units) - width + 1))}


def jaccard(one: str, other: str) -> float:
    """The similarity by plain sets."""
    left, right = shingle_set(one), shingle_set(other)
    return len(left & right) / len(left | right)


def component_ids(count: int, pairs: list[tuple[int, int]]) -> list[int]:
    """The first row of each row's cluster, by relabeling again and again."""
    ids = list(range(count))
    for left, right in pairs:
        old, new = sorted((ids[left], ids[right]), reverse=True)
        ids = [new if label == old else label for label in ids]
    return ids


def check(texts: list[str], found: DuplicateClusters, options: NearDuplicates, sure: float) -> None:
    """Links are exact and hold the clusters together; every pair of similarity `sure` is found."""
    sets = [shingle_set(text, options.shingle, options.unit) for text in texts]
    similar = {
        (i, j): len(sets[i] & sets[j]) / len(sets[i] | sets[j])
        for i, j in combinations(range(len(texts)), 2)
        if texts[i].strip() and texts[j].strip()
    }
    for left, right, similarity in found.links():
        assert options.threshold <= similarity == similar[left, right]
    links = [(left, right) for left, right, _ in found.links()]
    assert found.ids.tolist() == component_ids(len(texts), links)
    for (left, right), similarity in similar.items():
        assert similarity < sure or found.ids[left] == found.ids[right]


def sentence(generator: np.random.Generator, words: int) -> str:
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    return " ".join(
        "".join(generator.choice(letters, size)) for size in generator.integers(2, 9, words)
    )


def changed(generator: np.random.Generator, text: str, words: int) -> str:
    """The text with a few of its words replaced."""
    parts = text.split(" ")
    for place in generator.choice(len(parts), words, replace=False):
        parts[place] = sentence(generator, 1)
    return " ".join(parts)


def families(seed: int, count: int = 25, members: int = 4) -> list[str]:
    """Texts, each followed by more and more changed copies of itself."""
    generator = np.random.default_rng(seed)
    texts = [sentence(generator, 50) for _ in range(count)]
    copies = [changed(generator, text, words) for text in texts for words in range(1, members)]
    return texts + copies


@pytest.mark.parametrize("threshold", [0.5, 0.7, 0.8, 0.9])
@pytest.mark.parametrize(("unit", "width"), [("characters", 5), ("characters", 3), ("words", 2)])
def test_clusters_equal_all_pairs_compared(threshold: float, unit: Unit, width: int) -> None:
    texts = families(seed=0)
    options = NearDuplicates(threshold, width, unit)
    check(texts, find(texts, options), options, sure=threshold + 0.05)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.text(alphabet="ab é日", max_size=15), max_size=12),
    st.integers(1, 4),
    st.sampled_from([0.4, 0.8, 1.0]),
)
def test_short_texts_equal_all_pairs_compared(
    texts: list[str], width: int, threshold: float
) -> None:
    options = NearDuplicates(threshold, width)
    check(texts, find(texts, options), options, sure=min(threshold + 0.15, 1.0))


def test_planted_pairs_are_all_found_and_nothing_else() -> None:
    generator = np.random.default_rng(1)
    texts = [sentence(generator, 60) for _ in range(1500)]
    texts += [changed(generator, text, 1) for text in texts[:300]]
    found = find(texts)
    assert found.ids.tolist() == [*range(1500), *range(300)]
    assert [(left, right) for left, right, _ in found.links()] == [
        (i, 1500 + i) for i in range(300)
    ]


def test_a_large_family_costs_about_one_comparison_each(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = []
    exact = Shingled.jaccard
    monkeypatch.setattr(
        Shingled,
        "jaccard",
        lambda self, left, right: compared.append(len(left)) or exact(self, left, right),
    )
    body = (
        "Please switch on cookies and reload the page to go on reading this article. Thank you. "
        * 2
    )
    texts = [f"{body} Request {number:06d}." for number in range(3000)]
    found = find(texts)
    assert found.ids.tolist() == [0] * 3000
    assert sum(compared) < 3 * 3000


def test_near_pairs_are_found_among_many_texts_from_one_template() -> None:
    generator = np.random.default_rng(2)
    template = sentence(generator, 40)
    texts = [f"{template} {sentence(generator, 8)}" for _ in range(600)]
    assert 0.6 < jaccard(texts[0], texts[1]) < 0.8
    texts += [changed(generator, text, 1) for text in texts[:60]]
    found = find(texts)
    for row in range(60):
        assert (
            jaccard(texts[row], texts[600 + row]) < 0.85 or found.ids[600 + row] == found.ids[row]
        )
    assert all(similarity >= 0.8 for _, _, similarity in found.links())


def test_near_pairs_are_found_among_forms_filled_from_few_options() -> None:
    """The parts that vary are shared too, so that buckets are large and mixed."""
    generator = np.random.default_rng(5)
    body, options = (
        sentence(generator, 36),
        [[sentence(generator, 4) for _ in "abcd"] for _ in range(8)],
    )
    choices = generator.integers(0, 4, (2500, 8))
    texts = sorted(
        {" ".join([body, *(options[i][c] for i, c in enumerate(row))]) for row in choices}
    )
    found = find(texts, NearDuplicates(threshold=0.85))
    names: dict[tuple[str, ...], int] = {}
    columns = [[names.setdefault(s, len(names)) for s in shingle_set(text)] for text in texts]
    sets = np.zeros((len(texts), len(names)), dtype=np.float32)
    for row, members in enumerate(columns):
        sets[row, members] = 1
    both, sizes = sets @ sets.T, sets.sum(axis=1)
    left, right = np.nonzero(np.triu(both / (sizes[:, None] + sizes - both) >= 0.85, k=1))
    assert len(left) > 500
    assert np.mean(found.ids[left] == found.ids[right]) > 0.98


def test_empty_and_missing_texts_are_never_duplicates() -> None:
    found = find(["", "  ", None, "\n", "word", None, "word"])
    assert found.ids.tolist() == [0, 1, 2, 3, 4, 5, 4]
    assert found.links() == [(4, 6, 1.0)]
    assert find([]).ids.tolist() == []
    assert find(["", None]).groups() == []


def test_copies_cost_no_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Shingled, "jaccard", None)
    texts = ["Caf\u00e9 au lait, s'il vous pla\u00eet"] * 3 + [
        "CAFE\u0301  AU LAIT, s'il vous plai\u0302t "
    ]
    found = find(texts)
    assert found.ids.tolist() == [0, 0, 0, 0]
    assert found.links() == [(0, 1, 1.0), (0, 2, 1.0), (0, 3, 1.0)]
    assert found.repeated().tolist() == [False, True, True, True]


@pytest.mark.parametrize(
    "text",
    [
        "न्याय की देवी आँखों पर पट्टी बाँधे तराज़ू लिए खड़ी है और शहर उसे भूल चुका है आज सुबह से",
        "正义女神蒙着双眼手持天平站在法院门口而这座城市的人们今天早上又一次从她身边匆匆走过没有抬头",
        "تقف العدالة معصوبة العينين أمام المحكمة نسيتها المدينة منذ زمن بعيد ولا أحد ينظر إليها",
        "ความยุติธรรมยืนปิดตาถือตาชั่งอยู่หน้าศาลและเมืองทั้งเมืองก็ลืมเธอไปแล้วตั้งแต่เช้าวันนี้",
    ],
)
def test_other_scripts(text: str) -> None:
    other = text[: len(text) // 2][::-1] + "ж" * 30
    options = NearDuplicates(threshold=0.7, shingle=3)
    assert find([other, text, text + "।", text[1:]], options).ids.tolist() == [0, 1, 1, 1]


def test_arrow_columns_and_small_portions_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = families(seed=3, count=20)
    expected = find(texts)
    assert len(expected.groups()) == 20
    for column in (pa.array(texts), pa.chunked_array([texts[:7], texts[7:]]), tuple(texts)):
        assert find(column).links() == expected.links()
    monkeypatch.setattr(shingles, "_AT_ONCE", 700)
    monkeypatch.setattr(shingles, "_ROWS_AT_ONCE", 9)
    assert find(texts).ids.tolist() == expected.ids.tolist()


def test_groups_are_the_clusters_in_order() -> None:
    found = find(["b", "a", "c", "a", "b", "a"])
    assert [rows.tolist() for rows in found.groups()] == [[0, 4], [1, 3, 5]]


def test_the_result_does_not_depend_on_python_hashing() -> None:
    program = (
        "import json; from trope.data.duplicates import *;"
        "texts = [f'{i % 40} once upon a time there was a town {i}' * 2 for i in range(200)];"
        "print(json.dumps([find(texts, NearDuplicates(0.6, seed=s)).links() for s in (0, 2**40)]))"
    )
    outputs = []
    for seed in ("1", "2"):
        environment = {
            **os.environ,
            "PYTHONHASHSEED": seed,
            "PYTHONPATH": os.pathsep.join(sys.path),
        }
        run = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, check=True
        )
        outputs.append(json.loads(run.stdout))
    assert outputs[0] == outputs[1]
    assert len(outputs[0][0]) > 50


def test_signatures_agree_as_often_as_sets_do() -> None:
    generator = np.random.default_rng(4)
    hashes = generator.integers(0, 2**63, 300).astype(np.uint64)
    flat = np.concatenate([hashes[:200], hashes[100:], hashes[:200][::-1]])
    offsets = np.array([0, 200, 400, 600], dtype=np.uint64)
    digests = RMinHash.digest_matrix_from_flat_token_hashes(flat, offsets, 4096, 0)
    rows = np.array(digests.to_rows())
    assert np.mean(rows[0] == rows[1]) == pytest.approx(1 / 3, abs=0.04)
    assert np.array_equal(rows[0], rows[2])


@settings(deadline=None)
@given(st.floats(0.1, 1.0), st.integers(16, 256))
def test_bands_are_as_long_as_the_recall_allows(threshold: float, permutations: int) -> None:
    bands, rows = duplicates._bands(threshold, permutations)
    assert bands * rows <= permutations

    def missed(rows: int) -> float:
        return (1 - threshold**rows) ** (permutations // rows)

    assert missed(rows) < 0.01 + 1e-9 or rows == 1
    assert all(missed(longer) > 0.01 - 1e-9 for longer in range(rows + 1, permutations + 1))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("threshold=0.0", "threshold must be above 0 and at most 1, found 0.0"),
        ("threshold=1.5", "found 1.5"),
        ("shingle=0", "shingle must be at least 1"),
        ("permutations=8", "permutations must be at least 16"),
        ("seed=-1", "seed must be at least 0"),
        ("unit=letters", "expected one of characters, words"),
    ],
)
def test_settings_refuse_nonsense(change: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        config.load(NearDuplicates, sets=[change])
