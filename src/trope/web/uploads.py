"""Pictures that were sent to search with, kept while there is room: their URL works again."""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from trope.errors import DataError
from trope.recent import Recent
from trope.web.decoding import Decoder
from trope.web.refusals import BusyError, NotThereError, TooMuchError
from trope.web.wire import Decoded

BYTES = 20 * 2**20  # of a file
KEPT, IN_MEMORY = 256, 128 * 2**20
THREADS, WAITING = 2, 8  # those that are taken in at once, and with those that wait


@dataclass(frozen=True)
class Upload:
    """What a picture can be asked for by, and how large it is."""

    digest: str
    width: int
    height: int


class Uploads:
    """Decoded pictures by the digest of their file; each is decoded once.

    They have threads of their own: a search does not wait until strangers' pictures are decoded.
    """

    def __init__(self, sizes: Sequence[int], decoder: Decoder | None = None) -> None:
        self._sizes, self._decoder = tuple(dict.fromkeys(sizes)), decoder or Decoder()
        self._kept: Recent[str, Decoded] = Recent(KEPT, IN_MEMORY, _weight)
        self._threads = ThreadPoolExecutor(THREADS, "uploads")
        self._room = threading.BoundedSemaphore(WAITING)

    async def take(self, data: bytes) -> Upload:
        """`put` when there is a thread for it; refused when too many wait for one."""
        if not self._room.acquire(blocking=False):
            raise BusyError("too many pictures are being sent; send it again later")
        given = self._threads.submit(self.put, data)
        given.add_done_callback(lambda _: self._room.release())
        return await asyncio.wrap_future(given)

    def put(self, data: bytes) -> Upload:
        """Take a picture in; what is no picture, or too large, is refused."""
        if not data:
            raise DataError("the picture: the file is empty")
        if len(data) > BYTES:
            raise TooMuchError(f"the picture: larger than {BYTES >> 20} MiB")
        digest = hashlib.blake2b(data, digest_size=16).hexdigest()
        found = self._kept.get(digest)
        if found is None:
            found = self._kept.put(digest, self._decoder.decode(data, self._sizes))
        return Upload(digest, found.width, found.height)

    def get(self, digest: str) -> Decoded:
        """A picture that was sent before."""
        found = self._kept.get(digest)
        if found is None:
            raise NotThereError("the picture is not kept any more; send it again")
        return found

    def __contains__(self, digest: object) -> bool:
        return isinstance(digest, str) and self._kept.get(digest) is not None

    def __len__(self) -> int:
        return len(self._kept)

    def close(self) -> None:
        """End the threads, and the process that decodes."""
        self._threads.shutdown(cancel_futures=True)
        self._decoder.close()


def _weight(decoded: Decoded) -> int:
    return len(decoded.preview) + sum(pixels.nbytes for pixels in decoded.pixels.values())
