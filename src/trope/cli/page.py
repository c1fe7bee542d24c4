"""The page at the end of a job: opened for somebody who is there, else only named."""

from __future__ import annotations

import sys
from pathlib import Path

from trope.cli.output import say


def refuse_page(wanted: bool | None) -> None:
    """Better now than after training: a page that is asked for must be possible."""
    from trope.web.serving import refuse_missing

    if wanted:
        refuse_missing()


def open_page(index: Path, wanted: bool | None) -> None:
    """Serve an index and open a browser; without a wish, only where somebody sits at a terminal."""
    from trope.cli.serve import run
    from trope.web.serving import installed
    from trope.web.settings import ServeSettings

    attended = sys.stdin.isatty() and sys.stdout.isatty()
    if wanted or (wanted is None and attended and installed()):
        run((index,), ServeSettings(port=0), browse=attended)
    else:
        say(f"Open the page: trope serve {index}")
