"""The server: uvicorn, with slow and broken clients held off, and a stop that is graceful."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from trope.errors import UsageError
from trope.web.crowds import Crowds
from trope.web.guards.leftovers import DROPPED
from trope.web.settings import ServeSettings

BACKLOG = 512
HEADER = 32 * 2**10  # bytes of all headers
AWAY, HEARD = 64, 5.0  # connections without room that are heard out, and seconds for each
CROWDED = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


class Patience(H11Protocol):
    """A connection that is closed when the client takes too long, or has too many."""

    def __init__(
        self, *given: Any, idle: float, crowds: Crowds, away: Crowds, **named: Any
    ) -> None:
        super().__init__(*given, **named)
        self._idle, self._crowds, self._away = idle, crowds, away
        self._within: Crowds | None = None  # where this one counts
        self._dropped = 0  # bytes of a client for which there is no room
        self._asking: asyncio.TimerHandle | None = None
        self._reading: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a request, but not forever."""
        super().connection_made(transport)
        if self._enter(self._crowds):
            self._asking = self._later(self._idle)
        else:
            self._turn_away(transport)

    def _enter(self, crowds: Crowds) -> bool:
        """Whether there is room among these."""
        self._within = crowds if crowds.enter(self._address) else None
        return self._within is not None

    def _turn_away(self, transport: asyncio.Transport) -> None:
        """Say that there is no room, and hear out who is sending: it would not see that else."""
        transport.write(CROWDED)
        if self._enter(self._away):
            transport.write_eof()
            self._asking = self._later(HEARD)
        else:
            transport.close()

    def data_received(self, data: bytes) -> None:
        """What comes is part of a request, or of its headers, which have to end some time."""
        if self._within is not self._crowds:
            self._drop(len(data))
            return
        super().data_received(data)
        cycle: Any = self.cycle  # None before the first request
        busy = cycle is not None and not cycle.response_complete
        if busy:
            _forget(self._asking)
            self._asking = None
        elif self._asking is None:
            self._asking = self._later(self._idle)

    def _drop(self, size: int) -> None:
        self._dropped += size
        if self._dropped > DROPPED:
            self.transport.abort()

    def on_response_complete(self) -> None:
        """The next request may take its time again."""
        super().on_response_complete()
        _forget(self._asking)
        self._asking = None if self.transport.is_closing() else self._later(self._idle)

    def pause_writing(self) -> None:
        """The client does not read."""
        super().pause_writing()
        self._reading = self._later(self._idle)

    def resume_writing(self) -> None:
        """It does."""
        _forget(self._reading)
        self._reading = None
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is waited for any more."""
        _forget(self._asking)
        _forget(self._reading)
        if self._within is not None:
            self._within.leave(self._address)
            self._within = None
        super().connection_lost(exc)

    @property
    def _address(self) -> str:
        return self.client[0] if self.client else ""

    def _later(self, seconds: float) -> asyncio.TimerHandle:
        return self.loop.call_later(seconds, self.transport.abort)


def _forget(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()


class Server(uvicorn.Server):
    """Stops at the first signal when all is answered, at the second at once."""

    def __init__(
        self, app: ASGIApp, settings: ServeSettings, ready: Callable[[], None] | None = None
    ) -> None:
        super().__init__(configured(app, settings))
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Say when it can be asked."""
        await super().startup(sockets)
        if self.started and self._ready is not None:
            self._ready()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals end the server, not the process: what follows is still done."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        kinds = (signal.SIGINT, signal.SIGTERM)
        before = {kind: signal.signal(kind, self.handle_exit) for kind in kinds}
        try:
            yield
        finally:
            for kind, handler in before.items():
                signal.signal(kind, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """The first signal lets requests end."""
        self.force_exit = self.should_exit
        self.should_exit = True


def configured(app: ASGIApp, settings: ServeSettings) -> uvicorn.Config:
    """Limits in uvicorn's words; who asks for what is not written down."""
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
    crowds, away = Crowds(settings.each, settings.connections), Crowds(AWAY // 4, AWAY)
    return uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        http=partial(Patience, idle=settings.idle, crowds=crowds, away=away),  # type: ignore[arg-type]
        ws="none",
        loop="asyncio",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        backlog=BACKLOG,
        timeout_keep_alive=int(settings.idle),
        timeout_graceful_shutdown=int(settings.stopping),
        h11_max_incomplete_event_size=HEADER,
    )


def bound(settings: ServeSettings) -> socket.socket:
    """The socket to listen on; what is taken, or not ours, is told in one line."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # by name, or asyncio would not know it for TCP and let answers wait to be sent together
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((settings.host, settings.port))
    except OSError as error:
        made.close()
        why = error.strerror or error
        place = f"{settings.host}:{settings.port}"
        raise UsageError(f"serve: {place}: {why}; --port chooses another") from None
    return made
