"""Pictures between the server and the process that decodes them: numbers and bytes, no objects.

Both sides know the sizes that are asked for, so all but the small copy has a known length.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import UInt8

ASKED = struct.Struct("<I")  # how many sizes, each of them the same way, then the file
ANSWER = struct.Struct("<BIII")  # whether it is a picture, its width, its height, bytes that follow
PREVIEW = 4 * 2**20  # bytes of a small copy
ERROR = 1_000  # characters


@dataclass(frozen=True, eq=False)
class Decoded:
    """What a search and a page need of a picture: its pixels at some sizes, and a small copy."""

    width: int
    height: int
    pixels: dict[int, UInt8[np.ndarray, "h w 3"]]
    preview: bytes


def question(data: bytes, sizes: Sequence[int]) -> bytes:
    """A file, and the sizes to decode it at."""
    return b"".join([*(ASKED.pack(number) for number in (len(sizes), *sizes)), data])


def asked(message: bytes) -> tuple[bytes, tuple[int, ...]]:
    """What `question` wrote."""
    count = ASKED.unpack_from(message)[0]
    sizes = struct.unpack_from(f"<{count}I", message, ASKED.size)
    return message[ASKED.size * (1 + count) :], sizes


def written(answer: Decoded | str) -> bytes:
    """A picture, or what is wrong with it."""
    if isinstance(answer, str):
        text = answer[:ERROR].encode("utf-8", "replace")
        return ANSWER.pack(0, 0, 0, len(text)) + text
    rest = b"".join([*(pixels.tobytes() for pixels in answer.pixels.values()), answer.preview])
    return ANSWER.pack(1, answer.width, answer.height, len(rest)) + rest


def longest(sizes: Sequence[int]) -> int:
    """The bytes that an answer may have."""
    return ANSWER.size + sum(map(_bytes, sizes)) + PREVIEW


def read(message: bytes, sizes: Sequence[int]) -> Decoded | str:
    """What `written` wrote; a ValueError for anything else."""
    if len(message) < ANSWER.size:
        raise ValueError("cut off")
    kind, width, height, length = ANSWER.unpack_from(message)
    rest = message[ANSWER.size :]
    if kind == 0 and len(rest) == length:
        return " ".join(rest.decode("utf-8", "replace")[:ERROR].split())
    if kind != 1 or len(rest) != length or length <= sum(map(_bytes, sizes)):
        raise ValueError("not an answer")
    return _picture(width, height, rest, sizes)


def _picture(width: int, height: int, rest: bytes, sizes: Sequence[int]) -> Decoded:
    pixels, start = {}, 0
    for size in sizes:
        values = np.frombuffer(rest, np.uint8, _bytes(size), start)
        pixels[size] = values.reshape(size, size, 3).copy()  # or it would hold all of the message
        start += _bytes(size)
    return Decoded(width, height, pixels, rest[start:])


def _bytes(size: int) -> int:
    return 3 * size * size
