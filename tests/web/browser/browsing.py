"""A browser to look at pages with: Debian's Chromium, driven by selenium."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import getsource
from pathlib import Path
from time import monotonic, sleep
from typing import Any

BROWSER, DRIVER = "/usr/bin/chromium", "/usr/bin/chromedriver"
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--enable-unsafe-swiftshader",  # WebGL without a graphics card
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--force-color-profile=srgb",
    "--hide-scrollbars",
    "--lang=en-US",
)
IDS = "return [...document.querySelectorAll('#found .hit .id')].map(e => e.textContent)"
DRIVER_TALK = "GL Driver Message"  # of drawing without a graphics card, about its own speed
DESKTOP, PHONE = (1360, 900), (390, 844)


try:
    from selenium import webdriver
    from selenium.common.exceptions import WebDriverException
    from selenium.webdriver import ActionChains
except ImportError:
    webdriver = None


def missing() -> str:
    """What a browser test lacks on this machine; nothing where it can run."""
    for program in (BROWSER, DRIVER):
        if not Path(program).exists():
            return f"{program} is not installed (apt-get install chromium chromium-driver)"
    return "" if webdriver else "selenium is not installed"


@contextmanager
def browser(profile: Path) -> Iterator[Any]:
    """A browser with a new profile, which goes with it."""
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.ChromeService(DRIVER, log_output=os.devnull)
    driver = webdriver.Chrome(options, service)
    try:
        yield driver
    finally:
        driver.quit()
        shutil.rmtree(profile, ignore_errors=True)


class Page:
    """What a person does with a page, and sees of it."""

    def __init__(self, driver: Any, address: str) -> None:
        self.driver, self.address = driver, address

    def look(self, size: tuple[int, int], dark: bool = False) -> None:
        """From a screen of a size, by day or by night."""
        phone = size == PHONE
        screen = {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": phone}
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._tell("Emulation.setDeviceMetricsOverride", screen)
        self._tell("Emulation.setEmulatedMedia", {"features": [scheme]})

    def scripts(self, run: bool) -> None:
        """Let scripts run, or not."""
        self._tell("Emulation.setScriptExecutionDisabled", {"value": not run})

    def open(self, path: str) -> None:
        """Go to a page, with nothing left of earlier ones."""
        self.driver.get(self.address + path)

    @property
    def path(self) -> str:
        """Where we are."""
        return str(self.driver.current_url).removeprefix(self.address)

    def all(self, selector: str) -> list[Any]:
        """Everything that fits a selector."""
        return list(self.driver.find_elements("css selector", selector))

    def one(self, selector: str) -> Any:
        """The only thing that fits, waited for."""
        return self.until(lambda: self.all(selector)[0] if self.all(selector) else None)

    def text(self, selector: str) -> str:
        """What stands there."""
        return str(self.one(selector).text)

    def until(self, seen: Callable[[], Any], seconds: float = 15) -> Any:
        """Wait until something is so."""
        end = monotonic() + seconds
        while True:
            try:
                if found := seen():
                    return found
            except WebDriverException:  # the page changed while we looked
                pass
            assert monotonic() < end, f"not seen on {self.path}: {getsource(seen).strip()}"
            sleep(0.02)

    def press(self, *keys: str) -> None:
        """Press keys wherever the focus is."""
        ActionChains(self.driver).send_keys(*keys).perform()

    def run(self, script: str, *given: Any) -> Any:
        """Run a script in the page."""
        return self.driver.execute_script(script, *given)

    def hits(self) -> list[str]:
        """The ids of what was found, in order."""
        return list(
            self.run(
                "return [...document.querySelectorAll('#found .hit .id')].map(e => e.textContent)"
            )
        )

    def complaints(self) -> list[str]:
        """What the console has to complain about since we last asked."""
        said = [entry["message"] for entry in self.driver.get_log("browser")]
        return [message for message in said if DRIVER_TALK not in message]

    def _tell(self, command: str, values: dict[str, Any]) -> None:
        self.driver.execute_cdp_cmd(command, values)
