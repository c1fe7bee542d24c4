"""Comparing, the map, explanations and marks, in a real browser."""

from __future__ import annotations

import io
import json
from pathlib import Path

from browsing import PHONE, Page
from PIL import Image
from selenium.webdriver import ActionChains
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

PLACE = """
const done = arguments[0];
const box = document.getElementById("map").getBoundingClientRect();
Promise.all([import("/static/map/points.js"), import("/static/map/view.js")]).then(async (made) => {
  const points = await made[0].points(0, () => {});
  const view = new made[1].View();
  view.resize(box.width, box.height);
  const [left, top] = view.toScreen(points.xs[0], points.ys[0]);
  done([left - box.width / 2, top - box.height / 2]);
});
"""  # of the first point, from the middle of the map
PLACES = """
const places = document.querySelectorAll(`.two section:nth-of-type(${arguments[0]}) .place`);
return [...places].map((place) => {
  const mark = place.querySelector(".mark")?.cloneNode(true);
  for (const heard of mark?.querySelectorAll(".unseen") ?? []) heard.remove();
  return mark?.textContent ?? "";
});
"""
NO_CARD = """
const get = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
  return kind === "webgl2" ? null : get.call(this, kind, ...rest);
};
"""
MANY = """
const asked = window.fetch;
const many = (made) => Array.from({ length: 50000 }, (_, i) => made(i));
const color = { column: "topic", kind: "choice", names: ["a", "b"], values: many((i) => i % 2) };
window.fetch = (url, ...rest) => !String(url).startsWith("/api/v1/map") ? asked(url, ...rest) :
  Promise.resolve(new Response(JSON.stringify({
    state: "ready", total: 50000, message: "", x: many(Math.sin), y: many((i) => Math.cos(i * i)),
    keys: many((i) => `image:r${i % 48}`), modality: many(() => "image"), colors: [color],
  })));
"""
MOVED = """
const done = arguments[0];
const map = document.getElementById("map");
const times = [];
function frame(now) {
  times.push(now);
  if (times.length > 20) return done((now - times[0]) / 20);
  map.dispatchEvent(new KeyboardEvent("keydown", { key: times.length % 2 ? "ArrowLeft" : "+" }));
  requestAnimationFrame(frame);
}
requestAnimationFrame(frame);
"""  # milliseconds for a frame, on average
INKED = """
const map = document.getElementById("map");
return map.getContext("2d").getImageData(0, 0, map.width, map.height).data.some((value) => value);
"""


def marks(page: Page, side: int) -> list[str]:
    """What stands beside each place, to be seen."""
    return [" ".join(text.split()) for text in page.run(PLACES, side)]


def told(key: str, place: int, there: list[str]) -> str:
    if key not in there:
        return "only here"
    other = there.index(key)
    arrow = "↑" if place < other else "↓"
    return "" if place == other else f"{arrow} {other + 1} there"


def test_two_indexes_answer_side_by_side(page: Page) -> None:
    page.open("/compare")
    assert "Two indexes, one question" in page.text(".state")
    page.one("#q").send_keys("harp")
    page.until(lambda: len(page.all(".two section")) == 2)
    assert [title.text for title in page.all(".two h2")] == ["infonce", "pvse"]
    left, right = (
        [
            a.get_attribute("href").partition("/item/")[2].partition("?")[0]
            for a in side.find_elements("css selector", ".hit a")
        ]
        for side in page.all(".two section")
    )
    assert set(left) != set(right)  # or nothing would be marked
    assert marks(page, 1) == [told(key, place, right) for place, key in enumerate(left)]
    assert marks(page, 2) == [told(key, place, left) for place, key in enumerate(right)]
    assert f"{len(set(left) & set(right))} of 12" in page.text(".summary-line")


def test_a_hit_of_the_second_index_opens_from_there(page: Page) -> None:
    page.open("/compare?q=harp")
    page.all(".two section:nth-of-type(2) .hit a")[0].click()
    page.until(lambda: "Why it matched" in page.text("dialog article"))
    assert "index=1" in page.path
    assert "Sense" in page.text("dialog .why")  # that model has two
    page.press(Keys.ESCAPE)
    page.until(lambda: page.path == "/compare?q=harp")


def drawn(page: Page) -> None:
    page.until(lambda: page.one("#map").get_attribute("data-ready"), 180)
    page.until(lambda: page.one("#map").get_attribute("data-drawn"))


def seen_colors(page: Page) -> int:
    """How many colors there are where the map is, as a person sees it."""
    shot = Image.open(io.BytesIO(page.one("#map").screenshot_as_png)).convert("RGB")
    return len(shot.getcolors(2**24) or ())


def test_the_map_is_drawn_moved_and_asked(page: Page) -> None:
    page.open("/map")
    page.run("for (const over of document.querySelectorAll('.zoom, .tip')) over.remove()")
    drawn(page)
    assert page.one("#map").get_attribute("data-ready") == "WebGL"
    page.until(lambda: seen_colors(page) > 20)
    page.open("/map")
    drawn(page)
    page.until(lambda: len(page.all("#middle a")) == 9)
    before = int(page.one("#map").get_attribute("data-drawn"))
    middle = [link.get_attribute("href") for link in page.all("#middle a")]
    page.one("#map").send_keys("+", "+", Keys.ARROW_LEFT, Keys.ARROW_LEFT, Keys.ARROW_LEFT)
    page.until(lambda: int(page.one("#map").get_attribute("data-drawn")) > before)
    page.until(lambda: [a.get_attribute("href") for a in page.all("#middle a")] != middle)
    page.one("[data-zoom='0']").click()
    page.until(lambda: [a.get_attribute("href") for a in page.all("#middle a")] == middle)


def test_a_point_tells_what_it_is_and_opens(page: Page) -> None:
    page.open("/map")
    drawn(page)
    place = [round(value) for value in page.driver.execute_async_script(PLACE)]
    ActionChains(page.driver).move_to_element_with_offset(page.one("#map"), *place).perform()
    page.until(lambda: page.one("#tip").is_displayed())
    told = page.text("#tip .fine")
    ActionChains(page.driver).click().perform()
    page.until(lambda: page.all("dialog article"))
    assert told.split(" · ")[1] in page.text("dialog .kind")
    page.press(Keys.ESCAPE)
    page.until(lambda: page.path == "/map")


def test_a_legend_picks_and_colors_change(page: Page) -> None:
    page.open("/map")
    drawn(page)
    names = [button.text.split("\n")[0] for button in page.all(".legend button")]
    assert {"fruit", "music", "weather", "travel"} <= set(names)
    page.all(".legend button")[0].click()
    assert page.all(".legend [aria-pressed=true]")
    Select(page.one("#color")).select_by_visible_text("year")
    assert page.text(".ends").split() == ["2000", "2047"]


def test_the_map_without_a_graphics_card(page: Page) -> None:
    made = page.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": NO_CARD})
    page.open("/map")
    drawn(page)
    assert page.one("#map").get_attribute("data-ready") == "Flat"
    assert page.until(lambda: page.run(INKED))
    page.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", made)


def test_fifty_thousand_points_move_smoothly(page: Page) -> None:
    made = page.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": MANY})
    page.open("/map")
    drawn(page)
    assert page.driver.execute_async_script(MOVED) < 500  # a frame, on two busy cores alone
    page.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", made)


def test_pairs_are_kept_and_flagged_for_good(page: Page, archive: Path) -> None:
    page.open("/explain/wrong")
    first, second = page.all(".pair")[:2]
    first.find_element("css selector", ".flag").click()
    page.until(lambda: first.get_attribute("data-mark") == "flag")
    second.find_element("css selector", ".keep").click()
    page.until(lambda: second.get_attribute("data-mark") == "keep")
    page.driver.refresh()
    assert [pair.get_attribute("data-mark") for pair in page.all(".pair")[:2]] == ["flag", "keep"]
    lines = next(archive.rglob("marks.jsonl")).read_text().splitlines()
    assert [json.loads(line)["verdict"] for line in lines[-2:]] == ["flag", "keep"]
    page.all(".pair .flag")[0].click()
    page.until(lambda: page.all(".pair")[0].get_attribute("data-mark") == "")
    assert page.one("a[download='marks.csv']").get_attribute("href").endswith("format=csv")


def test_weights_have_both_ends(page: Page) -> None:
    page.open("/explain/weights")
    assert "of the pairs" in page.text(".big-figures")
    assert {"Weigh most", "Weigh least"} <= {title.text for title in page.all("h3")}


def test_neighbors_and_two_runs_have_pages(page: Page) -> None:
    page.open("/explain/neighbors")
    assert "look alike" in page.text(".big-figures")
    assert len(page.all(".strip img")) >= 6
    page.open("/explain/against")
    assert "run-infonce against run-pvse" in page.text(".lead")
    assert page.all(".couple img")


def test_a_phone_shows_which_explanation_it_is(page: Page) -> None:
    page.look(PHONE)
    for name in ("wrong", "weights", "neighbors", "against"):
        page.open(f"/explain/{name}")
        tab = page.one(".tabs [aria-current]").rect
        assert 0 <= tab["x"] <= tab["x"] + tab["width"] <= PHONE[0], name


def test_the_map_says_whose_it_is(page: Page) -> None:
    page.open("/map?index=1")
    colors = [chip.value_of_css_property("background-color") for chip in page.all("#found .chip")]
    assert page.text("#found .chip[aria-current]") == "pvse"
    assert len(set(colors)) == 2


def test_other_pages_fit_a_phone(page: Page) -> None:
    page.look(PHONE)
    for path in ("/compare?q=harp", "/map", "/explain/wrong", "/explain/against"):
        page.open(path)
        assert page.run("return document.documentElement.scrollWidth") <= PHONE[0], path
