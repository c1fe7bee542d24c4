"""Speaking with a Milvus server: who connects, and what goes wrong on the way, as one line."""

from __future__ import annotations

import logging
import logging.config
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from trope.errors import MissingExtra, TropeError

TOKEN = "TROPE_MILVUS_TOKEN"  # what the server wants to be told; never written to a file


def connected(uri: str) -> Any:
    """A client of the server."""
    if find_spec("pymilvus") is None:
        raise MissingExtra("engine 'milvus'", "milvus")
    with told(uri):
        package = client_package()
        return package.MilvusClient(uri=uri, token=os.environ.get(TOKEN, ""), timeout=30)


def client_package() -> Any:
    """The client's package, imported without harm to the logging of the process.

    It configures logging when it is imported, which closes every handler that there is; some close
    what they write to, be it the standard error of before.
    """
    before = logging.config.dictConfig
    logging.config.dictConfig = lambda config: None
    try:
        package = import_module("pymilvus")
    finally:
        logging.config.dictConfig = before
    logging.getLogger("pymilvus").setLevel(logging.CRITICAL)  # errors are raised, and told
    return package


@contextmanager
def told(uri: str) -> Iterator[None]:
    """What the server or the way to it comes up with, as one line."""
    try:
        yield
    except TropeError:
        raise
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in ("pymilvus", "grpc"):
            raise
        raise TropeError(f"milvus at {uri}: {_reason(error)[:300]}") from None


def _reason(error: Exception) -> str:
    """The line that says what happened; those of gRPC come with a page around it."""
    text = (str(getattr(error, "message", "")) or str(error)).strip()
    inside = re.search(r'details = "(.+?)"\s*$', text, flags=re.M)
    lines = [inside[1]] if inside else text.splitlines()
    return lines[0] if lines else repr(error)
