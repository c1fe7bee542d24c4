"""Putting a picture where the new data set wants it, or saying why not. Nothing is decoded."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from trope.data.convert.layout import EMPTY_IMAGE, LEAVES_FOLDER, NO_IMAGE, WEB_PAGE, Found
from trope.data.stores import inside
from trope.errors import DataError
from trope.files import place

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


def put(found: Found, source: Path, folder: Path) -> str:
    """Place the picture of a row below `folder/images`; returns its path for the row."""
    assert found.name is not None
    path = None if found.data is not None else _locate(source, found.candidates)
    head = _head(path) if path else (found.data or b"")[:HEAD]
    _judge(head, str(path or found.name))
    relative = f"images/{_with_suffix(found.name, head)}"
    try:
        target = inside(folder, relative)
    except DataError:
        raise PictureError(LEAVES_FOLDER, found.name) from None
    if path:
        place(path, target)
    else:
        _write(found.data or b"", target)
    return relative


def _locate(source: Path, candidates: Sequence[str]) -> Path:
    """The first candidate that is a file; one that leaves the source refuses the item."""
    for name in candidates:
        try:
            path = inside(source, name)
            if path.is_file():
                return path
        except DataError:
            raise PictureError(LEAVES_FOLDER, name) from None
        except OSError:  # a name too long for any file system
            continue
    raise PictureError(NO_IMAGE, " or ".join(candidates))


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
    """Write a picture taken from an archive, whole or not at all; one already there is left."""
    if target.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f".{target.name}.partial")
    partial.write_bytes(data)
    partial.replace(target)
