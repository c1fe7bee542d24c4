"""What every engine must do, compared with plain loops."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest
from index_samples import SIZE, best, items, lines, unit

from scripts import SCRIPTS
from trope.errors import DataError, UsageError
from trope.index import Engine
from trope.index.filters import parse
from trope.index.filters.tree import Compare

Make = Callable[..., Engine]


def asked(count: int = 5, senses: int = 1, seed: int = 9) -> np.ndarray:
    return unit(np.random.default_rng(seed), count, senses, SIZE)


def expect(
    index: Engine, queries: np.ndarray, ids: list[str], vectors: np.ndarray, k: int = 10
) -> None:
    """The k nearest are those of plain loops."""
    kind = "image" if not ids or ids[0].startswith("image") else "text"
    found = index.nearest(queries, k, kind)
    scores = best(queries, vectors)
    order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    wanted = np.take_along_axis(scores, order, axis=1)
    there = wanted.shape[1]
    assert found.scores.shape == (len(queries), k)
    np.testing.assert_allclose(found.scores[:, :there], wanted, atol=1e-5)
    for row, names in enumerate(found.ids):
        again = [scores[row, ids.index(name)] for name in names[:there]]
        np.testing.assert_allclose(again, wanted[row], atol=1e-5)
        assert len(set(names[:there])) == there
        assert all(name is None for name in names[there:])
    assert np.isneginf(found.scores[:, there:]).all()


@pytest.mark.parametrize(("senses", "of_query"), [(1, 1), (3, 3), (3, 1), (1, 2)])
def test_the_nearest_are_the_best_of_all_pairs_of_senses(
    make: Make, senses: int, of_query: int
) -> None:
    index, (ids, vectors, rows) = make(senses), items(60, senses)
    index.add(ids, vectors, rows)
    expect(index, asked(senses=of_query), ids, vectors)
    assert index.count("image") == 60
    assert index.count("text") == 0


def test_fewer_items_than_asked_for_are_filled_up(make: Make) -> None:
    index, (ids, vectors, rows) = make(), items(3)
    assert index.nearest(asked(), 4, "image").ids.tolist() == [[None] * 4] * 5
    index.add(ids, vectors, rows)
    expect(index, asked(), ids, vectors, k=7)
    assert index.nearest(asked(), 4, "text").ids.tolist() == [[None] * 4] * 5


def test_both_modalities_stay_apart(make: Make) -> None:
    index = make()
    images, texts = items(12), items(9, seed=5, kind="text")
    index.add(
        [*images[0], *texts[0]],
        np.concatenate([images[1], texts[1]]),
        pa.concat_tables([images[2], texts[2]]),
    )
    assert (index.count("image"), index.count("text")) == (12, 9)
    expect(index, asked(), images[0], images[1], 4)
    expect(index, asked(), texts[0], texts[1], 4)


def test_equal_vectors_are_all_found_and_hide_nobody(make: Make) -> None:
    """A graph over many equal vectors falls into islands."""
    index, (ids, vectors, rows) = make(), items(150)
    vectors[:100] = vectors[0]
    index.add(ids, vectors, rows)
    expect(index, vectors[:1], ids, vectors, k=30)
    expect(index, asked(), ids, vectors, k=120)
    expect(index, vectors[120:121], ids, vectors, k=5)
    index.remove(ids[:60])
    expect(index, asked(), ids[60:], vectors[60:], k=70)


def test_items_come_back_as_they_were_put_in(make: Make) -> None:
    index, (ids, vectors, rows) = make(2), items(20, 2)
    index.add(ids, vectors, rows)
    wanted = [ids[7], ids[3], ids[19]]
    found = index.get(wanted)
    assert found.ids == wanted
    np.testing.assert_array_equal(found.vectors, vectors[[7, 3, 19]])
    assert found.rows.select(rows.column_names).to_pylist() == rows.take([7, 3, 19]).to_pylist()
    assert len(index.get([])) == 0
    with pytest.raises(UsageError, match="no item 'image:nobody'"):
        index.get([ids[0], "image:nobody"])


def test_more_items_come_beside_the_first(make: Make) -> None:
    index, first, more = make(), items(30), items(30, seed=4, start=30)
    index.add(*first)
    index.add(*more)
    expect(index, asked(), first[0] + more[0], np.concatenate([first[1], more[1]]))


def test_an_item_of_the_same_id_is_replaced(make: Make) -> None:
    index, (ids, vectors, rows) = make(), items(40)
    index.add(ids, vectors, rows)
    fresh = unit(np.random.default_rng(3), 4, 1, SIZE)
    index.add(ids[10:14], fresh, lines(ids[10:14], years=[1, 2, 3, 4]))
    vectors = vectors.copy()
    vectors[10:14] = fresh
    assert index.count("image") == 40
    expect(index, asked(), ids, vectors)
    assert index.get([ids[12]]).rows.column("year").to_pylist() == [3]


def test_what_comes_instead_of_others_takes_their_place_in_one_step(make: Make) -> None:
    index, (ids, vectors, rows) = make(), items(20)
    index.add(ids, vectors, rows)
    more = items(2, seed=6, start=50)
    index.add(*more, instead_of=ids[:15])
    assert index.count("image") == 7
    expect(index, asked(), ids[15:] + more[0], np.concatenate([vectors[15:], more[1]]), 5)


def test_removed_items_are_not_found_again(make: Make) -> None:
    index, (ids, vectors, rows) = make(), items(50)
    index.add(ids, vectors, rows)
    assert index.remove([*ids[:3], ids[0], "image:nobody"]) == 3  # a tombstone
    expect(index, asked(), ids[3:], vectors[3:])
    assert index.remove(ids[3:40]) == 37  # enough to be written anew
    expect(index, asked(), ids[40:], vectors[40:], 5)
    assert index.remove(ids[:3]) == 0
    assert index.remove(ids) == 10
    assert index.count("image") == 0
    assert index.nearest(asked(), 2, "image").ids.tolist() == [[None] * 2] * 5
    index.add(ids, vectors, rows)
    expect(index, asked(), ids, vectors)


FILTERS: dict[str, Callable[[int], object]] = {
    "year >= 2030": lambda n: n >= 30,
    "year >= 2030 and labels contains 'odd'": lambda n: n >= 30 and n % 2,
    "section = 'art' or year < 2004.5": lambda n: n % 3 or n < 4.5,
    "not section = 'art'": lambda n: n % 3 == 0,
    "section != 'art'": lambda n: False,
    "section is null": lambda n: n % 3 == 0,
    "section not in ('art')": lambda n: False,
    "section is not null and not (year in (2001, 2002))": lambda n: n % 3 and n not in (1, 2),
    "id in ('r3', 'r4', 'r5', 'nobody')": lambda n: n in (3, 4, 5),
    "text = 'text of r7'": lambda n: n == 7,
    "text > 'text of r58'": lambda n: f"r{n}" > "r58",
    "section = 'it''s \"quoted\" \\'": lambda n: False,
}


def test_filters_let_the_same_items_pass_everywhere(make: Make) -> None:
    index, (ids, vectors, rows) = make(), items(60)
    index.add(ids, vectors, rows)
    index.remove(ids[50:52])
    for where, passes in FILTERS.items():
        kept = [n for n in range(60) if passes(n) and n not in (50, 51)]
        found = index.nearest(asked(), 60, "image", parse(where))
        for names, scores, query in zip(found.ids, found.scores, asked(), strict=True):
            assert {name for name in names if name} == {ids[n] for n in kept}, where
            wanted = sorted((float(vectors[n, 0] @ query[0]) for n in kept), reverse=True)
            np.testing.assert_allclose(scores[: len(kept)], wanted, atol=1e-5)
        assert sorted(index.find(parse(where))) == sorted(ids[n] for n in kept), where


def test_no_more_are_found_than_are_wanted(make: Make) -> None:
    index, (ids, vectors, rows) = make(senses=2), items(40, senses=2)
    index.add(ids, vectors, rows)
    odd = {ids[n] for n in range(1, 40, 2)}
    for most, there in ((7, 7), (20, 20), (100, 20)):
        found = index.find(parse("labels contains 'odd'"), most)
        assert len(set(found)) == len(found) == there
        assert set(found) <= odd
    assert index.find(parse("year = 1"), 3) == []


def test_a_filter_on_what_is_not_there_is_refused(make: Make) -> None:
    index = make()
    index.add(*items(5))
    with pytest.raises(UsageError, match="no column 'yeer'; did you mean 'year'"):
        index.nearest(asked(), 2, "image", parse("yeer = 3"))
    with pytest.raises(UsageError, match="holds numbers, not 'x'"):
        index.find(parse("year = 'x'"))


def test_a_column_that_only_one_data_set_has_is_empty_elsewhere(make: Make) -> None:
    index, first, more = make(), items(6), items(6, seed=2, start=6)
    index.add(*first)
    index.add(more[0], more[1], more[2].append_column("editor", pa.array(["Ana"] * 6)))
    assert sorted(index.find(parse("editor = 'Ana'"))) == sorted(more[0])
    assert sorted(index.find(parse("editor is null"))) == sorted(first[0])
    texts = items(3, kind="text")
    index.add(*texts)
    assert index.nearest(asked(), 1, "text", parse("editor = 'Ana'")).ids.tolist() == [[None]] * 5


def test_text_of_any_script_comes_back_and_can_be_asked_for(make: Make) -> None:
    index, (ids, vectors, rows) = make(), items(len(SCRIPTS))
    column = rows.column_names.index("text")
    index.add(ids, vectors, rows.set_column(column, "text", pa.array(SCRIPTS)))
    assert index.get(ids).rows.column("text").to_pylist() == list(SCRIPTS)
    for name, script in zip(ids, SCRIPTS, strict=True):
        assert index.find(Compare("text", "=", script)) == [name], script


def test_what_cannot_be_put_in_is_refused_and_leaves_nothing(make: Make) -> None:
    index, (ids, vectors, rows) = make(), items(4)
    with pytest.raises(UsageError, match=r"shape \(2, 8\) for an index of items of shape \(1, 8\)"):
        index.add(*items(4, senses=2))
    with pytest.raises(DataError, match="'image:r0' comes twice"):
        index.add([*ids[:3], ids[0]], vectors, rows)
    index.add(ids, vectors, rows)
    wrong = rows.set_column(rows.column_names.index("year"), "year", pa.array(["x"] * 4))
    with pytest.raises(DataError, match="column 'year': holds int64 and string"):
        index.add([f"image:w{i}" for i in range(4)], vectors, wrong)
    assert index.count("image") == 4
    expect(index, asked(), ids, vectors, 3)
