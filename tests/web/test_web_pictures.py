"""Pictures: thumbnails made once, uploads within bounds, nothing but rows of the index."""

from __future__ import annotations

import io
import os
import pickle
import socket
import struct
import subprocess
import threading
import time
import zlib
from collections.abc import Sequence
from contextlib import ExitStack
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from starlette.testclient import TestClient
from web_samples import served, spoken

import trope
from trope.errors import DataError
from trope.runtime import cores
from trope.web import wire
from trope.web.decoding import Decoder, decoded
from trope.web.refusals import NotThereError, TooMuchError
from trope.web.service import Service
from trope.web.settings import ServeSettings
from trope.web.thumbnails import Thumbnails, kept_beside
from trope.web.uploads import BYTES, THREADS, WAITING, Uploads
from trope.web.wire import Decoded

API = "/api/v1"
PNG = {"content-type": "image/png"}


def png(width: int = 64, height: int = 48, color: tuple[int, int, int] = (200, 30, 40)) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (width, height), color).save(buffer, "PNG")
    return buffer.getvalue()


def bomb(width: int, height: int) -> bytes:
    """A small PNG file of very many pixels."""

    def chunk(name: bytes, data: bytes) -> bytes:
        whole = name + data
        return struct.pack(">I", len(data)) + whole + struct.pack(">I", zlib.crc32(whole))

    row = zlib.compressobj(9)
    content = b"".join(row.compress(bytes(width + 1)) for _ in range(height)) + row.flush()
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    parts = (chunk(b"IHDR", head), chunk(b"IDAT", content), chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def test_a_picture_finds_what_the_index_finds(client: TestClient, home: Path) -> None:
    content = (home / "data" / "7.png").read_bytes()
    sent = client.post(f"{API}/images", content=content, headers=PNG)
    assert sent.status_code == 201
    assert (sent.json()["width"], sent.json()["height"]) == (40, 30)
    asked = {"image": sent.json()["digest"], "find": "both", "k": 8}
    found = client.get(f"{API}/search", params=asked).json()["hits"]
    known = trope.open_index(home / "infonce-index").search(image=content, find="both", k=8)
    assert [(hit["id"], hit["modality"]) for hit in found] == [(h.id, h.modality) for h in known]
    assert found[0]["id"] == "r7"
    words = client.get(f"{API}/search", params=asked | {"q": "rain"})
    assert words.status_code == 200


def test_a_sent_picture_is_decoded_once(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    first = service.uploads.put(png(70, 50))
    monkeypatch.setattr(Decoder, "decode", lambda *_: pytest.fail("decoded again"))
    assert service.uploads.put(png(70, 50)) == first


def test_a_small_copy_of_a_sent_picture(client: TestClient) -> None:
    digest = client.post(f"{API}/images", content=png(2000, 1000), headers=PNG).json()["digest"]
    shown = client.get(f"{API}/images/{digest}")
    assert shown.headers["content-type"] == "image/jpeg"
    assert Image.open(io.BytesIO(shown.content)).size == (768, 384)


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b"", "image/png", 422),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "image/svg+xml", 415),
        (b"<script>alert(1)</script>", "image/png", 422),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "image/png", 422),
        (png()[:60], "image/png", 422),
        (png(), "text/html", 415),
        (png(), "application/json", 415),
        (png(), "", 415),
        (b"\0" * (BYTES + 1), "image/png", 413),
        (b"\0" * (22 * 2**20), "image/png", 413),
    ],
    ids=["empty", "svg", "html", "eps", "cut", "as html", "as json", "untold", "large", "huge"],
)
def test_what_is_no_picture_is_refused(
    client: TestClient, content: bytes, kind: str, status: int
) -> None:
    told = {"content-type": kind} if kind else {}
    found = client.post(f"{API}/images", content=content, headers=told)
    assert found.status_code == status, found.text
    assert "\n" not in found.json()["error"]


def test_a_decompression_bomb_is_refused_at_its_header(client: TestClient) -> None:
    content = bomb(20_000, 20_000)
    assert len(content) < 1_000_000
    started = time.monotonic()
    found = client.post(f"{API}/images", content=content, headers=PNG)
    assert found.status_code == 422
    assert found.json()["error"] == "the picture: more than 50,000,000 pixels"
    assert time.monotonic() - started < 20


def test_what_takes_too_long_is_ended_and_the_next_is_answered() -> None:
    decoder = Decoder(seconds=20.0)
    try:
        decoder.decode(png(), [16])
        first = decoder._worker[0]  # type: ignore[index]
        decoder._seconds = 0.0
        with pytest.raises(TooMuchError, match="longer"):
            decoder.decode(bomb(6_000, 6_000), [16])
        assert first.poll() is not None
        decoder._seconds = 20.0
        assert decoder.decode(png(), [16]).pixels[16].shape == (16, 16, 3)
    finally:
        decoder.close()


def test_a_decoder_that_dies_is_replaced() -> None:
    decoder = Decoder()
    try:
        decoder.decode(png(), [])
        process = decoder._worker[0]  # type: ignore[index]
        process.kill()
        process.wait()
        with pytest.raises(TooMuchError, match="within bounds"):
            decoder.decode(png(), [])
        assert decoder.decode(png(), []).width == 64
    finally:
        decoder.close()


class Loaded:
    """What runs when it is unpickled."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (os.environ["TROPE_TEST_RAN"],)


@pytest.mark.parametrize(
    "answer",
    [
        pickle.dumps(Loaded.__name__),
        b"",
        b"\1",
        wire.ANSWER.pack(1, 4, 4, 10) + bytes(10),
        wire.ANSWER.pack(1, 4, 4, 9_999) + bytes(20),
        wire.ANSWER.pack(7, 4, 4, 800) + bytes(800),
        bytes(wire.longest([16]) + 1),
    ],
    ids=["pickle", "empty", "cut", "few pixels", "length", "kind", "long"],
)
def test_whatever_the_process_says_is_only_read(answer: bytes) -> None:
    decoder = Decoder(seconds=20.0)
    try:
        decoder._worker = said = _saying(answer)
        with pytest.raises(TooMuchError, match="within bounds"):
            decoder.decode(png(), [16])
        assert said[0].poll() is not None
        assert decoder.decode(png(), [16]).width == 64  # by another process
    finally:
        decoder.close()


def test_nothing_that_the_process_says_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TROPE_TEST_RAN", str(tmp_path / "ran"))
    decoder = Decoder(seconds=20.0)
    decoder._worker = _saying(pickle.dumps(Loaded()))
    with pytest.raises(TooMuchError, match="within bounds"):
        decoder.decode(png(), [16])
    assert not (tmp_path / "ran").exists()


def test_a_process_that_stops_in_the_middle_is_ended() -> None:
    decoder = Decoder(seconds=1.0)
    ours, theirs = socket.socketpair()
    process = subprocess.Popen(["sleep", "60"], pass_fds=[theirs.fileno()])
    theirs.sendall(struct.pack("!i", 1_000) + b"\1")  # the rest does not come
    theirs.close()
    decoder._worker = process, Connection(ours.detach())
    with pytest.raises(TooMuchError, match="longer"):
        decoder.decode(png(), [16])
    assert process.poll() is not None


def _saying(answer: bytes) -> tuple[subprocess.Popen[bytes], Connection]:
    """A process that was taken over, and its answer to anything."""
    ours, theirs = socket.socketpair()
    with theirs:
        process = subprocess.Popen(["sleep", "60"], pass_fds=[theirs.fileno()])
        theirs.sendall(struct.pack("!i", len(answer)) + answer[:10_000])  # more would not fit
    return process, Connection(ours.detach())


@given(st.lists(st.integers(1, 9), max_size=3, unique=True), st.binary(min_size=1, max_size=40))
def test_pictures_come_through_as_they_are(sizes: list[int], content: bytes) -> None:
    assert wire.asked(wire.question(content, sizes)) == (content, tuple(sizes))
    pixels = {size: np.full((size, size, 3), size, np.uint8) for size in sizes}
    found = wire.read(wire.written(Decoded(7, 5, pixels, content)), sizes)
    assert isinstance(found, Decoded)
    assert (found.width, found.height, found.preview) == (7, 5, content)
    assert list(found.pixels) == sizes
    assert all(np.array_equal(found.pixels[size], pixels[size]) for size in sizes)
    assert wire.read(wire.written("no\n picture"), sizes) == "no picture"


def test_a_turned_picture_is_measured_upright() -> None:
    buffer, exif = io.BytesIO(), Image.Exif()
    exif[0x0112] = 6
    Image.new("RGB", (60, 20)).save(buffer, "JPEG", exif=exif)
    made = decoded(buffer.getvalue(), [8])
    assert (made.width, made.height) == (20, 60)


def test_sent_pictures_are_forgotten_in_time() -> None:
    class Fake(Decoder):
        def decode(self, data: bytes, sizes: object) -> object:  # type: ignore[override]
            return decoded(png(), [8])

    kept = Uploads([8], Fake())
    first = kept.put(b"0")
    for number in range(1, 300):
        kept.put(str(number).encode())
    assert len(kept) == 256
    with pytest.raises(NotThereError, match="send it again"):
        kept.get(first.digest)


class Held(Decoder):
    """Decodes when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.go, self.begun = threading.Event(), 0

    def decode(self, data: bytes, sizes: Sequence[int]) -> Decoded:
        self.begun += 1
        assert self.go.wait(20)
        return decoded(png(), [8])


def test_pictures_wait_in_a_queue_of_their_own(service: Service) -> None:
    held = Held()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(service, "uploads", Uploads([8], held))
        with served(service, ServeSettings(port=0, rate=0.0, seconds=20.0)) as chosen:
            try:
                _crowd(chosen.port, held)
            finally:
                held.go.set()
        service.uploads.close()


def _crowd(port: int, held: Held) -> None:
    """More send pictures than are taken; the others are answered meanwhile, and these in time."""
    found: list[int] = []
    threads = [
        threading.Thread(target=lambda n=n: found.append(_send(port, str(n).encode())))
        for n in range(WAITING + 4)
    ]
    for thread in threads:
        thread.start()
    for _ in range(200):
        time.sleep(0.05)
        if len(found) == 4 and held.begun == THREADS:
            break
    assert found == [503] * 4
    for path in (b"/healthz", b"/api/v1/search?q=rain", b"/"):
        said = b"GET " + path + b" HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
        assert spoken(port, said).startswith(b"HTTP/1.1 200")
    assert held.begun == THREADS
    held.go.set()
    for thread in threads:
        thread.join(20)
    assert sorted(found) == [201] * WAITING + [503] * 4
    assert _send(port, b"later") == 201


def _send(port: int, content: bytes) -> int:
    said = (
        "POST /api/v1/images HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: image/png\r\n"
        f"Content-Length: {len(content)}\r\nConnection: close\r\n\r\n"
    )
    return int(spoken(port, said.encode() + content, 30.0).split(b" ")[1])


def test_the_pulse_waits_for_no_thread(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    go = threading.Event()
    monkeypatch.setattr(Service, "search", lambda *_: _wait(go))
    said = b"GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
    with served(service, ServeSettings(port=0, rate=0.0)) as chosen, ExitStack() as opened:
        opened.callback(go.set)
        for _ in range(2 * cores() + 8):  # as many as there are threads, and more
            line = socket.create_connection(("127.0.0.1", chosen.port))
            opened.enter_context(line).sendall(said % b"/api/v1/search?q=rain")
        time.sleep(1)
        assert spoken(chosen.port, said % b"/healthz", 5.0).startswith(b"HTTP/1.1 200")


def _wait(go: threading.Event) -> None:
    go.wait(20)
    raise DataError("nobody waits for this any more")


def test_thumbnails_are_made_once(tmp_path: Path) -> None:
    read: list[int] = []

    def picture() -> bytes:
        read.append(1)
        return png(900, 300)

    made = Thumbnails(tmp_path).get("a", 256, picture)
    assert Image.open(io.BytesIO(made)).size == (256, 85)
    again = Thumbnails(tmp_path)
    assert again.get("a", 256, picture) == made
    assert len(read) == 1
    again.get("a", 512, picture)
    assert len(read) == 2


def test_thumbnails_take_bounded_room(tmp_path: Path) -> None:
    random = np.random.default_rng(0)

    def noise() -> bytes:
        buffer = io.BytesIO()
        Image.fromarray(random.integers(0, 255, (64, 64, 3), np.uint8)).save(buffer, "PNG")
        return buffer.getvalue()

    kept = Thumbnails(tmp_path, most=50_000)
    for number in range(60):
        kept.get(str(number), 256, noise)
        time.sleep(0.002)
    files = list(tmp_path.glob("*/*.jpg"))
    assert 0 < sum(path.stat().st_size for path in files) <= 50_000


def test_thumbnails_lie_in_the_index_or_where_they_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = tmp_path / "index"
    index.mkdir()
    assert kept_beside(index, "web") == index / "web"
    assert not list(index.iterdir())
    monkeypatch.setattr(Path, "mkdir", _refused)
    assert kept_beside(index, "web").is_relative_to(os.environ["TROPE_CACHE"])


def _refused(*_: object, **__: object) -> None:
    raise PermissionError(13, "Permission denied")


def test_a_picture_in_its_sizes(client: TestClient) -> None:
    for size in (256, 512, 1280):
        found = client.get(f"{API}/pictures/image:r2", params={"size": size})
        assert found.headers["content-type"] == "image/jpeg"
        assert Image.open(io.BytesIO(found.content)).size == (40, 30)
    assert client.get(f"{API}/pictures/image:r2", params={"size": 10}).status_code == 400
    tag = {"if-none-match": found.headers["etag"]}
    again = client.get(f"{API}/pictures/image:r2", params={"size": 1280}, headers=tag)
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize(
    "key",
    [
        "image:../../../../etc/passwd",
        "image:/etc/passwd",
        "../data/7.png",
        "7.png",
        "image:7.png",
        "text:0:../7.png",
        "image:r7%00.png",
        "image:told",
        "text:0:told",
    ],
)
def test_no_path_of_a_request_is_opened(
    client: TestClient, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[object] = []
    real = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: opened.append(path) or real(path))  # type: ignore[func-returns-value]
    found = client.get(f"{API}/pictures/{key}")
    assert found.status_code == 404
    assert not [path for path in opened if "passwd" in str(path) or "7.png" in str(path)]


def test_a_picture_that_is_gone_is_told(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    images = service.collections[0].sources._data(service.collections[0].index.sources()[0])

    def gone(row: int) -> bytes:
        raise DataError("missing")

    monkeypatch.setattr(type(images.pairs.images), "read", lambda _, row: gone(row))
    with pytest.raises(DataError):
        service.picture("image:r11", 256)
