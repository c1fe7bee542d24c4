from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import NamedTuple

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import trope
from pictures import jpeg
from trope.checkpoints import FILE as MODEL
from trope.checkpoints import save_model
from trope.data.kept import FILE, Recognized, keep_splits, with_kept_splits
from trope.data.pairs import Pairs
from trope.data.splits import SplitPlan, split
from trope.encoders.plan import Plan
from trope.encoders.settings import HeadSettings, ImageSettings, TextSettings
from trope.errors import DataError
from trope.evaluation.runs import open_run
from trope.training.folder import opened as opened_run
from trope.training.recipes import load_recipe

PLAN = SplitPlan(images="path")


def opened(folder: Path, rows: list[dict[str, object]]) -> Pairs:
    folder.mkdir(exist_ok=True)
    (folder / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return trope.open(folder)


def made(count: int, first: int = 0) -> list[dict[str, object]]:
    return [
        {"id": f"r{i}", "image": f"{i}.jpg", "text": f"text {i}"}
        for i in range(first, first + count)
    ]


def parted(path: Path, pairs: Pairs, plan: SplitPlan = PLAN) -> dict[str, str | None]:
    return splits(with_kept_splits(path, pairs, plan)[0])


def splits(pairs: Pairs) -> dict[str, str | None]:
    return dict(zip(pairs.ids, pairs.column("split").to_pylist(), strict=True))


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """Thirty rows as a run has split them."""
    pairs, _ = split(opened(tmp_path / "data", made(30)), PLAN)
    keep_splits(tmp_path / FILE, pairs, PLAN.images)
    return tmp_path / FILE


def test_the_same_data_is_parted_the_same(kept: Path) -> None:
    pairs = trope.open(kept.parent / "data")
    planned = splits(split(pairs, PLAN)[0])
    assert set(planned.values()) == {"train", "val", "test"}
    assert parted(kept, pairs) == planned
    other = SplitPlan(images="path", seed=9)
    assert splits(split(pairs, other)[0]) != planned
    assert parted(kept, pairs, other) == planned


def test_rows_keep_their_split_when_the_data_grows(kept: Path) -> None:
    before = parted(kept, trope.open(kept.parent / "data"))
    grown = opened(kept.parent / "grown", [*made(50, first=30)[::-1], *made(30)])
    found = parted(kept, grown)
    assert {name: found[name] for name in before} == before
    assert splits(split(grown, PLAN)[0]) != found  # splitting anew would not
    new = [found[f"r{i}"] for i in range(30, 80)]
    assert {name: new.count(name) for name in set(new)} == {"train": 40, "val": 5, "test": 5}


def test_a_new_row_joins_what_it_belongs_to(kept: Path) -> None:
    before = parted(kept, trope.open(kept.parent / "data"))
    first = {name: next(i for i in before if before[i] == name)[1:] for name in before.values()}
    rows = [{"id": f"image-{s}", "image": f"{i}.jpg", "text": s} for s, i in first.items()]
    rows += [
        {"id": f"text-{s}", "image": f"{s}.jpg", "text": f"Text  {i}"} for s, i in first.items()
    ]
    rows += [
        {"id": "train-and-test", "image": f"{first['train']}.jpg", "text": f"text {first['test']}"},
    ]
    found = parted(kept, opened(kept.parent / "grown", [*made(30), *rows]))
    assert {name: found[name] for name in before} == before
    assert found["train-and-test"] == "train"
    # test rows of that component are still where they were; its new ones are all of train
    assert found["image-train"] == found["text-train"] == found["text-test"] == "train"
    assert found["image-val"] == found["text-val"] == "val"


def test_a_row_may_change_its_text_or_its_image(kept: Path) -> None:
    before = parted(kept, trope.open(kept.parent / "data"))
    rows = made(30)
    for i, row in enumerate(rows):
        row.update({"text": f"corrected {i}"} if i % 2 else {"image": f"new/{i}.jpg"})
    assert parted(kept, opened(kept.parent / "edited", rows)) == before


def test_other_data_with_the_same_ids_is_split_as_planned(kept: Path) -> None:
    rows = made(30)
    for i, row in enumerate(rows):
        row |= {"image": f"other/{i}.jpg", "text": f"else {i}", "split": "test"}
    other = opened(kept.parent / "other", rows)
    assert set(parted(kept, other).values()) == {"test"}


def test_splits_that_new_rows_bring_hold(kept: Path) -> None:
    new = [row | {"split": "test"} for row in made(9, first=30)]
    grown = opened(kept.parent / "grown", [*made(30), *new])
    found = parted(kept, grown)
    assert {found[f"r{i}"] for i in range(30, 39)} == {"test"}
    again = SplitPlan(images="path", again=True)
    found = parted(kept, grown, again)
    assert {found[f"r{i}"] for i in range(30, 39)} != {"test"}


def test_a_new_row_is_not_of_test_where_the_run_has_learned_from_its_image(kept: Path) -> None:
    """Whatever it brings; one that brings an earlier split than its known neighbors keeps it."""
    before = parted(kept, trope.open(kept.parent / "data"))
    first = {name: next(i for i in before if before[i] == name)[1:] for name in before.values()}
    rows = [
        {"id": f"{s}-{own}", "image": f"{i}.jpg", "text": f"{s} {own}", "split": own}
        for s, i in first.items()
        for own in ("train", "val", "test")
    ]
    grown = opened(kept.parent / "grown", [*made(30), *rows])
    found = parted(kept, grown)
    assert {name: found[name] for name in before} == before
    assert [found[f"train-{own}"] for own in ("train", "val", "test")] == ["train"] * 3
    assert [found[f"val-{own}"] for own in ("train", "val", "test")] == ["train", "val", "val"]
    assert [found[f"test-{own}"] for own in ("train", "val", "test")] == ["train", "val", "test"]


def test_without_kept_splits_the_plan_holds(tmp_path: Path) -> None:
    pairs = opened(tmp_path / "data", made(20))
    assert parted(tmp_path / FILE, pairs) == splits(split(pairs, PLAN)[0])


def test_a_damaged_file_is_told(kept: Path) -> None:
    kept.write_bytes(kept.read_bytes()[:40])
    with pytest.raises(DataError, match=f"{FILE}: damaged"):
        with_kept_splits(kept, trope.open(kept.parent / "data"), PLAN)


class Row(NamedTuple):
    """A row of few possible ids, images and texts; no content: its file cannot be read."""

    id: int
    image: int
    texts: tuple[int, ...]
    split: str | None = None
    content: int | None = None

    def written(self) -> dict[str, object]:
        texts = [f"text {text}" for text in self.texts]
        return {"id": f"r{self.id}", "image": f"{self.image}.jpg", "texts": texts} | (
            {"split": self.split} if self.split else {}
        )


ORDER = ("train", "val", "test")


def same_picture(one: Row, other: Row) -> bool:
    if one.content is None or other.content is None:
        return one.image == other.image
    return one.content == other.content


def shared(one: Row, other: Row) -> set[object]:
    """The texts, and perhaps the picture, that two rows have in common."""
    return {*one.texts} & {*other.texts} | ({"picture"} if same_picture(one, other) else set())


def rows_of(split: st.SearchStrategy[str | None]) -> st.SearchStrategy[list[Row]]:
    few, texts = st.integers(0, 6), st.lists(st.integers(0, 9), min_size=1, max_size=3, unique=True)
    row = st.builds(Row, few, few, texts.map(tuple), split)
    rows = st.lists(row, min_size=1, max_size=6, unique_by=lambda row: row.id)
    files = st.just({}) | st.dictionaries(few, st.integers(0, 6))
    return st.tuples(rows, files).map(
        lambda found: [row._replace(content=found[1].get(row.image)) for row in found[0]]
    )


def stored(folder: Path, rows: list[Row]) -> Pairs:
    pairs = opened(folder, [row.written() for row in rows])
    for row in rows:
        if row.content is not None:
            (folder / f"{row.image}.jpg").write_bytes(bytes([row.content]))
    return pairs


@given(
    rows_of(st.sampled_from(ORDER)),
    rows_of(st.sampled_from([None, *ORDER])),
    st.integers(0, 6),
)
def test_nothing_is_tested_that_was_trained_on(then: list[Row], now: list[Row], stays: int) -> None:
    """By loops: what rows of an earlier split had, a row has only if it had it in its split then.

    And all of it, as one row: that a text was given in both splits lets no other row have it.
    """
    files = {row.image: row.content for row in now}
    old = [row for row in then[:stays] if files.get(row.image, row.content) == row.content]
    now = [*old, *(row for row in now if row.id not in {other.id for other in old})]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / FILE
        keep_splits(path, stored(Path(folder) / "then", then))
        pairs, found = with_kept_splits(path, stored(Path(folder) / "now", now), SplitPlan())
    before = {row.id: row for row in then}
    known = 0
    for row, part in zip(now, pairs.column("split").to_pylist(), strict=True):
        assert part in ORDER
        rank = ORDER.index(part)
        early = [shared(row, other) for other in then if ORDER.index(other.split or "") < rank]
        learned = set[object]().union(*early)
        its = [shared(row, other) for other in then if other.split == part]
        assert not learned or any(learned <= had for had in its)
        same = before.get(row.id)
        if row in old:
            assert same
            assert part == same.split
        named = same and (
            same_picture(same, row) or same.image == row.image or same.texts[0] == row.texts[0]
        )
        known += bool(named) or any(
            other.texts[0] == row.texts[0]
            and (other.image == row.image or same_picture(other, row))
            for other in then
        )
    assert found
    assert (found.rows, found.known) == (len(now), known)


TESTED = {"id": "r1", "image": "1.jpg", "texts": ["text 1", "more 1"], "split": "test"}
TRAINED = {"id": "r0", "image": "0.jpg", "texts": ["text 0", "more 0"], "split": "train"}


@pytest.mark.parametrize("name", ["r1", "new"])
@pytest.mark.parametrize("second", ["Text 0", "more  0"])
def test_a_row_whose_second_text_was_trained_on_is_not_tested(
    tmp_path: Path, name: str, second: str
) -> None:
    keep_splits(tmp_path / FILE, opened(tmp_path / "data", [TRAINED, TESTED]), "path")
    other = TESTED | {"id": name, "texts": ["text 1", second]}
    data = opened(tmp_path / "other", [TRAINED, other])
    found, recognized = with_kept_splits(tmp_path / FILE, data, PLAN)
    assert splits(found) == {"r0": "train", name: "train"}
    assert recognized == Recognized(2, 2, moved=1)
    assert "of an earlier split now, which go there: 1" in str(recognized)


@pytest.mark.parametrize("name", ["r1", "new"])
def test_texts_that_were_given_in_two_splits_stay_in_both(tmp_path: Path, name: str) -> None:
    both = TESTED | {"texts": ["text 1", "more 0"]}
    keep_splits(tmp_path / FILE, opened(tmp_path / "data", [TRAINED, both]), "path")
    data = opened(tmp_path / "other", [both | {"id": name, "texts": ["text 1", "new", "more 0"]}])
    found, recognized = with_kept_splits(tmp_path / FILE, data, PLAN)
    assert splits(found) == {name: "test"}
    assert recognized == Recognized(1, 1)


def test_a_row_that_moves_takes_all_it_has_with_it(tmp_path: Path) -> None:
    """A text given in train and in test is not tried in val because the row has one of val now."""
    both = TESTED | {"texts": ["text 1", "more 0"]}
    val = {"id": "r2", "image": "2.jpg", "texts": ["text 2"], "split": "val"}
    keep_splits(tmp_path / FILE, opened(tmp_path / "data", [TRAINED, both, val]), "path")
    data = opened(tmp_path / "other", [both | {"texts": ["text 1", "more 0", "text 2"]}])
    assert parted(tmp_path / FILE, data) == {"r1": "train"}


@pytest.mark.parametrize("there", [True, False])
def test_a_file_with_the_bytes_of_one_that_was_trained_on(tmp_path: Path, there: bool) -> None:
    """The table says what it said; the file itself may have been missing."""
    painted(tmp_path / "data", ["0.jpg", "1.jpg"][: 1 + there])
    pairs = opened(tmp_path / "data", [TRAINED, TESTED])
    keep_splits(tmp_path / FILE, pairs)
    (tmp_path / "data" / "1.jpg").write_bytes((tmp_path / "data" / "0.jpg").read_bytes())
    found, recognized = with_kept_splits(tmp_path / FILE, pairs, SplitPlan())
    assert splits(found) == {"r0": "train", "r1": "train"}
    assert recognized == Recognized(2, 2, moved=1, repainted=int(there))
    assert with_kept_splits(tmp_path / FILE, pairs, PLAN)[1] == Recognized(2, 2)


def test_other_pictures_in_the_same_files_are_told(tmp_path: Path) -> None:
    data, run = tmp_path / "data", tmp_path / "run"
    painted(data, ["0.jpg", "1.jpg"])
    pairs = opened(data, [TRAINED, TESTED])
    run.mkdir()
    keep_splits(run / FILE, pairs)
    text, head = TextSettings(words=2, hidden=2), HeadSettings(size=2)
    plan = Plan(ImageSettings(backbone="precomputed"), text, head, image_size=2, words=("text",))
    save_model(run / MODEL, plan.model(0), plan, {"run": {"data": pairs.fingerprint}})
    assert open_run(run, data)[1] == ()
    (data / "1.jpg").write_bytes(jpeg((0, 255, 0)))
    source, said = open_run(run, data)
    assert source.pairs.fingerprint == pairs.fingerprint
    assert said[0].startswith(f"{data}: not the data as it was when {run} was trained")
    assert said[0].endswith("parted as then; with other pictures: 1")
    (data / "1.jpg").write_bytes((data / "0.jpg").read_bytes())
    source, said = open_run(run, data)
    assert splits(source.pairs) == {"r0": "train", "r1": "train"}
    assert "which go there: 1" in said[0]


def test_texts_are_hashed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep_splits(tmp_path / FILE, opened(tmp_path / "data", [TRAINED, TESTED]))
    data, seen = opened(tmp_path / "other", [TESTED, TRAINED]), list[str]()

    def counted(text: str) -> str:
        seen.append(text)
        return text

    monkeypatch.setattr("trope.data.kept.same_text", counted)
    with_kept_splits(tmp_path / FILE, data, SplitPlan())
    assert sorted(seen) == ["more 0", "more 1", "text 0", "text 1"]


def test_splits_of_a_new_run_are_written_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs, written = opened(tmp_path / "data", [TRAINED, TESTED]), list[str]()

    def counted(path: Path, pairs: Pairs, images: str) -> None:
        written.append(path.name)
        keep_splits(path, pairs, images)

    monkeypatch.setattr("trope.training.folder.keep_splits", counted)
    for times in (1, 2):  # what an attempt that saved nothing had written is written anew
        with opened_run(tmp_path / "run", load_recipe("angular"), {}, pairs):
            assert written == [FILE] * times
        assert {path.name for path in (tmp_path / "run").iterdir()} >= {FILE, "run.json"}


def table(folder: Path, rows: list[tuple[str, str]]) -> Pairs:
    """A table without ids: its rows are named by their lines."""
    folder.mkdir(exist_ok=True)
    lines = [f"{image},{text}" for image, text in [("image", "text"), *rows]]
    (folder / "pairs.csv").write_text("\n".join(lines), encoding="utf-8")
    return trope.open(folder)


def test_rows_whose_ids_moved_by_a_line_are_still_known(tmp_path: Path) -> None:
    rows = [(f"{i}.jpg", f"text {i}") for i in range(30)]
    pairs, _ = split(table(tmp_path / "data", rows), PLAN)
    keep_splits(tmp_path / FILE, pairs, "path")
    before = dict(zip(pairs.column("image").to_pylist(), splits(pairs).values(), strict=True))
    moved = table(tmp_path / "moved", [("new.jpg", "new"), *rows])
    found, recognized = with_kept_splits(tmp_path / FILE, moved, PLAN)
    now = dict(zip(found.column("image").to_pylist(), splits(found).values(), strict=True))
    assert {name: now[name] for name in before} == before
    assert recognized == Recognized(31, 30, 0, 1)
    assert splits(split(moved, PLAN)[0]) != splits(found)


def painted(folder: Path, names: list[str], shift: int = 0) -> None:
    for i, name in enumerate(names):
        (folder / name).parent.mkdir(exist_ok=True, parents=True)
        (folder / name).write_bytes(jpeg((8 * i, shift, 90)))


def test_pictures_are_known_under_other_names(tmp_path: Path) -> None:
    plan, names = SplitPlan(), [f"{i}.jpg" for i in range(30)]
    painted(tmp_path / "data", names)
    painted(tmp_path / "renamed", [f"new/{name}" for name in names])
    pairs, _ = split(table(tmp_path / "data", [(n, f"text {n}") for n in names]), plan)
    keep_splits(tmp_path / FILE, pairs)
    renamed = table(tmp_path / "renamed", [(f"new/{n}", f"else {n}") for n in reversed(names)])
    found, recognized = with_kept_splits(tmp_path / FILE, renamed, plan)
    assert list(splits(found).values()) == list(splits(pairs).values())[::-1]
    assert recognized == Recognized(30, 0, 30)


def test_other_pictures_under_the_same_names_are_new(tmp_path: Path) -> None:
    """Where both have but lines for ids; an id of its own and a path tell a row by themselves."""
    plan, names = SplitPlan(), [f"{i}.jpg" for i in range(30)]
    for folder, shift in (("data", 0), ("other", 250)):
        painted(tmp_path / folder, names, shift)
    pairs, _ = split(table(tmp_path / "data", [(n, f"text {n}") for n in names]), plan)
    keep_splits(tmp_path / FILE, pairs)
    other = table(tmp_path / "other", [(n, f"else {n}") for n in names])
    found, recognized = with_kept_splits(tmp_path / FILE, other, plan)
    assert recognized == Recognized(30, 0, 0, 30)
    assert splits(found) == splits(split(other, plan)[0])
    texts = table(tmp_path / "other", [(n, f"text {n}") for n in names])
    assert with_kept_splits(tmp_path / FILE, texts, plan)[1] == Recognized(30, 30, repainted=30)


def test_pictures_that_got_each_others_names_keep_their_splits(tmp_path: Path) -> None:
    """Rows and files numbered anew after one was put at the top; some texts are others too."""
    plan = SplitPlan()
    for folder, first in (("data", 1), ("moved", 0)):
        for i in range(first, 30):
            (tmp_path / folder).mkdir(exist_ok=True)
            (tmp_path / folder / f"{i - first}.jpg").write_bytes(jpeg((8 * i, 0, 90)))
    names = [{"id": f"r{i}", "image": f"{i}.jpg"} for i in range(30)]
    then = [name | {"text": f"text {i + 1}"} for i, name in enumerate(names[:29])]
    now = [name | {"text": f"text {i}" if i % 2 else f"else {i}"} for i, name in enumerate(names)]
    pairs, _ = split(opened(tmp_path / "data", then), plan)
    keep_splits(tmp_path / FILE, pairs)
    found = list(parted(tmp_path / FILE, opened(tmp_path / "moved", now), plan).values())[1:]
    for i, (after, before) in enumerate(zip(found, splits(pairs).values(), strict=True), 1):
        assert after == before if i % 2 or before == "train" else after is not None


def test_a_picture_that_was_trained_on_under_the_name_of_another(tmp_path: Path) -> None:
    """Beside the text that the other has, too."""
    painted(tmp_path / "data", ["a.jpg", "b.jpg"])
    rows = [
        {"id": name, "image": f"{name}.jpg", "text": f"text {name}", "split": split}
        for name, split in (("a", "train"), ("b", "test"))
    ]
    keep_splits(tmp_path / FILE, opened(tmp_path / "data", rows))
    (tmp_path / "data" / "b.jpg").write_bytes((tmp_path / "data" / "a.jpg").read_bytes())
    new = rows[1] | {"id": "new"}
    now, found = with_kept_splits(tmp_path / FILE, opened(tmp_path / "data", [new]), SplitPlan())
    assert splits(now) == {"new": "train"}
    assert found == Recognized(1, 1, moved=1, repainted=1)


def test_what_is_gone_was_trained_on_all_the_same(tmp_path: Path) -> None:
    rows = [
        {"id": f"r{i}", "image": f"{i}.jpg", "texts": [f"text {i}", f"more {i}"], "split": "train"}
        for i in range(9)
    ]
    keep_splits(tmp_path / FILE, opened(tmp_path / "data", rows), "path")
    new = [{"id": "new", "image": "n.jpg", "text": "More 3", "split": "test"}]
    new += [{"id": "free", "image": "f.jpg", "text": "free", "split": "test"}]
    found, recognized = with_kept_splits(tmp_path / FILE, opened(tmp_path / "new", new), PLAN)
    assert splits(found) == {"new": "train", "free": "test"}
    assert recognized == Recognized(2, 0, 1)


def test_other_pages_of_a_story_that_was_trained_on(tmp_path: Path) -> None:
    rows = [row | {"group": f"g{i // 3}", "split": "train"} for i, row in enumerate(made(9))]
    keep_splits(tmp_path / FILE, opened(tmp_path / "data", rows), "path")
    new = [row | {"group": f"g{i + 1}", "split": "test"} for i, row in enumerate(made(4, first=20))]
    found, recognized = with_kept_splits(tmp_path / FILE, opened(tmp_path / "new", new), PLAN)
    assert splits(found) == {"r20": "train", "r21": "train", "r22": "test", "r23": "test"}
    assert recognized == Recognized(4, 0, 2)


@pytest.mark.parametrize("more", [0, 1])
def test_splits_that_the_run_overrules_are_counted(tmp_path: Path, more: int) -> None:
    rows = [row | {"split": "train" if i else "test"} for i, row in enumerate(made(9))]
    keep_splits(tmp_path / FILE, opened(tmp_path / "data", rows), "path")
    turned = [row | {"split": "test"} for row in rows] + made(more, first=20)
    found, recognized = with_kept_splits(tmp_path / FILE, opened(tmp_path / "now", turned), PLAN)
    assert list(splits(found).values())[:9] == ["test"] + ["train"] * 8
    assert recognized == Recognized(9 + more, 9, overruled=8)
    assert not recognized.unchanged
    assert "that bring another split, where the run's holds: 8" in str(recognized)


def test_splits_kept_by_earlier_versions_are_read(kept: Path) -> None:
    data = trope.open(kept.parent / "data")
    before = parted(kept, data)
    kept_now = pq.read_table(kept)
    first = kept_now.column("texts").combine_chunks().values
    old = kept_now.drop_columns(["texts", "picture", "group"]).append_column("text", first)
    pq.write_table(old, kept)
    assert parted(kept, data, SplitPlan(images="path", seed=9)) == before
    grown = opened(kept.parent / "grown", [*made(9, first=30), *made(30)])
    found = parted(kept, grown)
    assert {name: found[name] for name in before} == before


def test_how_much_is_known_is_said() -> None:
    assert str(Recognized(9, 9)) == "all of its 9 rows are known to the run, and parted as then"
    assert str(Recognized(9, 0)) == "none of its 9 rows is known to the run, so all are new"
    none = str(Recognized(9, 0, 0, 4))
    assert "with other pictures and texts: 4; if this should be the data of the run" in none
    assert none.startswith("none of its 9 rows is known to the run, so all are new; ids that the")
    most = str(Recognized(9, 6, 1))
    assert most.startswith("6 of its 9 rows are known to the run")
    assert most.endswith("go with them: 1; new rows: 2")
    few = str(Recognized(9_000, 1_000))
    assert few.startswith("only 1,000 of its 9,000 rows are known")
    assert few.endswith("what was trained on may be tested")
