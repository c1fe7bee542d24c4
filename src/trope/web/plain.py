"""Pages that need no index: the form for the token, and what is refused."""

from __future__ import annotations

from html import escape

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="icon" href="/static/favicon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/static/base.css">
</head>
<body>
<main{style}>
{body}
</main>
</body>
</html>
"""
REFUSED = """<div id="found" class="wide" data-live tabindex="-1">
<div class="state">
<h1>{heading}</h1>
<p class="message" role="alert">{why}</p>
<a class="button" href="/">Search</a>
</div>
</div>"""  # it takes the place of results, too
HEADINGS = {
    404: "Not found",
    413: "Too large",
    429: "Too many questions",
    503: "Not now",
    507: "Not saved",
}


def page(title: str, body: str, style: str = "") -> str:
    """A page around some markup."""
    named = f' class="{style}"' if style else ""
    return PAGE.format(title=escape(title), body=body, style=named)


def refused(status: int, why: str) -> str:
    """A page that says why there is no other."""
    heading = HEADINGS.get(status, "That did not work")
    return page(f"{heading} · Trope", REFUSED.format(heading=heading, why=escape(why)))
