"""Where one is led after the token was asked for: a page of this server, never one elsewhere."""

from __future__ import annotations

from urllib.parse import quote

from starlette.types import Scope

HOME = "/"
LOGIN = "/login"
LONGEST = 2_000  # characters


def local(path: str) -> str:
    """A path of this server as it is, and the first page for anything else.

    Browsers take `//name` and `/\\name` for other hosts, and leave out control characters first.
    """
    plain = path.isascii() and path.isprintable() and "\\" not in path and len(path) <= LONGEST
    return path if plain and path.startswith("/") and not path.startswith("//") else HOME


def login_url(place: str) -> str:
    """The form for the token, that knows where to go on."""
    return LOGIN if place == HOME else f"{LOGIN}?next={quote(place, safe='/')}"


def asked_for(scope: Scope) -> str:
    """The page that a request asks for, as it was written."""
    path = scope.get("raw_path") or quote(scope["path"]).encode()
    query = b"?" + scope["query_string"] if scope["query_string"] else b""
    return local((path + query).decode("latin-1"))
