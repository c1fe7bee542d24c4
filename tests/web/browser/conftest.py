"""One small archive, one server and one browser for all tests of the pages."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsing import DESKTOP, Page, browser, missing
from page_samples import QUICK, write
from web_samples import served

import trope
from trope.explain import (
    ExplainSettings,
    WrongSettings,
    explain,
    explain_against,
    explain_run,
    find_wrong,
)
from trope.training import train
from trope.web.service import Places, Service
from trope.web.settings import ServeSettings

EXPLAINED = ("wrong", "weights", "neighbors", "against")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One worker has the browser."""
    for item in items:
        if "driver" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("browser"))


@pytest.fixture(scope="session")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Data, two indexes of it by different models, and what `trope explain` says of both."""
    home = tmp_path_factory.mktemp("archive")
    data = trope.open(write(home / "data"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TROPE_CACHE", str(home / "cache"))
        for recipe in ("infonce", "pvse"):
            train(recipe, home / "data", home / f"run-{recipe}", sets=QUICK, quiet=True)
            trope.build_index(home / f"run-{recipe}", home / "data", home / recipe)
        find_wrong(data, home / "wrong", WrongSettings(space="doc2vec"))
        explain_run(home / "run-infonce", home / "weights")
        explain(data, home / "neighbors", ExplainSettings(k=3, pairs=2))
        explain_against(home / "run-infonce", home / "run-pvse", home / "against")
    return home


@pytest.fixture(scope="session")
def address(archive: Path) -> Iterator[str]:
    """Where the pages are served."""
    settings = ServeSettings(port=0, rate=0.0)
    explained = tuple(archive / name for name in EXPLAINED)
    service = Service(Places((archive / "infonce", archive / "pvse"), explained))
    with served(service, settings) as chosen:
        yield f"http://127.0.0.1:{chosen.port}"
    service.close()


@pytest.fixture(scope="session")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The browser; where there is none, a failure if it is required and a skip elsewhere."""
    if why := missing():
        required = os.environ.get("TROPE_BROWSER") == "required"
        (pytest.fail if required else pytest.skip)(f"no browser: {why}")
    with browser(tmp_path_factory.mktemp("browser") / "profile") as driver:
        yield driver


@pytest.fixture
def page(driver: Any, address: str) -> Iterator[Page]:
    """A page as a person with a desktop sees it; at its end the console has no complaint."""
    page = Page(driver, address)
    page.look(DESKTOP)
    yield page
    page.scripts(True)
    assert page.complaints() == []
