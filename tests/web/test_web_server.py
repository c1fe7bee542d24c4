"""A real server on loopback: slow and broken clients, limits, and how it stops."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import quote

import pytest
from web_samples import STRANGE, served, spoken

from trope.errors import UsageError
from trope.web.server import bound
from trope.web.service import Service
from trope.web.settings import ServeSettings

PATIENT = ServeSettings(port=0, rate=0.0, idle=2.0)
IMPATIENT = ServeSettings(port=0, rate=0.0, idle=1.0, seconds=2.0)
SEARCH = "/api/v1/search?q=rain&k=3"


@pytest.fixture
def port(service: Service) -> Iterator[int]:
    """A server that hangs up on the silent, but lets requests take their time."""
    with served(service, PATIENT) as settings:
        yield settings.port


@pytest.fixture
def impatient(service: Service) -> Iterator[int]:
    """A server that does not wait for long."""
    with served(service, IMPATIENT) as settings:
        yield settings.port


def got(port: int, path: str, **headers: str) -> tuple[int, bytes]:
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=20) as found:
            return found.status, found.read()
    except HTTPError as error:
        with error:
            return error.code, error.read()


def test_ids_of_any_kind_come_through(port: int) -> None:
    status, found = got(port, f"/api/v1/items/{quote('image:' + STRANGE, safe='')}")
    assert status == 200
    item = json.loads(found)["found"]
    assert item["id"] == STRANGE
    assert got(port, item["picture"]["small"])[1][:3] == b"\xff\xd8\xff"


def test_slow_headers_are_not_waited_for(impatient: int) -> None:
    with socket.create_connection(("127.0.0.1", impatient), timeout=10) as line:
        started = time.monotonic()
        line.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
        for _ in range(40):  # a letter now and then keeps nobody waiting
            time.sleep(0.1)
            try:
                line.sendall(b"a")
            except OSError:
                break
        assert time.monotonic() - started < 4


def test_silent_clients_do_not_block_others(service: Service) -> None:
    settings = ServeSettings(port=0, rate=0.0, idle=4.0, connections=40)
    with served(service, settings) as chosen:
        silent = [socket.create_connection(("127.0.0.1", chosen.port)) for _ in range(30)]
        try:
            for line in silent[:15]:
                line.sendall(b"POST /api/v1/images HTTP/1.1\r\nHost: 127.0.0.1\r\n")
            started = time.monotonic()
            assert got(chosen.port, SEARCH)[0] == 200
            assert time.monotonic() - started < settings.idle  # while they are still there
            time.sleep(settings.idle + 0.5)  # by now they are gone, and more can come
            more = [socket.create_connection(("127.0.0.1", chosen.port)) for _ in range(30)]
            assert got(chosen.port, SEARCH)[0] == 200
            for line in more:
                line.close()
        finally:
            for line in silent:
                line.close()


def test_one_client_does_not_take_all_connections(service: Service) -> None:
    settings = ServeSettings(port=0, rate=0.0, connections=40, each=16)
    with served(service, settings) as chosen, ExitStack() as opened:
        silent = [opened.enter_context(_line(chosen.port)) for _ in range(60)]
        assert [line.recv(12) for line in silent[16:]] == [b"HTTP/1.1 503"] * 44
        other = opened.enter_context(_line(chosen.port, "127.0.0.2"))
        other.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert other.recv(12) == b"HTTP/1.1 200"
        for line in silent[:16]:
            line.close()
        assert _soon(lambda: got(chosen.port, "/healthz")[0] == 200)  # there is room again


def test_a_browser_with_many_connections_is_answered(service: Service) -> None:
    with served(service, ServeSettings(port=0)) as chosen, ExitStack() as opened:
        lines = [opened.enter_context(_line(chosen.port)) for _ in range(60)]
        for line in lines:
            line.sendall(b"GET /api/v1/pictures/image:r1 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert [line.recv(12) for line in lines] == [b"HTTP/1.1 200"] * 60


def _line(port: int, source: str = "127.0.0.1") -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=20, source_address=(source, 0))


def _soon(test: Callable[[], bool]) -> bool:
    for _ in range(100):
        if test():
            return True
        time.sleep(0.05)
    return False


def test_a_body_that_does_not_come_is_not_waited_for(impatient: int) -> None:
    said = (
        b"POST /api/v1/images HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: image/png\r\n"
        b"Content-Length: 1000\r\n\r\nabc"
    )
    started = time.monotonic()
    assert spoken(impatient, said).startswith(b"HTTP/1.1 408")
    assert time.monotonic() - started < 6


def test_who_does_not_read_is_let_go(service: Service) -> None:
    settings = ServeSettings(port=0, rate=0.0, idle=1.0)
    with served(service, settings) as chosen, socket.socket() as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2_048)
        line.settimeout(20)
        line.connect(("127.0.0.1", chosen.port))
        line.sendall(b"GET /api/v1/openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 1_000)
        assert got(chosen.port, SEARCH)[0] == 200
        assert _hung_up(line)


def _hung_up(line: socket.socket) -> bool:
    """Whether the other side closes a connection within seconds, as writing tells."""
    for _ in range(200):
        try:
            line.sendall(b"G")
        except (ConnectionResetError, BrokenPipeError):
            return True
        time.sleep(0.1)
    return False


@pytest.mark.parametrize(
    ("said", "status"),
    [
        (b"\x00\x01\x02\x03\r\n\r\n", 400),
        (b"GET / HTTP/9.9\r\n\r\n", 421),  # no host is no name that is known
        (b"GET " + b"/a" * 40_000 + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 404),
        (b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"a" * 700_000 + b"\r\n\r\n", 400),
        (b"POST /image HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -1\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\n\r\n", 400),
    ],
    ids=["noise", "version", "long", "headers", "negative", "two hosts"],
)
def test_what_is_no_request_is_refused_and_others_are_answered(
    port: int, said: bytes, status: int
) -> None:
    assert spoken(port, said).startswith(b"HTTP/1.1 %d " % status)
    assert got(port, SEARCH)[0] == 200


CHUNKED = b"Transfer-Encoding: chunked\r\n"
SMUGGLED = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


@pytest.mark.parametrize(
    ("version", "headers"),
    [
        (b"1.1", b"Content-Length: 5\r\n" + CHUNKED),
        (b"1.1", CHUNKED + b"Content-Length: 5\r\n"),
        (b"1.0", CHUNKED),
    ],
)
def test_a_request_with_two_ends_is_refused_and_its_connection_closed(
    service: Service, version: bytes, headers: bytes
) -> None:
    head = b"POST /api/v1/images HTTP/%b\r\nHost: 127.0.0.1\r\nConnection: keep-alive\r\n"
    with served(service, ServeSettings(port=0, rate=0.0, idle=30.0)) as settings:
        said = head % version + headers + b"\r\n0\r\n\r\n" + SMUGGLED
        found = spoken(settings.port, said)  # until it is closed, sooner than by silence
    assert found.startswith(b"HTTP/1.1 400 ")
    assert b"connection: close" in found.lower()
    assert found.count(b"HTTP/1.1 ") == 1  # what follows is not taken for a request


def test_a_huge_body_without_a_length_is_cut_off(service: Service) -> None:
    with served(service, ServeSettings(port=0, rate=0.0, body=100_000)) as settings:
        head = (
            b"POST /api/v1/images HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: image/png\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n"
        )
        chunk = b"10000\r\n" + b"\0" * 0x10000 + b"\r\n"
        found = spoken(settings.port, head + chunk * 3)
        assert found.startswith(b"HTTP/1.1 413")


def test_many_clients_at_once_get_what_one_does(port: int) -> None:
    known = json.loads(got(port, SEARCH)[1])["hits"]
    wrong: list[object] = []

    def ask() -> None:
        for number in range(10):
            status, found = got(port, f"{SEARCH}&f=year:{1990 - number}..")
            hits = json.loads(found).get("hits")
            if status != 200 or [h["key"] for h in hits] != [h["key"] for h in known]:
                wrong.append((status, found))

    threads = [threading.Thread(target=ask) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_port_that_is_taken_is_told_in_one_line() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match=f"127.0.0.1:{port}: Address already in use"):
            bound(ServeSettings(port=port))


def test_the_command_serves_says_where_and_stops_gracefully(home: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "trope", "serve", str(home / "infonce-index"), "--port", "0"]
    marks = ["--marks", str(tmp_path / "marks.jsonl")]
    process = subprocess.Popen(
        [*command, *marks], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        first, second = process.stdout.readline(), process.stdout.readline()
        assert "The page is at http://127.0.0.1:" in first
        assert "Only this machine can reach it" in second
        port = int(first.split("127.0.0.1:")[1].split("/")[0])
        found: list[int] = []
        asking = threading.Thread(target=lambda: found.append(_slowly(port)))
        asking.start()
        time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        asking.join(20)
        said, problems = process.communicate(timeout=20)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 0, problems
    assert "stopped" in said
    assert found == [201]  # what was begun was ended
    assert problems == ""


def _slowly(port: int) -> int:
    """Send a picture in two halves, a second apart."""
    from test_web_pictures import png

    content = png()
    head = (
        "POST /api/v1/images HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: image/png\r\n"
        f"Content-Length: {len(content)}\r\nConnection: close\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", port), timeout=20) as line:
        line.sendall(head.encode() + content[:20])
        time.sleep(1.5)
        line.sendall(content[20:])
        return int(line.recv(65_536).split(b" ")[1])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nowhere"], "no index"),
        (["{index}", "--port", "99999"], "port 99999"),
        (["{index}", "--token", "short"], "at least 8 characters"),
        (["{index}", "--explain", "{home}"], "not written by `trope explain`"),
        (["{index}", "nowhere"], "no index"),
    ],
)
def test_wrong_use_is_one_line(
    home: Path, arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from trope.cli import main

    given = [one.format(index=home / "infonce-index", home=home) for one in arguments]
    with pytest.raises(SystemExit) as ended:
        main(["serve", *given, *([] if "--port" in given else ["--port", "0"])])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert says in said
    assert said.count("\n") == 1


def test_without_the_extra_it_says_what_to_install(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from trope.cli import main
    from trope.web import serving

    monkeypatch.setattr(serving, "find_spec", lambda _: None)
    with pytest.raises(SystemExit):
        main(["serve", str(home / "infonce-index")])
    assert "pip install 'trope[web]'" in capsys.readouterr().err
