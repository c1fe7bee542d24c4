"""Serve: open what is asked for, say where the page is, answer until told to stop."""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec

from trope.errors import MissingExtra
from trope.web.service import Places, Service
from trope.web.settings import ServeSettings

NEEDED = ("fastapi", "uvicorn", "python_multipart")


def installed() -> bool:
    """Whether all that the page needs is there."""
    return all(find_spec(name) is not None for name in NEEDED)


def refuse_missing() -> None:
    """Say what to install before an index is opened."""
    if not installed():
        raise MissingExtra("the search page", "web")


def serve(
    places: Places,
    settings: ServeSettings,
    ready: Callable[[ServeSettings, list[str]], None],
) -> None:
    """Answer until a signal comes; `ready` is told where, and what will be missing."""
    refuse_missing()
    from trope.web.app import application
    from trope.web.server import Server, bound

    with bound(settings) as listener:  # refused before models are loaded
        chosen = replace(settings, port=_port(listener))
        service = Service(places)
        try:
            problems = service.warm()
            server = Server(application(service, chosen), chosen, lambda: ready(chosen, problems))
            server.run(sockets=[listener])
        finally:
            service.close()


def _port(listener: socket.socket) -> int:
    return int(listener.getsockname()[1])
