"""Pictures that were sent to search with, kept while there is room: their URL works again."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from trope.errors import DataError
from trope.recent import Recent
from trope.web.decoding import Decoded, Decoder
from trope.web.refusals import NotThereError, TooMuchError

BYTES = 20 * 2**20  # of a file
KEPT, IN_MEMORY = 256, 128 * 2**20


@dataclass(frozen=True)
class Upload:
    """What a picture can be asked for by, and how large it is."""

    digest: str
    width: int
    height: int


class Uploads:
    """Decoded pictures by the digest of their file; each is decoded once."""

    def __init__(self, sizes: Sequence[int], decoder: Decoder | None = None) -> None:
        self._sizes, self._decoder = tuple(dict.fromkeys(sizes)), decoder or Decoder()
        self._kept: Recent[str, Decoded] = Recent(KEPT, IN_MEMORY, _weight)

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

    def __len__(self) -> int:
        return len(self._kept)

    def close(self) -> None:
        """End the process that decodes."""
        self._decoder.close()


def _weight(decoded: Decoded) -> int:
    return len(decoded.preview) + sum(pixels.nbytes for pixels in decoded.pixels.values())
