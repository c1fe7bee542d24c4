"""The form for the token, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsing import DESKTOP, PHONE, Page
from selenium.webdriver.common.keys import Keys
from test_accessibility import violations
from web_samples import served

from trope.web.service import Places, Service
from trope.web.settings import ServeSettings

TOKEN = "a-long-enough-token"


@pytest.fixture
def guarded(archive: Path, driver: Any, tmp_path: Path) -> Iterator[Page]:
    """A page that asks for a token."""
    service = Service(Places((archive / "infonce",), marks=tmp_path / "marks.jsonl"))
    with served(service, ServeSettings(port=0, rate=0.0, token=TOKEN)) as chosen:
        page = Page(driver, chosen.url.rstrip("/"))
        page.look(DESKTOP)
        yield page
        page.open("/static/favicon.svg")  # where nothing is loaded that needs the token
        driver.delete_all_cookies()
        assert page.complaints() == []
    service.close()


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_who_knows_the_token_comes_to_the_page_that_was_asked_for(
    guarded: Page, size: tuple[int, int]
) -> None:
    guarded.look(size, dark=size == PHONE)
    guarded.open("/?q=harp")
    assert guarded.path.startswith("/login")
    assert violations(guarded) == []
    assert guarded.complaints() == []
    guarded.one("#token").send_keys("not-the-token", Keys.ENTER)
    guarded.until(lambda: "This is not the token" in guarded.text("[role=alert]"))
    assert all("403" in complaint for complaint in guarded.complaints())
    guarded.one("#token").send_keys(TOKEN, Keys.ENTER)
    guarded.until(lambda: guarded.path == "/?q=harp" and len(guarded.hits()) == 30)
