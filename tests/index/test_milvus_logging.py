"""The client of Milvus configures logging when it is imported; ours is left as it was."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

import pytest

PROGRAM = """
import io, logging, logging.config

class Closing(logging.StreamHandler):
    def close(self):
        self.stream.close()
        super().close()

stream = io.StringIO()
logging.getLogger("mine").addHandler(Closing(stream))
configure = logging.config.dictConfig
from trope.errors import TropeError
from trope.index.milvus.server import connected
try:
    connected("http://127.0.0.1:1")
except TropeError as error:
    print(str(error).partition(": ")[0])
import sys
assert "pymilvus" in sys.modules
logging.getLogger("mine").warning("still heard")
print(stream.getvalue(), end="")
assert logging.config.dictConfig is configure
"""


@pytest.mark.skipif(find_spec("pymilvus") is None, reason="needs pymilvus")
def test_handlers_of_others_stay_open() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.stdout.splitlines() == ["milvus at http://127.0.0.1:1", "still heard"], done.stderr
    assert done.stderr == ""
