"""The built wheel, in an environment that has no other copy of the package, finds all it needs."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import orjson
import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    build = [
        sys.executable,
        "-m",
        "build",
        "--wheel",
        "--no-isolation",
        "--outdir",
        str(out),
        str(ROOT),
    ]
    subprocess.run(build, check=True, capture_output=True)
    return next(out.glob("trope-*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new environment with the wheel in it; the dependencies are borrowed from this one."""
    home = tmp_path_factory.mktemp("environment")
    venv.create(home, with_pip=False)
    site = next(home.glob("lib/python*/site-packages"))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    # A path named in a .pth file is no site folder: its own .pth files, and with them an editable
    # install of this source tree, are not followed.
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return home / "bin" / "python"


def run(python: Path, folder: Path, *arguments: str) -> str:
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    environment["TROPE_CACHE"] = str(folder / "cache")
    done = subprocess.run(
        [str(python), "-m", "trope", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_data_file_is_in_the_wheel(wheel: Path) -> None:
    packed = set(zipfile.ZipFile(wheel).namelist())
    source = ROOT / "src"
    wanted = {
        str(path.relative_to(source))
        for path in (source / "trope").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert wanted - packed == set()
    assert any(name.startswith("trope/data/emblems/topics/") for name in packed)


def test_the_installed_wheel_is_the_one_that_runs(installed: Path, tmp_path: Path) -> None:
    code = "import trope; print(trope.__file__)"
    found = subprocess.run(
        [installed, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert Path(found.stdout.strip()).is_relative_to(installed.parents[1])
    assert run(installed, tmp_path, "--version").startswith("trope ")


def test_the_installed_wheel_makes_the_built_in_data(installed: Path, tmp_path: Path) -> None:
    run(installed, tmp_path, "demo", "--out", "out", "--set", "emblems.pairs=60")
    document = orjson.loads((tmp_path / "out" / "demo.json").read_bytes())
    assert document["statistics"]["rows"] == 60
    assert "coco" in {
        entry["name"] for entry in orjson.loads(run(installed, tmp_path, "formats", "--json"))
    }
