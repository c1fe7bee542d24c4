"""Putting a picture where the new data set wants it, or saying why not. Nothing is decoded."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path, PurePosixPath

from trope.data.convert.layout import EMPTY_IMAGE, LEAVES_FOLDER, NO_IMAGE, WEB_PAGE, Found
from trope.data.convert.names import Names
from trope.data.stores import inside
from trope.errors import DataError
from trope.files import place, placed

HEAD = 32  # bytes that tell what a file is
SIGNATURES = {
    b"\xff\xd8\xff": ".jpg",
    b"\x89PNG\r\n\x1a\n": ".png",
    b"GIF8": ".gif",
    b"RIFF": ".webp",
    b"BM": ".bmp",
    b"II*\x00": ".tif",
    b"MM\x00*": ".tif",
}


class PictureError(Exception):
    """A picture that cannot be used, with the reason as counted and where it was looked for."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(reason)
        self.reason, self.detail = reason, detail


class Pictures:
    """Puts the pictures of one conversion below `folder/images`, no two under one name."""

    def __init__(self, source: Path, folder: Path) -> None:
        self.source, self.folder = source, folder
        self.names = Names()
        linked = (path for path in source.iterdir() if path.is_symlink() and path.is_dir())
        self.roots = [source.resolve(), *sorted(path.resolve() for path in linked)]

    def put(self, found: Found) -> str:
        """Place the picture of a row; returns its path for the row."""
        assert found.name is not None
        if found.data is not None:
            return self._put_data(found.name, found.data)
        candidate, path = self._locate(found.candidates)
        head = _head(path)
        _judge(head, str(self.source / candidate))
        name, other = _with_suffix(found.name, head), _with_suffix(candidate, head)
        target = self._target(name, str(path), other)
        if not placed(path, target):
            target.unlink(missing_ok=True)  # an earlier run's, of a file that was changed since
            place(path, target)
        return target.relative_to(self.folder).as_posix()

    def _put_data(self, name: str, data: bytes) -> str:
        """The same for a picture out of an archive; its content tells it from others."""
        _judge(data[:HEAD], name)
        name, content = _with_suffix(name, data[:HEAD]), blake2b(data, digest_size=8).hexdigest()
        target = self._target(name, content, f"{content}/{name}")
        _write(data, target)
        return target.relative_to(self.folder).as_posix()

    def _target(self, name: str, owner: str, other: str) -> Path:
        try:
            inside(self.folder, name)  # refused before it is given out
        except DataError:
            raise PictureError(LEAVES_FOLDER, name) from None
        return inside(self.folder / "images", self.names.claim(name, owner, other))

    def _locate(self, candidates: Sequence[str]) -> tuple[str, Path]:
        """The first candidate that is a file, and that file; one that leaves refuses the item."""
        for name in candidates:
            try:
                path = inside(self.source, name)
                if path.is_file():
                    return name, self._resolved(name, path)
            except DataError:
                raise PictureError(LEAVES_FOLDER, name) from None
            except OSError:  # a name too long for any file system
                continue
        raise PictureError(NO_IMAGE, " or ".join(candidates))

    def _resolved(self, name: str, path: Path) -> Path:
        """The file itself: links may lead within the source or to folders linked directly in it."""
        resolved = path.resolve()
        if not any(resolved.is_relative_to(root) for root in self.roots):
            raise PictureError(LEAVES_FOLDER, f"{name}, a link to {resolved}")
        return resolved

    def sweep(self) -> None:
        """Take away what an earlier run had placed and this one did not ask for."""
        images = self.folder / "images"
        for here, _, files in os.walk(images, topdown=False):
            for path in (Path(here, file) for file in files):
                if path.relative_to(images).as_posix() not in self.names:
                    path.unlink()
            with suppress(OSError):  # not empty
                Path(here).rmdir()


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as handle:
            return handle.read(HEAD)
    except OSError as error:
        raise PictureError(NO_IMAGE, f"{path}: {error.strerror}") from None


def _judge(head: bytes, where: str) -> None:
    """Downloads of dead links leave empty files and pages of HTML, XML or JSON behind."""
    if not head:
        raise PictureError(EMPTY_IMAGE, where)
    if head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"<", b"{"):
        raise PictureError(WEB_PAGE, where)


def _with_suffix(name: str, head: bytes) -> str:
    """The name with the ending its content calls for, where it has none."""
    if PurePosixPath(name).suffix:
        return name
    kinds = (suffix for start, suffix in SIGNATURES.items() if head.startswith(start))
    return name + next(kinds, "")


def _write(data: bytes, target: Path) -> None:
    """Write a picture taken from an archive, whole or not at all; the same one is left."""
    if target.is_file() and target.stat().st_size == len(data) and target.read_bytes() == data:
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f".{target.name}.partial")
    partial.write_bytes(data)
    partial.replace(target)
