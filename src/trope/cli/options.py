"""Options that several commands share, declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

Config: TypeAlias = Annotated[
    Path | None, typer.Option("--config", metavar="FILE", help="Settings as TOML.")
]
Sets: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="K=V", help="Change a setting; may be given again."),
]
Json: TypeAlias = Annotated[
    bool, typer.Option("--json", help="One JSON document instead of tables.")
]
