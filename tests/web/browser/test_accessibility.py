"""Every page passes axe-core, by day and by night; and asks nobody else for anything."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from browsing import DESKTOP, PHONE, Page

PATHS = (
    "/",
    "/?q=harp",
    "/?q=harp&find=both&f=labels:music",
    "/?q=harp&f=labels:nobody",
    "/item/image:r3?q=harp",
    "/item/text:0:alone%2F7%20%C3%BC",
    "/compare",
    "/compare?q=harp",
    "/map",
    "/explain/wrong",
    "/explain/weights",
    "/explain/neighbors",
    "/explain/against",
)
CHECK = """
const done = arguments[arguments.length - 1];
const where = (one) => one.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(" | ");
axe.run(document, { resultTypes: ["violations"] })
  .then((found) => done(found.violations.map((one) => `${one.id}: ${where(one)}`)));
"""


@cache
def axe() -> str:
    found = find_spec("axe_playwright_python")
    assert found
    assert found.origin
    return Path(found.origin).with_name("axe.min.js").read_text(encoding="utf-8")


def violations(page: Page) -> list[Any]:
    page.run(axe())
    return list(page.driver.execute_async_script(CHECK))


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("path", PATHS)
def test_pages_pass_axe(page: Page, path: str, dark: bool) -> None:
    page.look(DESKTOP, dark)
    page.open(path)
    if path == "/map":
        page.until(lambda: page.one("#map").get_attribute("data-ready"), 180)
        page.until(lambda: page.all("#middle a"))
    assert violations(page) == []


def test_what_opens_passes_axe(page: Page) -> None:
    page.look(PHONE)
    page.open("/?q=harp")
    page.one("#menu-1 summary").click()
    assert violations(page) == []
    page.look(DESKTOP)
    page.open("/?q=harp")
    page.all("#found .hit a")[0].click()
    page.until(lambda: page.all("dialog article"))
    assert violations(page) == []


def test_nobody_else_is_asked(page: Page) -> None:
    for path in ("/?q=harp", "/map"):
        page.open(path)
        page.until(lambda: page.run("return document.readyState") == "complete")
        asked = page.run("return performance.getEntriesByType('resource').map(e => e.name)")
        assert asked
        assert all(url.startswith(page.address) for url in asked), asked
