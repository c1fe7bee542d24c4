"""A token that whoever asks must know: in a header, or in the cookie that the login form sets."""

from __future__ import annotations

import hashlib
import hmac
from http.cookies import CookieError, SimpleCookie

from fastapi.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from trope.web.guards.buckets import Buckets
from trope.web.guards.replies import header, refuse
from trope.web.returning import asked_for, login_url

COOKIE = "trope"
GUESS = 20.0  # what a wrong token takes, in searches
OPEN = frozenset(["/login", "/healthz", "/favicon.ico"])  # the form and its icon, the pulse
LOOKS = "/static/"  # what the form looks like


class Tokens:
    """Lets pass who knows the token; others are asked for it."""

    def __init__(self, app: ASGIApp, token: str, buckets: Buckets) -> None:
        self._app, self._token, self._buckets = app, token, buckets

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, or answer 401: people are led to the form."""
        if scope["type"] != "http" or _open(scope["path"]) or self._knows(scope):
            await self._app(scope, receive, send)
        elif "text/html" in header(scope, b"accept") and scope["method"] == "GET":
            await RedirectResponse(login_url(asked_for(scope)), 303)(scope, receive, send)
        else:
            told = {"WWW-Authenticate": 'Bearer realm="trope"'}
            await refuse(scope, receive, send, 401, "a token is needed", told)

    def _knows(self, scope: Scope) -> bool:
        """Whether the token came along; who gives another pays for the guess."""
        kind, _, given = header(scope, b"authorization").partition(" ")
        if kind.lower() == "bearer":
            guess, known = given.strip(), same(given.strip(), self._token)
        else:
            guess = _cookie(header(scope, b"cookie"))
            known = same(guess, sealed(self._token))
        if guess and not known:
            self._buckets.fine(scope, GUESS)
        return known


def same(given: str, known: str) -> bool:
    """Whether two secrets are equal, found in a time that does not tell where they differ."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), known.encode())


def sealed(token: str) -> str:
    """What the cookie holds: who sees it does not see the token."""
    key = hashlib.blake2b(token.encode()).digest()  # a key has room for 64 bytes, a token may not
    return hashlib.blake2b(b"trope page", key=key, digest_size=24).hexdigest()


def _open(path: str) -> bool:
    return path in OPEN or path.startswith(LOOKS)


def _cookie(text: str) -> str:
    try:
        found = SimpleCookie(text).get(COOKIE)
    except CookieError:
        return ""
    return found.value if found else ""
