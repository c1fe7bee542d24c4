"""Tar shards: real ones by `tarfile` in all its formats, damaged ones, and hostile ones."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import trope
from trope.data.readers.tar import DamagedTarError, members
from trope.errors import DataError

Files = list[tuple[str, bytes]]


def write(path: Path, files: Files, form: int = tarfile.PAX_FORMAT) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w", format=form) as archive:
        for name, content in files:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


@pytest.fixture
def files(jpeg: Callable[..., bytes]) -> Files:
    """Two whole samples and one without a picture."""
    return [
        ("a/0.jpg", jpeg((9, 9, 9))),
        ("a/0.txt", b" one \n"),
        ("a/1.png", jpeg((99, 9, 9))),
        ("a/1.json", json.dumps({"text": "न्याय", "labels": [1, 2], "x": {"y": 2**70}}).encode()),
        ("a/2.txt", b"three"),
        ("a/2.cls", b"7\n"),
    ]


def check(pairs: trope.Pairs, files: Files) -> None:
    assert [(pair.id, pair.image, pair.texts, pair.labels) for pair in pairs] == [
        ("a/0", "a/0.jpg", ("one",), ()),
        ("a/1", "a/1.png", ("न्याय",), ("1", "2")),
        ("a/2", None, ("three",), ("7",)),
    ]
    assert pairs[1].extra == {"x": {"y": 2**70}}
    assert [pairs.images.read(row) for row in (0, 1)] == [files[0][1], files[2][1]]
    with pytest.raises(DataError, match="row 3 has no image"):
        pairs.images.read(2)


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_one_shard(tmp_path: Path, files: Files, form: int) -> None:
    pairs = trope.open(write(tmp_path / "x.tar", files, form))
    check(pairs, files)
    assert not list(tmp_path.glob("a*"))
    check(pickle.loads(pickle.dumps(pairs)), files)
    taken = pairs.take(pairs.lines[[1, 0]] - 1)
    assert taken.images.read(0) == files[2][1]
    assert taken.images.stamp(0) == pairs.images.stamp(1) != pairs.images.stamp(0)


def test_order_inside_a_shard_makes_no_difference(tmp_path: Path, files: Files) -> None:
    """`tar cf x.tar *.jpg *.txt` puts all pictures before all texts."""
    check(trope.open(write(tmp_path / "x.tar", [files[i] for i in (0, 2, 4, 1, 5, 3)])), files)


def test_several_shards(tmp_path: Path, jpeg: Callable[..., bytes]) -> None:
    for shard in range(3):
        content = [
            (f"{shard}{i}.{end}", jpeg((shard, i, 0)) if end == "jpg" else b"t")
            for i in range(4)
            for end in ("jpg", "txt")
        ]
        write(tmp_path / f"s-{shard}.tar", content)
    (tmp_path / ".hidden.tar").write_bytes(b"x")
    (tmp_path / "note.txt").write_text("x")
    pairs = trope.open(tmp_path)
    assert pairs.ids == [f"{shard}{i}" for shard in range(3) for i in range(4)]
    assert len(set(pairs.lines.tolist())) == 12
    expected = [jpeg((shard, i, 0)) for shard in range(3) for i in range(4)]
    assert [pairs.images.read(row) for row in range(12)] == expected
    rows = pairs.lines[::-1].argsort()
    assert [pairs.take(rows).images.read(row) for row in range(12)] == expected[::-1]


def test_rows_are_numbered_through_all_shards(tmp_path: Path, jpeg: Callable[..., bytes]) -> None:
    for shard in range(3):
        write(tmp_path / f"{shard}.tar", [(f"{shard}{i}.jpg", jpeg()) for i in range(3)])
    assert trope.open(tmp_path).lines.tolist() == list(range(1, 10))
    (tmp_path / "1.tar").write_bytes(b"")
    pairs = trope.open(tmp_path, collect=True)
    assert pairs.lines.tolist() == [1, 2, 3, 5, 6, 7]
    assert [rejected.line for rejected in pairs.rejected] == [4]


def test_keys_that_repeat_from_shard_to_shard_stay_apart(
    tmp_path: Path, jpeg: Callable[..., bytes]
) -> None:
    for i, name in enumerate(("train", "val", "test")):
        shade = jpeg((i, 0, 0))
        write(tmp_path / name / "00000.tar", [("0.jpg", shade), ("0.txt", name.encode())])
    pairs = trope.open(tmp_path)
    assert pairs.ids == ["test/00000/0", "train/00000/0", "val/00000/0"]
    assert [pair.image for pair in pairs] == [f"{pair_id}.jpg" for pair_id in pairs.ids]
    assert [pair.texts[0] for pair in pairs] == ["test", "train", "val"]
    assert [pairs.images.read(row) for row in range(3)] == [jpeg((i, 0, 0)) for i in (2, 0, 1)]


def test_members_of_other_kinds_are_counted(tmp_path: Path, files: Files) -> None:
    write(tmp_path / "0.tar", [*files, ("a/0.mp3", b"x"), ("a/1.seg.png", b"x"), ("a/2.mp3", b"x")])
    assert trope.open(tmp_path).remarks == (
        "3 members of other kinds were left out: 2 .mp3, 1 .seg.png",
    )


@pytest.mark.parametrize("damage", ["empty", "rubbish", "no end mark"])
def test_a_broken_shard_among_good_ones_is_told_and_costs_itself(
    tmp_path: Path, files: Files, damage: str
) -> None:
    write(tmp_path / "0.tar", files)
    whole = write(tmp_path / "1.tar", [(f"z{name}", data) for name, data in files]).read_bytes()
    cut = whole[: len(whole.rstrip(b"\x00")) // 512 * 512 + 512]
    broken = {"empty": b"", "rubbish": b"rubbish!" * 200, "no end mark": cut}[damage]
    (tmp_path / "1.tar").write_bytes(broken)
    with pytest.raises(DataError, match=r"1\.tar: "):
        trope.open(tmp_path)
    pairs = trope.open(tmp_path, collect=True)
    assert len(pairs) == (6 if damage == "no end mark" else 3)
    assert [rejected.raw for rejected in pairs.rejected] == ["1.tar"]


def test_folders_named_after_splits(tmp_path: Path, files: Files) -> None:
    for name in ("train", "valid", "test"):
        write(
            tmp_path / name / "0.tar", [(f"{name}{path}", content) for path, content in files[:2]]
        )
    assert [pair.split for pair in trope.open(tmp_path)] == ["test", "train", "val"]
    own = [("x.txt", b"t"), ("x.json", b'{"split": "test"}')]
    assert (
        trope.open(write(tmp_path / "own" / "train" / "0.tar", own).parents[1])[0].split == "test"
    )


@pytest.mark.parametrize(
    ("extra", "reason"),
    [
        ([("b.txt", b"\xff")], "b: .txt is not UTF-8 text"),
        ([("b.json", b"{")], "b: "),
        ([("b.json", b"[1]")], "b: .json holds list, expected an object"),
        ([("b.json", b"[" * 3_000 + b"]" * 3_000)], "b: "),
        ([("b.json", b'{"id": true, "text": "t"}')], "'id': expected text, found true or false"),
        ([("b.txt", b"one"), ("b.txt", b"two")], "b: holds b.txt twice"),
        ([("b.jpg", b"one"), ("c.jpg", b"c"), ("b.jpg", b"two")], "b: holds b.jpg twice"),
    ],
)
def test_bad_samples(tmp_path: Path, files: Files, extra: Files, reason: str) -> None:
    path = write(tmp_path / "x.tar", [*files[:2], *extra, ("z.txt", b"last")])
    with pytest.raises(DataError) as caught:
        trope.open(path)
    assert str(caught.value).startswith(f"{path}: row 2: ")
    assert reason in str(caught.value)
    pairs = trope.open(path, collect=True)
    assert "b" not in pairs.ids
    assert pairs.ids[0] == "a/0"
    assert pairs.ids[-1] == "z"
    assert pairs.images.read(0) == files[0][1]
    assert [row.line for row in pairs.rejected] == [2]


def test_large_text_is_rejected(
    tmp_path: Path, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trope.data.readers.webdataset.MAX_TEXT_BYTES", 10)
    path = write(tmp_path / "x.tar", [*files[:2], ("b.txt", b"x" * 11)])
    assert "b.txt is larger" in trope.open(path, collect=True).rejected[0].reason


def test_names_without_a_key_are_passed_over(tmp_path: Path, files: Files) -> None:
    odd = [("README", b"x"), (".DS_Store", b"x"), ("a/._0.jpg", b"x"), ("a/.txt", b"x")]
    check(trope.open(write(tmp_path / "x.tar", [*odd, *files])), files)


def test_names_are_never_followed(tmp_path: Path, files: Files) -> None:
    hostile = [("../../up.jpg", files[0][1]), ("../../up.txt", b"t"), ("/etc/root.txt", b"r")]
    inner = tmp_path / "deep" / "deeper"
    pairs = trope.open(write(inner / "x.tar", hostile))
    assert pairs.images.read(0) == files[0][1]
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == ["x.tar"]


def test_links_and_folders_are_no_samples(tmp_path: Path, files: Files) -> None:
    path = tmp_path / "x.tar"
    with tarfile.open(path, "w") as archive:
        for kind, name in (
            (tarfile.DIRTYPE, "a"),
            (tarfile.SYMTYPE, "l.jpg"),
            (tarfile.LNKTYPE, "h.jpg"),
        ):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, "/etc/passwd"
            archive.addfile(member)
        for name, content in files:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    check(trope.open(path), files)


class TestDamage:
    def test_truncated(self, tmp_path: Path, files: Files) -> None:
        whole = write(tmp_path / "x.tar", files).read_bytes()
        ends = {member.offset + member.size for member in members(tmp_path / "x.tar")}
        for length in range(1, max(ends), 97):
            (tmp_path / "x.tar").write_bytes(whole[:length])
            if any(end <= length < -(-end // 512) * 512 + 512 for end in ends):
                continue  # a cut between two members cannot be seen
            with pytest.raises(DataError, match=r"x\.tar.*(ends inside|not a tar)") as caught:
                trope.open(tmp_path / "x.tar")
            assert "\n" not in str(caught.value)

    def test_what_came_before_the_damage_is_kept(self, tmp_path: Path, files: Files) -> None:
        path = write(tmp_path / "x.tar", files)
        third = list(members(path))[2]
        path.write_bytes(path.read_bytes()[: third.offset + 5])
        write(tmp_path / "y.tar", [("z.txt", b"t")])
        pairs = trope.open(tmp_path, collect=True)
        assert pairs.ids == ["a/0", "z"]
        (rejected,) = pairs.rejected
        assert rejected.reason.startswith("x.tar: ends inside a member")
        assert rejected.line not in pairs.lines

    def test_compressed(self, tmp_path: Path, files: Files) -> None:
        path = write(tmp_path / "x.tar", files)
        path.write_bytes(gzip.compress(path.read_bytes()))
        with pytest.raises(DataError, match=r"x\.tar: compressed with gzip; unpack it first"):
            trope.open(path)

    @pytest.mark.parametrize("content", [b"rubbish", b"x" * 5_000, bytes(range(256)) * 10])
    def test_rubbish(self, tmp_path: Path, content: bytes) -> None:
        (tmp_path / "x.tar").write_bytes(content)
        with pytest.raises(DataError, match=r"x\.tar: (not a tar file|ends inside a header)"):
            trope.open(tmp_path / "x.tar")

    def test_empty(self, tmp_path: Path) -> None:
        with pytest.raises(DataError, match="empty"):
            trope.open(write(tmp_path / "x.tar", []))

    @pytest.mark.parametrize(
        "size",
        [
            b"77777777777\0",
            b"\x80" + b"\x7f" * 11,
            b"\xff" * 12,
            b"\xff" * 11 + b"\x00",
            b"zzzzzzzzzzz\0",
        ],
    )
    def test_size_that_lies(self, tmp_path: Path, files: Files, size: bytes) -> None:
        """Also a negative one, which makes older standard libraries run in circles."""
        path = write(tmp_path / "x.tar", files)
        data = bytearray(path.read_bytes())
        data[124:136] = size
        data[148:156] = b" " * 8
        data[148:156] = b"%06o\0 " % sum(data[:512])
        path.write_bytes(data)
        with pytest.raises(DataError, match="ends inside a member at byte 0"):
            trope.open(path)

    def test_flipped_bits(self, tmp_path: Path, files: Files) -> None:
        path = write(tmp_path / "x.tar", files)
        start = list(members(path))[1].offset - 512
        data = bytearray(path.read_bytes())
        data[start + 3] ^= 1
        path.write_bytes(data)
        with pytest.raises(DataError, match=f"damaged at byte {start:,}"):
            trope.open(path)

    def test_shard_that_changes_later(self, tmp_path: Path, files: Files) -> None:
        path = write(tmp_path / "x.tar", files)
        pairs = trope.open(path)
        before = pairs.images.stamp(1)
        path.write_bytes(path.read_bytes()[:2_000])
        assert pairs.images.stamp(1) != before
        with pytest.raises(DataError, match="the shard ends inside the image of row 2"):
            pairs.images.read(1)
        path.unlink()
        with pytest.raises(DataError, match=r"x\.tar: No such file"):
            pairs.images.read(1)
        with pytest.raises(DataError, match=r"x\.tar: No such file"):
            pairs.images.stamp(1)


names = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="/"), min_size=1, max_size=180
).filter(lambda name: name not in (".", ".."))


@given(
    st.lists(st.tuples(names, st.binary(max_size=1_200)), min_size=1, max_size=6),
    st.sampled_from([tarfile.GNU_FORMAT, tarfile.PAX_FORMAT]),
)
@settings(max_examples=60)
def test_members_are_those_of_the_standard_library(tmp_path: Path, files: Files, form: int) -> None:
    path = write(tmp_path / "x.tar", [(f"deep/{name}", content) for name, content in files], form)
    with tarfile.open(path) as archive:
        expected = [(m.name, m.offset_data, m.size) for m in archive.getmembers()]
    assert [tuple(member) for member in members(path)] == expected


def test_extended_headers_that_lie(tmp_path: Path) -> None:
    path = tmp_path / "x.tar"
    for record in (b"999 path=x\n", b"-5 path=x\n", b"x\n", b"10 size=-1\n", b"0 x=y\n"):
        with tarfile.open(path, "w") as archive:
            member = tarfile.TarInfo("h")
            member.type, member.size = tarfile.XHDTYPE, len(record)
            archive.addfile(member, io.BytesIO(record))
        with pytest.raises(DamagedTarError, match="damaged"):
            list(members(path))
