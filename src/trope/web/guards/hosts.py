"""Names under which the page may be asked for, and pages that may send it something.

A page elsewhere can bind its own name to this machine's address, and let a browser ask in that
name; or send forms here. Neither is answered.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.types import ASGIApp, Receive, Scope, Send

from trope.web.guards.replies import header, refuse
from trope.web.settings import ServeSettings

HARMLESS = frozenset(["GET", "HEAD", "OPTIONS"])


class Hosts:
    """Checks `Host`, and of what changes something also where it comes from."""

    def __init__(self, app: ASGIApp, settings: ServeSettings) -> None:
        self._app, self._settings = app, settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what comes under a known name."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif not self._settings.answers(hostname(header(scope, b"host"))):
            told = "unknown host; name it with --allow-host to serve it"
            await refuse(scope, receive, send, 421, told)
        elif scope["method"] not in HARMLESS and foreign(scope):
            await refuse(scope, receive, send, 403, "sent by a page of another site")
        else:
            await self._app(scope, receive, send)


def hostname(host: str) -> str:
    """A host without its port, in lower case."""
    bare = host.rpartition(":")[0] if ":" in host and not host.endswith("]") else host
    return bare.lower().rstrip(".")


def foreign(scope: Scope) -> bool:
    """Whether a browser says that another site's page sends this."""
    if header(scope, b"sec-fetch-site") in ("cross-site", "same-site"):
        return True
    origin = header(scope, b"origin")
    return bool(origin) and urlsplit(origin).netloc.lower() != header(scope, b"host").lower()
