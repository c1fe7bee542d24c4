"""The real Milvus server of the package `milvus`, shut into a network that has loopback alone.

The server listens on all interfaces and no setting changes that. So it runs in a network namespace
of its own (`unshare`), whose only interface is loopback. A socket in the file system leads out of
it, and a port of this machine's loopback leads to that socket. Ports that the server insists on are
then nobody else's either.
"""

from __future__ import annotations

import asyncio
import fcntl
import shutil
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

STARTING = 180  # seconds
PIECE = 2**16
HURRIED = {  # milliseconds between looks at what is new: as they come, a test mostly waits for them
    "proxy.timeTickInterval": 50,
    "queryCoord.checkInterval": 100,
    "queryCoord.distPullInterval": 50,
}
ASK_FLAGS, SET_FLAGS, UP = 0x8913, 0x8914, 0x1  # of an interface, see netdevice(7)

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


def missing() -> str:
    """Why the server cannot be started here; empty if it can."""
    for name in ("milvus", "pymilvus"):
        if find_spec(name) is None:
            return f"the package {name} is not installed"
    if shutil.which("unshare") is None:
        return "there is no unshare to keep the server to loopback"
    tried = subprocess.run(["unshare", "-rn", "true"], capture_output=True, text=True, check=False)
    return f"no network of its own: {tried.stderr.strip()}" if tried.returncode else ""


@contextmanager
def running(folder: Path, *, hurried: bool = False) -> Iterator[str]:
    """A server with its files below a folder; its address on loopback."""
    door = folder / "door"
    command = ["unshare", "-rn", sys.executable, str(Path(__file__).resolve()), str(folder)]
    command += ["hurried"] if hurried else []
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as inside:
        try:
            assert inside.stdout is not None
            assert inside.stdout.readline() == "ready\n", "the server did not start"
            with _leading_to(lambda: asyncio.open_unix_connection(str(door))) as port:
                yield f"http://127.0.0.1:{port}"
        finally:
            assert inside.stdin is not None
            with suppress(BrokenPipeError):
                inside.stdin.close()  # which ends it
            inside.wait(60)
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _leading_to(connect: Callable[[], Awaitable[Streams]]) -> Iterator[int]:
    """A port on loopback whose connections are passed on, in a thread of its own."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    made = asyncio.start_server(_passing(connect), "127.0.0.1", 0)
    server = asyncio.run_coroutine_threadsafe(made, loop).result(10)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        asyncio.run_coroutine_threadsafe(_ended(server), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


async def _ended(server: asyncio.Server) -> None:
    server.close()
    others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


def _passing(
    connect: Callable[[], Awaitable[Streams]],
) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]:
    async def passed(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.CancelledError):  # the end of all tests
            there, back = await connect()
            await asyncio.gather(_copied(reader, back), _copied(there, writer))

    return passed


async def _copied(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError, asyncio.CancelledError):
        while piece := await reader.read(PIECE):
            writer.write(piece)
            await writer.drain()
    writer.close()


# --- inside the namespace ---------------------------------------------------------------------


def loopback_up() -> None:
    """Switch the only interface on."""
    with socket.socket() as one:
        asked = struct.pack("16sh14x", b"lo", 0)
        flags = struct.unpack("16sh14x", fcntl.ioctl(one, ASK_FLAGS, asked))[1]
        fcntl.ioctl(one, SET_FLAGS, struct.pack("16sh14x", b"lo", flags | UP))


def refuse_other_interfaces() -> None:
    """The server must not be reachable from anywhere."""
    names = {name for _, name in socket.if_nameindex()}
    if names != {"lo"}:
        raise SystemExit(f"interfaces beside loopback: {sorted(names - {'lo'})}")


async def _door(path: Path, port: int) -> None:
    """Pass on what comes through the file system, until whoever started this is gone."""
    connect = lambda: asyncio.open_connection("127.0.0.1", port)  # noqa: E731
    server = await asyncio.start_unix_server(_passing(connect), str(path))
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.read)
    await _ended(server)


def main(folder: Path, hurried: bool) -> None:
    from milvus import MilvusServer

    refuse_other_interfaces()
    loopback_up()
    server = MilvusServer(wait_for_started=False)
    server.set_base_dir(str(folder / "server"))
    for part in ("rootCoord", "proxy", "queryCoord", "queryNode", "dataCoord", "dataNode"):
        server.config.set(f"{part}.ip", "127.0.0.1")
    for name, milliseconds in HURRIED.items() if hurried else ():
        server.config.set(name, milliseconds)
    try:
        server.start()
        server.wait_started(timeout=STARTING * 1_000)
        asyncio.run(_door(folder / "door", server.listen_port))
    finally:
        _stopped(server.server_proc)


def _stopped(process: subprocess.Popen[bytes] | None) -> None:
    """Ended for sure; the package's own way gives up after three seconds."""
    if process is not None:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(60)


if __name__ == "__main__":
    main(Path(sys.argv[1]), "hurried" in sys.argv[2:])
