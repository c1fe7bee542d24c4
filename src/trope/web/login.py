"""The form that asks for the token."""

from __future__ import annotations

from html import escape
from typing import Annotated
from urllib.parse import parse_qs

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from trope.web.guards.tokens import COOKIE, same, sealed
from trope.web.plain import page
from trope.web.returning import HOME, local, login_url

DAYS = 30
FORM = """<h1>Trope</h1>
<form method="post" action="{action}">
<input name="user" value="trope" autocomplete="username" hidden>
<p><label for="token">Token</label></p>
<p><input id="token" name="token" type="password" autocomplete="current-password" required autofocus></p>
<p><button type="submit">Open</button></p>
{said}
</form>"""  # noqa: E501
WRONG = '<p role="alert">This is not the token.</p>'

Place = Annotated[str, Query(alias="next")]


def login(token: str) -> APIRouter:
    """The form, and what it sends."""
    router = APIRouter(include_in_schema=False)

    @router.get("/login")
    def form(place: Place = HOME) -> Response:
        """Ask."""
        return _form(place)

    @router.post("/login")
    async def enter(request: Request, place: Place = HOME) -> Response:
        """Let in who knows it, to the page that was asked for."""
        given = parse_qs((await request.body()).decode("utf-8", "replace"), max_num_fields=4)
        if not same(given.get("token", [""])[0], token):
            return _form(place, WRONG, 403)
        reply = RedirectResponse(local(place), 303)
        reply.set_cookie(
            COOKIE, sealed(token), max_age=DAYS * 86_400, httponly=True, samesite="strict"
        )
        return reply

    return router


def _form(place: str, said: str = "", status: int = 200) -> Response:
    action = escape(login_url(local(place)))
    form = FORM.format(action=action, said=said)
    return HTMLResponse(page("Trope: token", form, "login"), status)
