"""Searching, in a real browser."""

from __future__ import annotations

import pytest
from browsing import PHONE, Page
from page_samples import MARKUP, SIZES
from selenium.webdriver.common.keys import Keys

from trope.web.plain import refused

SAID = "return document.getElementById('said').textContent"
BUSY = "return document.documentElement.classList.contains('is-busy')"
LATE = """
const asked = window.fetch;
window.fetch = async (...given) => {
  await new Promise((done) => setTimeout(done, 600));
  return asked(...given);
};
"""
TALL = """
const one = document.querySelector(".large img");
Object.assign(one, { width: 300, height: 1200, className: "small ratio-6" });
const drawn = '<svg xmlns="http://www.w3.org/2000/svg" width="300" height="1200"/>';
one.src = `data:image/svg+xml,${encodeURIComponent(drawn)}`;
"""
FULL = """
window.asked = window.fetch;
const head = { status: 429, headers: { "Content-Type": "text/html" } };
window.fetch = async (url) => Object.defineProperty(
  new Response(arguments[0], head), "url", { value: new URL(url, location).href });
"""


def shown(page: Page, words: str) -> None:
    page.until(lambda: f"“{words}”" in page.text("#found-1"))


def test_words_find_pictures_while_typing(page: Page) -> None:
    page.open("/")
    page.one("#q").send_keys("rain snow")
    shown(page, "rain snow")
    assert page.path == "/?q=rain+snow"
    assert len(page.hits()) == 30
    assert page.driver.title == "rain snow · Trope"


def test_what_is_taken_back_while_it_is_asked_is_not_shown(page: Page) -> None:
    page.open("/?q=harp")
    page.run(LATE)
    page.one("#q").send_keys("x")
    page.until(lambda: page.run(BUSY))
    page.one("#q").send_keys(Keys.BACKSPACE)
    page.until(lambda: not page.run(BUSY))
    assert "“harp”" in page.text("#found-1")
    assert page.path == "/?q=harp"


def test_what_was_found_is_said_to_who_does_not_see_it(page: Page) -> None:
    page.open("/")
    page.one("#q").send_keys("harp")
    page.until(lambda: "Pictures for “harp” 48 pictures" in page.run(SAID))


def test_either_index_can_be_searched(page: Page) -> None:
    page.open("/?q=harp")
    page.run("arguments[0].click()", page.one("#index-1"))
    page.until(lambda: page.path == "/?q=harp&index=1")
    page.all("#found .hit a")[0].click()
    page.until(lambda: "Sense" in page.text("dialog .why"))  # that model has two


def test_a_page_that_is_not_there_is_told(page: Page) -> None:
    page.open("/nowhere")
    assert "There is no page '/nowhere'" in page.text(".state")
    page.open("/item/image:nobody")
    assert "image:nobody" in page.text(".state")
    assert all("404" in complaint for complaint in page.complaints())


def test_a_url_shows_what_it_showed_before(page: Page) -> None:
    page.open("/")
    page.one("#q").send_keys("harp")
    shown(page, "harp")
    typed = page.hits()
    page.open("/?q=harp")
    assert page.hits() == typed


def test_back_and_forward_go_through_questions(page: Page) -> None:
    page.open("/")
    page.one("#q").send_keys("harp", Keys.ENTER)
    shown(page, "harp")
    page.one("#q").clear()
    page.one("#q").send_keys("rain", Keys.ENTER)
    shown(page, "rain")
    page.driver.back()
    shown(page, "harp")
    assert page.one("#q").get_property("value") == "harp"
    page.driver.back()
    page.until(lambda: "From the collection" in page.text("#found-1"))
    page.driver.forward()
    shown(page, "harp")


def test_what_is_found_can_be_chosen(page: Page) -> None:
    page.open("/?q=harp")
    page.run("arguments[0].click()", page.one("#find-text"))
    page.until(lambda: "Texts for" in page.text("#found-1"))
    page.run("arguments[0].click()", page.one("#find-both"))
    page.until(lambda: len(page.all("#found section")) == 2)
    assert page.path == "/?q=harp&find=both"


def test_filters_narrow_what_is_found(page: Page) -> None:
    page.open("/?q=harp")
    page.one("#menu-1 summary").click()
    page.one("input[value='labels:fruit']").click()
    page.until(lambda: "12 pictures that pass" in page.text("#found .heading"))
    rows = {f"r{number}" for number in range(0, 48, 4)}
    assert set(page.hits()) == rows
    assert page.one("#menu-1").get_attribute("open")  # the menu stays, for the next value
    page.one(".plain-clear").click()
    page.until(lambda: page.path == "/?q=harp")


def test_a_range_of_numbers_narrows_too(page: Page) -> None:
    page.open("/")
    year = "//summary[normalize-space()='year']"
    page.driver.find_element("xpath", year).click()
    page.one("input[name='from.year']").send_keys("2010", Keys.TAB)
    page.until(lambda: "38 pictures that pass" in page.text("#found .heading"))
    page.one("input[name='to.year']").send_keys("2012", Keys.ENTER)
    page.until(lambda: "3 pictures that pass" in page.text("#found .heading"))
    assert set(page.hits()) == {"r10", "r11", "r12"}


def test_more_is_on_the_next_page(page: Page) -> None:
    page.open("/?q=harp")
    first = page.hits()
    page.one("a[rel=next]").click()
    page.until(lambda: page.path == "/?q=harp&page=2")
    page.until(lambda: len(page.hits()) == 18)
    assert not set(first) & set(page.hits())
    page.one("a[rel=prev]").click()
    page.until(lambda: page.hits() == first)


def test_the_tab_is_named_by_what_is_open(page: Page) -> None:
    page.open("/?q=harp")
    for leave in (page.driver.back, lambda: page.press(Keys.ESCAPE)):
        page.all("#found .hit a")[1].click()
        page.until(lambda: page.driver.title == f"{page.hits()[1]} · Trope")
        leave()
        page.until(lambda: page.path == "/?q=harp" and page.driver.title == "harp · Trope")


def test_the_key_that_goes_to_the_box_is_not_typed_into_it(page: Page) -> None:
    page.open("/")
    box = page.one("#q")
    assert page.driver.switch_to.active_element == box
    page.press("/")
    assert box.get_property("value") == ""
    page.press("a/")
    assert box.get_property("value") == "a/"


def test_the_ends_of_a_range_stand_below_their_names(page: Page) -> None:
    page.open("/?q=harp&f=year:2001..2040")
    page.run("document.querySelector('[name=\"from.year\"]').closest('details').open = true")
    low, high = page.one("[name='from.year']").rect, page.one("[name='to.year']").rect
    panel = page.one("details[open] .panel").rect
    assert low["y"] == high["y"]
    assert high["x"] + high["width"] < panel["x"] + panel["width"]
    label = page.one("details[open] .field").rect
    assert low["y"] - label["y"] > 10


def test_a_tall_picture_leaves_room_for_its_text_on_a_phone(page: Page) -> None:
    page.look(PHONE)
    page.open("/item/image:r6")
    page.run(TALL)
    page.until(lambda: page.one(".large img").get_property("naturalHeight") == 1200)
    assert page.one("#item-title").rect["y"] < 0.8 * PHONE[1]


def test_a_hit_opens_large_and_says_why(page: Page) -> None:
    page.open("/?q=harp")
    link = page.all("#found .hit a")[0]
    link.click()
    page.until(lambda: "Why it matched" in page.text("dialog article"))
    assert page.path.startswith("/item/image:r")
    assert "CC BY 4.0" in page.text("dialog figcaption")
    assert "year" in page.text("dialog .columns")
    assert page.all("dialog #same-meaning")
    assert page.all("dialog #same-picture")
    page.driver.back()
    page.until(lambda: not page.one("#large").get_property("open"))
    assert page.path == "/?q=harp"


def test_pictures_keep_their_shape(page: Page) -> None:
    page.open("/?q=harp&f=labels:fruit")
    shapes = {}
    for hit in page.all("#found .hit"):
        box = hit.find_element("css selector", ".shape").rect
        shapes[int(hit.find_element("css selector", ".id").text[1:])] = box["width"] / box["height"]
    assert len(shapes) == 12
    for row, shape in shapes.items():
        width, height = SIZES[row // 4 % 4]
        assert shape == pytest.approx(width / height, abs=0.08)


@pytest.mark.parametrize("row", [0, 4, 8, 12])  # wide, tall, square, very wide
@pytest.mark.parametrize("size", [(1240, 500), PHONE])
def test_a_small_picture_is_enlarged_as_a_whole(
    page: Page, row: int, size: tuple[int, int]
) -> None:
    page.look(size)
    page.open(f"/item/image:r{row}")
    box = page.one(".large img").rect
    width, height = SIZES[row // 4]
    assert box["width"] / box["height"] == pytest.approx(width / height, rel=0.02)
    assert box["height"] < size[1]
    assert box["width"] > width


def test_more_like_this_goes_on_from_an_item(page: Page) -> None:
    page.open("/?q=harp")
    page.all("#found .hit a")[0].click()
    page.one("dialog a[href*='like=meaning']").click()
    page.until(lambda: "Texts that mean the same" in page.text("#found-1"))
    assert not page.one("#large").get_property("open")
    assert page.all("#given .with")
    page.one("#given .with").click()
    page.until(lambda: page.path == "/")


def test_words_are_asked_instead_of_an_item(page: Page) -> None:
    page.open("/?item=image:r3&like=meaning")
    assert page.all("#given .with")
    page.one("#q").send_keys("harp", Keys.ENTER)
    shown(page, "harp")
    assert page.path == "/?q=harp"
    assert not page.all("#given .with")


def test_the_keyboard_is_enough(page: Page) -> None:
    page.open("/?q=harp")
    page.run("document.activeElement.blur()")
    page.press("/")
    assert page.run("return document.activeElement.id") == "q"
    page.press(Keys.ARROW_DOWN, Keys.ARROW_RIGHT)
    at = "return [...document.querySelectorAll('#found .hit a')].indexOf(document.activeElement)"
    assert page.run(at) == 1
    page.press(Keys.ARROW_DOWN)
    assert page.run(at) > 2
    page.press(Keys.ARROW_UP, Keys.ARROW_LEFT)
    first = page.run(at)
    page.press(Keys.ENTER)
    page.until(lambda: page.all("dialog article"))
    opened = page.path
    page.press(Keys.ARROW_RIGHT)
    page.until(lambda: page.path != opened and page.all("dialog article"))
    page.press(Keys.ESCAPE)
    page.until(lambda: page.path == "/?q=harp")
    page.until(lambda: page.run(at) == first + 1)
    page.press(Keys.ESCAPE)
    assert page.run("return document.activeElement.id") == "q"


def test_nothing_that_passes_is_told(page: Page) -> None:
    page.open("/?q=harp&f=labels:nobody")
    assert "Nothing passes these filters" in page.text(".state")
    page.one(".state a").click()
    page.until(lambda: len(page.hits()) == 30)


def test_what_cannot_be_searched_is_told(page: Page) -> None:
    page.open("/?q=harp&where=nocolumn+%3D+1")
    assert "nocolumn" in page.text(".state")
    assert all("400" in complaint for complaint in page.complaints())


def test_a_server_that_does_not_answer_is_told(page: Page) -> None:
    page.open("/?q=harp")
    page.driver.execute_cdp_cmd("Network.enable", {})
    page.driver.execute_cdp_cmd("Network.setBlockedURLs", {"urls": [f"{page.address}/?q=*"]})
    page.one("#q").send_keys(" rain")
    page.until(lambda: "No answer" in page.text("#found"))
    page.driver.execute_cdp_cmd("Network.setBlockedURLs", {"urls": []})
    page.one("#found .state a").click()
    shown(page, "harp rain")
    assert all("ERR_BLOCKED" in complaint for complaint in page.complaints())


def test_the_same_is_asked_again_after_no_answer(page: Page) -> None:
    page.open("/?q=harp")
    before = page.hits()
    page.driver.execute_cdp_cmd("Network.enable", {})
    page.driver.execute_cdp_cmd("Network.setBlockedURLs", {"urls": [f"{page.address}/?q=*"]})
    page.one("#q").send_keys(" rain")
    page.until(lambda: "No answer" in page.text("#found"))
    page.driver.execute_cdp_cmd("Network.setBlockedURLs", {"urls": []})
    page.one("#q").clear()
    page.one("#q").send_keys("harp", Keys.ENTER)
    page.until(lambda: page.hits() == before)
    assert all("ERR_BLOCKED" in complaint for complaint in page.complaints())


def test_who_is_told_to_wait_can_ask_again(page: Page) -> None:
    page.open("/?q=harp")
    page.run(FULL, refused(429, "too many requests; ask again later"))
    page.one("#q").send_keys(" rain")
    page.until(lambda: "Too many questions" in page.text("#found"))
    page.run("window.fetch = window.asked")
    page.one("#q").send_keys(Keys.ENTER)
    shown(page, "harp rain")


def test_markup_in_a_row_is_text(page: Page) -> None:
    page.open("/item/image:r2?q=rain")
    assert page.text("#item-title") == MARKUP
    assert "<i>x</i>" in page.text(".columns")
    assert page.driver.title == "r2 · Trope"
    page.open("/?q=%3Cscript%3Ealert(1)%3C/script%3E+rain")
    assert "<script>alert(1)</script> rain" in page.text("#found-1")


@pytest.mark.parametrize("path", ["/", "/?q=harp", "/?q=harp&find=text", "/item/image:r3?q=harp"])
def test_a_phone_is_wide_enough(page: Page, path: str) -> None:
    page.look(PHONE)
    page.open(path)
    assert page.run("return document.documentElement.scrollWidth") <= PHONE[0]


def test_a_phone_shows_filters_at_its_foot(page: Page) -> None:
    page.look(PHONE)
    page.open("/?q=harp")
    page.one("#menu-1 summary").click()
    box = page.run(
        "return document.querySelector('#menu-1 .panel').getBoundingClientRect().toJSON()"
    )
    assert (box["x"], box["width"], box["y"] + box["height"]) == (0, *PHONE)
    page.one("input[value='labels:fruit']").click()
    page.until(lambda: "12 pictures that pass" in page.text("#found .heading"))


def test_a_phone_shows_all_of_the_way_to_send_a_picture(page: Page) -> None:
    page.look(PHONE)
    page.open("/?q=harp")
    page.one(".by-picture summary").click()
    box = page.one(".by-picture .panel").rect
    assert 0 <= box["x"] <= box["x"] + box["width"] <= PHONE[0]
    assert page.one("#file").is_displayed()


def test_a_phone_shows_what_narrows_first(page: Page) -> None:
    page.look(PHONE)
    page.open("/?q=harp&f=year:2010..")
    chosen = page.one(".menu.on summary")
    assert "year" in chosen.text
    assert 0 <= chosen.rect["x"] <= chosen.rect["x"] + chosen.rect["width"] <= PHONE[0]
