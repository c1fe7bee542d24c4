"""What a browser that runs no scripts can do: everything but the map."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from browsing import Page


@pytest.fixture
def plain(page: Page) -> Iterator[Page]:
    page.open("/")
    page.scripts(False)
    yield page
    page.scripts(True)


def ids(page: Page) -> list[str]:
    return [one.text for one in page.all("#found .hit .id")]


def marked(page: Page, verdict: str) -> bool:
    pairs = page.all(".pair")
    return len(pairs) > 3 and bool(pairs[3].get_attribute("data-mark") == verdict)


def test_words_find_pictures_page_by_page(plain: Page) -> None:
    plain.open("/")
    plain.one("#q").send_keys("harp")
    plain.one(".box .main").click()
    plain.until(lambda: "Pictures for “harp”" in plain.text("#found-1"))
    first = ids(plain)
    assert len(first) == 30
    plain.one("a[rel=next]").click()
    plain.until(lambda: "page=2" in plain.path and len(ids(plain)) == 18)
    assert not set(ids(plain)) & set(first)


def test_filters_are_applied_by_a_button(plain: Page) -> None:
    plain.open("/?q=harp")
    plain.one("#menu-1 summary").click()
    plain.one("input[value='labels:fruit']").click()
    plain.one("#menu-1 .apply").click()
    plain.until(lambda: "12 pictures that pass" in plain.text("#found .heading"))
    plain.one(".plain-clear").click()
    plain.until(lambda: "48 pictures in all" in plain.text("#found .heading"))


def test_the_button_is_in_sight_however_many_values_there_are(plain: Page) -> None:
    plain.look((1360, 200))
    plain.open("/?q=harp")
    plain.one("#menu-1 summary").click()
    panel, button = plain.one("#menu-1 .panel").rect, plain.one("#menu-1 .apply").rect
    assert button["y"] + button["height"] <= panel["y"] + panel["height"]


def test_the_map_says_only_that_it_needs_scripts(plain: Page) -> None:
    plain.open("/map")
    assert plain.text("main").startswith("The map needs JavaScript")
    assert [one.text for one in plain.all("main h1, main h2") if one.is_displayed()] == [
        "The map needs JavaScript"
    ]
    controls = plain.all("main button, main select, main input, main canvas")
    assert not any(one.is_displayed() for one in controls)


def test_an_item_is_a_page(plain: Page) -> None:
    plain.open("/?q=harp")
    plain.all("#found .hit a")[0].click()
    plain.until(lambda: "Why it matched" in plain.text("article"))
    plain.one(".back a").click()
    plain.until(lambda: plain.path == "/?q=harp")


def test_a_picture_is_sent_by_a_form(plain: Page, archive: Path) -> None:
    plain.open("/")
    plain.one(".by-picture summary").click()
    plain.one("#file").send_keys(str(archive / "data" / "5.png"))
    plain.one("button[form=upload]").click()
    plain.until(lambda: plain.path.startswith("/?image=") and ids(plain)[12] == "r5")


def test_marks_are_saved_by_a_form(plain: Page) -> None:
    plain.open("/explain/wrong")
    plain.all(".pair .keep")[3].click()
    plain.until(lambda: marked(plain, "keep"))
    plain.all(".pair .keep")[3].click()
    plain.until(lambda: marked(plain, ""))


def test_two_indexes_are_compared(plain: Page) -> None:
    plain.open("/compare")
    plain.one("#q").send_keys("harp")
    plain.one(".box .main").click()
    plain.until(lambda: len(plain.all(".two section")) == 2)


def test_the_map_says_what_it_needs(plain: Page) -> None:
    plain.open("/map")
    assert "The map needs JavaScript" in plain.text("#sheet")
