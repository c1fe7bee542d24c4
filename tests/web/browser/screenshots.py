"""Pictures of the pages for the docs: `python screenshots.py http://127.0.0.1:8600/ docs/images`.

The address is that of `trope serve` with two indexes of the Emblem Book and `--explain` folders.
"""

from __future__ import annotations

import io
import sys
import tempfile
from pathlib import Path
from time import sleep

from browsing import PHONE, Page, browser
from PIL import Image
from selenium.webdriver import ActionChains

SIZE = (1240, 800)
WORDS = "justice"
LARGEST = 300_000  # bytes of a picture
THERE = """
const seen = (image) => image.getBoundingClientRect().top < innerHeight;
return [...document.images].every((image) => image.complete || !seen(image));
"""
GAP = 24  # pixels between phones


def main(address: str, folder: Path) -> None:
    """Take and write all of them."""
    with tempfile.TemporaryDirectory() as scratch, browser(Path(scratch) / "profile") as driver:
        page = Page(driver, address.rstrip("/"))
        page.look(SIZE)
        write(folder / "search.png", search(page))
        write(folder / "page-item.png", opened(page))
        write(folder / "page-compare.png", shot(page, f"/compare?q={WORDS}"))
        write(folder / "page-explain.png", shot(page, "/explain"))
        write(folder / "page-map.png", mapped(page))
        write(folder / "page-phone.png", phones(page))


def shot(page: Page, path: str) -> Image.Image:
    """A page as it is when it has come to rest."""
    page.open(path)
    return taken(page)


def taken(page: Page) -> Image.Image:
    """What is seen now, once every picture in sight is there."""
    page.until(lambda: page.run(THERE))
    sleep(0.5)
    return Image.open(io.BytesIO(page.driver.get_screenshot_as_png())).convert("RGB")


def search(page: Page) -> Image.Image:
    """The page that a person sees first, with something asked."""
    page.open(f"/?q={WORDS}")
    page.run("document.activeElement.blur()")
    return taken(page)


def opened(page: Page) -> Image.Image:
    """A hit, opened large."""
    page.open(f"/?q={WORDS}")
    page.all("#found .hit a")[3].click()
    page.until(lambda: page.all("dialog article"))
    return taken(page)


def mapped(page: Page) -> Image.Image:
    """The map, with the pointer on a point."""
    page.open("/map")
    page.until(lambda: page.one("#map").get_attribute("data-ready"), 600)
    canvas = page.one("#map")
    for step in range(400):
        across, along = -330 + 9 * (step % 20), -200 + 9 * (step // 20)
        ActionChains(page.driver, 0).move_to_element_with_offset(canvas, across, along).perform()
        if page.run("return document.getElementById('map').classList.contains('on-point')"):
            break
    page.until(lambda: page.one("#tip").is_displayed() and page.all("#tip img, #tip .said"))
    return taken(page)


def phones(page: Page) -> Image.Image:
    """Three phones beside each other, one of them at night."""
    page.look(PHONE)
    seen = [shot(page, "/"), shot(page, f"/?q={WORDS}")]
    page.look(PHONE, dark=True)
    seen.append(shot(page, f"/item/image:{WORDS}-000?q={WORDS}"))
    wide, high = PHONE
    sheet = Image.new("RGB", (3 * wide + 2 * GAP, high), "#8b8f98")
    for place, one in enumerate(seen):
        sheet.paste(one, (place * (wide + GAP), 0))
    return sheet


def write(path: Path, image: Image.Image) -> None:
    """A picture in few enough colors to be small."""
    path.parent.mkdir(parents=True, exist_ok=True)
    few = image.quantize(256, Image.Quantize.MEDIANCUT)
    for dither in (Image.Dither.FLOYDSTEINBERG, Image.Dither.NONE):
        image.quantize(256, palette=few, dither=dither).save(path, optimize=True)
        if path.stat().st_size <= LARGEST:
            return
    raise SystemExit(f"{path}: larger than {LARGEST:,} bytes")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
