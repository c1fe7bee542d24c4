"""One picture per name, nothing stale after an interruption, no link that leads out."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trope.data.convert import convert, run
from trope.data.convert.layout import LEAVES_FOLDER, Contents, Format, Found
from trope.data.convert.names import Names
from trope.data.convert.pictures import Pictures

HEAD = b"\xff\xd8\xff"


def write(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(HEAD + content)
    return path


def tokens(source: Path, *names: str) -> None:
    lines = "".join(f"{name}#0\tcaption\n" for name in names)
    (source / "results_20130124.token").write_text(lines)


def shown(out: Path) -> dict[str, bytes]:
    """The content of every row's picture, by the row's id."""
    found = map(json.loads, (out / "pairs.jsonl").read_text().splitlines())
    return {row["id"]: (out / row["image"]).read_bytes().removeprefix(HEAD) for row in found}


def files(out: Path) -> dict[str, bytes]:
    paths = [*out.rglob("*.jpg"), *out.rglob("*.npy"), out / "pairs.jsonl"]
    return {path.relative_to(out).as_posix(): path.read_bytes() for path in paths}


@pytest.fixture
def interrupt(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Runs a conversion that is stopped after some pictures."""

    def stopped(after: int, *arguments: object) -> None:
        seen: list[str] = []
        put = Pictures.put

        def placing(self: Pictures, found: Found) -> str:
            if len(seen) == after:
                raise KeyboardInterrupt
            seen.append(put(self, found))
            return seen[-1]

        with monkeypatch.context() as patch:
            patch.setattr(Pictures, "put", placing)
            with pytest.raises(KeyboardInterrupt):
                convert(*arguments)

    return stopped


@pytest.fixture(params=["links", "no links"])
def disk(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that knows hard links, and one that does not."""

    def refuse(*_: object) -> None:
        raise OSError("cross-device link")

    if request.param == "no links":
        monkeypatch.setattr(os, "link", refuse)


@pytest.fixture
def twins(tmp_path: Path) -> Path:
    """Two folders with pictures of the same names, of one size and date."""
    source = tmp_path / "source"
    names = ("a/1.jpg", "b/1.jpg", "a/2.jpg", "b/2.jpg", "c/2.jpg")
    for name in names:
        path = write(source / "images" / name, name.encode())
        os.utime(path, ns=(0, 0))
    tokens(source, *names)
    return source


def test_equal_names_of_different_pictures(twins: Path, tmp_path: Path) -> None:
    convert("flickr30k", twins, tmp_path / "out")
    found = shown(tmp_path / "out")
    assert found == {name: f"{name}.jpg".encode() for name in ("a/1", "b/1", "a/2", "b/2", "c/2")}
    assert (tmp_path / "out/images/1.jpg").samefile(twins / "images/a/1.jpg")
    assert (tmp_path / "out/images/images/b/1.jpg").samefile(twins / "images/b/1.jpg")


@pytest.mark.parametrize("after", range(1, 5))
def test_taken_up_gives_the_same(
    twins: Path, tmp_path: Path, interrupt, disk: None, after: int
) -> None:
    convert("flickr30k", twins, tmp_path / "whole")
    interrupt(after, "flickr30k", twins, tmp_path / "out")
    convert("flickr30k", twins, tmp_path / "out")
    assert files(tmp_path / "out") == files(tmp_path / "whole")


def test_coco_parts_with_equal_file_names(tmp_path: Path, dump) -> None:
    source = tmp_path / "coco"
    for number, part in enumerate(("train", "val")):
        notes = [{"id": number, "image_id": number, "caption": part}]
        images = [{"id": number, "file_name": "1.jpg"}]
        captions = {"images": images, "annotations": notes}
        dump(source / f"annotations/captions_{part}2017.json", captions)
        write(source / f"{part}2017/1.jpg", part.encode())
    convert("coco", source, tmp_path / "out")
    assert shown(tmp_path / "out") == {"0": b"train", "1": b"val"}
    assert (tmp_path / "out/images/val2017/1.jpg").is_file()


def made_up(items: list[Found]) -> Format:
    def read(source: Path, settings: object) -> Contents:
        return Contents(iter(items))

    return Format("about", "paper", "layout", "becomes", read)


def run_over(tmp_path: Path, items: list[Found]) -> list[str]:
    (tmp_path / "source").mkdir(exist_ok=True)
    layout = made_up(items)
    run.run_conversion("it", layout, layout.settings(), tmp_path / "source", tmp_path / "out")
    lines = (tmp_path / "out/pairs.jsonl").read_text().splitlines()
    return [json.loads(line)["image"] for line in lines]


def row(name: str, **where: object) -> Found:
    return Found({"id": name, "text": "x"}, name, **where)  # type: ignore[arg-type]


def test_one_source_under_one_name_is_one_file(tmp_path: Path) -> None:
    write(tmp_path / "source/a/1.jpg", b"a")
    (tmp_path / "source/b").symlink_to("a")
    items = [row("1.jpg", candidates=(f"{folder}/1.jpg",)) for folder in ("a", "a", "./a", "b")]
    assert run_over(tmp_path, items) == ["images/1.jpg"] * 4


def test_pictures_out_of_archives_with_equal_names(tmp_path: Path) -> None:
    data = [HEAD + content for content in (b"a", b"b", b"a", b"b", b"c")]
    paths = run_over(tmp_path, [row("0/1.jpg", data=content) for content in data])
    assert [(tmp_path / "out" / path).read_bytes() for path in paths] == data
    assert paths[0] == "images/0/1.jpg"
    assert len(set(paths)) == 3


@given(
    st.lists(
        st.tuples(st.sampled_from("aAbÉ"), st.sampled_from(["a", "b", "x/a", "2/b"])), max_size=30
    )
)
def test_a_name_has_one_owner(claims: list[tuple[str, str]]) -> None:
    def given_out() -> Iterator[tuple[str, str]]:
        names = Names()
        for name, owner in claims:
            yield names.claim(name, owner, owner), owner
            assert name in names

    owners: dict[str, str] = {}
    for name, owner in given_out():
        assert owners.setdefault(name.casefold(), owner) == owner
    assert list(given_out()) == list(given_out())


def test_a_picture_changed_meanwhile_is_placed_anew(
    twins: Path, tmp_path: Path, interrupt, disk: None
) -> None:
    interrupt(3, "flickr30k", twins, tmp_path / "out")
    write(twins / "new.jpg", b"newer!!").replace(twins / "images/a/1.jpg")
    (twins / "images/a/2.jpg").unlink()  # so that its name goes to the next
    os.utime(twins / "images/b/2.jpg")
    convert("flickr30k", twins, tmp_path / "out")
    convert("flickr30k", twins, tmp_path / "whole")
    assert shown(tmp_path / "out")["a/1"] == b"newer!!"
    assert files(tmp_path / "out") == files(tmp_path / "whole")


def test_a_picture_gone_meanwhile_leaves_no_file(twins: Path, tmp_path: Path, interrupt) -> None:
    interrupt(4, "flickr30k", twins, tmp_path / "out")
    shutil.rmtree(twins / "images/b")
    tokens(twins, "a/1.jpg")
    convert("flickr30k", twins, tmp_path / "out")
    assert [p.name for p in (tmp_path / "out/images").rglob("*")] == ["1.jpg"]


def test_features_changed_meanwhile_are_written_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    source = tmp_path / "scan"
    source.mkdir()
    (source / "train_caps.txt").write_text("a\nb\n")
    np.save(source / "train_ims.npy", np.eye(2, 3))  # of the same shape as the later one
    with monkeypatch.context() as patch:
        patch.setattr(run, "_place", stop)
        with pytest.raises(KeyboardInterrupt):
            convert("precomputed", source, tmp_path / "out")
    assert (tmp_path / ".out.partial/features/image.npy").is_file()
    fresh = np.arange(6.0).reshape(2, 3)
    np.save(source / "train_ims.npy", fresh)
    convert("precomputed", source, tmp_path / "out")
    np.testing.assert_array_equal(np.load(tmp_path / "out/features/image.npy"), fresh)


def test_links_that_lead_out(tmp_path: Path, lost) -> None:
    source, secret = tmp_path / "source", write(tmp_path / "private/secret.jpg", b"secret")
    write(source / "images/1.jpg", b"1")
    (source / "images/2.jpg").symlink_to("1.jpg")
    (source / "images/3.jpg").symlink_to(secret)
    (source / "images/deep").symlink_to(secret.parent)
    tokens(source, "1.jpg", "2.jpg", "3.jpg", "deep/secret.jpg")
    convert("flickr30k", source, tmp_path / "out")
    assert shown(tmp_path / "out") == {"1": b"1", "2": b"1"}
    assert lost(tmp_path / "out") == {"3": LEAVES_FOLDER, "deep/secret": LEAVES_FOLDER}
    assert secret.stat().st_nlink == 1


def test_a_folder_linked_in_the_source_is_part_of_it(tmp_path: Path, lost) -> None:
    source, disk = tmp_path / "source", tmp_path / "disk/photos"
    write(disk / "1.jpg", b"1")
    write(disk.parent / "2.jpg", b"2")
    (disk / "2.jpg").symlink_to("../2.jpg")
    source.mkdir()
    (source / "images").symlink_to(disk)
    tokens(source, "1.jpg", "2.jpg")
    (tmp_path / "link").symlink_to(source)
    convert("flickr30k", tmp_path / "link", tmp_path / "out")
    assert shown(tmp_path / "out") == {"1": b"1"}
    assert lost(tmp_path / "out") == {"2": LEAVES_FOLDER}
