"""A picture as the question: picked, dropped, pasted, refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from browsing import Page
from selenium.webdriver.common.keys import Keys

SENT = """
const [bytes, name, kind, type] = arguments;
const file = new File([new Uint8Array(bytes)], name, { type });
const transfer = new DataTransfer();
transfer.items.add(file);
const field = kind === "paste" ? "clipboardData" : "dataTransfer";
const said = { [field]: transfer, bubbles: true, cancelable: true };
const made = kind === "paste" ? ClipboardEvent : DragEvent;
for (const step of kind === "paste" ? ["paste"] : ["dragenter", "dragover", "drop"])
  document.body.dispatchEvent(new made(step, said));
"""
HITS = "return [...document.querySelectorAll('#found .hit a')].map(e => e.href)"


def send(page: Page, file: Path, kind: str, type: str = "image/png") -> None:
    page.run(SENT, list(file.read_bytes()), file.name, kind, type)


def answered(page: Page) -> None:
    page.until(lambda: page.text("#found-1") == "Texts it could illustrate")
    assert page.text("#found-2") == "Pictures like yours"
    assert page.path.startswith("/?image=")
    assert page.all("#given img")
    assert page.one("#q").get_attribute("placeholder") == "and words, if you like"
    assert page.hits()[12] == "r5"  # the picture itself is the nearest of pictures


def test_a_picked_picture_finds_texts_and_pictures(page: Page, archive: Path) -> None:
    page.open("/")
    page.one(".by-picture summary").click()
    page.one("#file").send_keys(str(archive / "data" / "5.png"))
    answered(page)
    found, url = page.hits(), page.path
    page.open(url)  # can be shared while the server lives
    assert page.hits() == found


def test_a_dropped_picture_is_asked_with(page: Page, archive: Path) -> None:
    page.open("/?q=harp")
    send(page, archive / "data" / "5.png", "drop")
    answered(page)
    assert page.one("#q").get_property("value") == ""
    page.driver.back()
    page.until(lambda: page.path == "/?q=harp" and page.one("#q").get_property("value") == "harp")


def pasted(page: Page, archive: Path) -> None:
    page.open("/")
    send(page, archive / "data" / "5.png", "paste")
    answered(page)


def test_a_pasted_picture_is_asked_with(page: Page, archive: Path) -> None:
    pasted(page, archive)


def test_words_go_with_a_picture(page: Page, archive: Path) -> None:
    pasted(page, archive)
    page.one("#q").send_keys("harp")
    page.until(lambda: "“harp” and your picture" in page.text("#found-1"))
    assert page.driver.title == "harp and your picture · Trope"
    assert "image=" in page.path


def test_words_that_cannot_be_read_do_not_take_the_picture_away(page: Page, archive: Path) -> None:
    pasted(page, archive)
    page.one("#q").send_keys("?")
    page.until(lambda: "That cannot be searched" in page.text("#found"))
    assert page.all("#given img")
    page.one("#q").send_keys(Keys.BACKSPACE, "harp")
    page.until(lambda: "“harp” and your picture" in page.text("#found-1"))
    assert "image=" in page.path
    assert all("400" in complaint for complaint in page.complaints())


def test_what_is_no_picture_is_refused_in_words(page: Page, archive: Path) -> None:
    page.open("/")
    send(page, archive / "data" / "pairs.jsonl", "drop", "text/plain")
    page.until(lambda: "That picture cannot be used" in page.text("#found"))
    assert page.text("#found .message")
    assert len(page.complaints()) == 1  # the refused request itself


def test_a_refused_picture_does_not_leave_the_one_before(page: Page, archive: Path) -> None:
    pasted(page, archive)
    send(page, archive / "data" / "pairs.jsonl", "drop", "text/plain")
    page.until(lambda: "That picture cannot be used" in page.text("#found"))
    assert not page.all("#given img")
    page.one("#q").send_keys("harp")
    page.until(lambda: page.path == "/?q=harp" and "“harp”" in page.text("#found-1"))
    page.driver.back()
    page.until(lambda: page.path.startswith("/?image=") and page.all("#given img"))
    assert len(page.complaints()) == 1  # the refused request itself


@pytest.mark.parametrize("path", ["/?q=harp", "/", "/compare?q=harp"])
def test_enter_asks_again_after_a_refused_picture(page: Page, archive: Path, path: str) -> None:
    page.open(path)
    before = page.run(HITS)
    send(page, archive / "data" / "pairs.jsonl", "drop", "text/plain")
    page.until(lambda: "That picture cannot be used" in page.text("#found"))
    page.one("#q").send_keys(Keys.ENTER)
    page.until(lambda: page.run(HITS) == before)
    assert page.path == path
    assert len(page.complaints()) == 1  # the refused request itself


@pytest.mark.parametrize("path", ["/?q=harp", "/compare?q=harp"])
def test_a_refused_picture_has_a_way_back(page: Page, archive: Path, path: str) -> None:
    page.open(path)
    before = page.run(HITS)
    send(page, archive / "data" / "pairs.jsonl", "drop", "text/plain")
    page.one("#found .state a").click()
    page.until(lambda: page.run(HITS) == before)
    assert page.path == path
    assert page.one("#q").get_property("value") == "harp"
    assert len(page.complaints()) == 1  # the refused request itself


def test_a_picture_that_is_not_kept_any_more_is_told(page: Page) -> None:
    page.open(f"/?image={'0' * 32}")
    assert "send it again" in page.text(".state")
    assert all("404" in complaint for complaint in page.complaints())
