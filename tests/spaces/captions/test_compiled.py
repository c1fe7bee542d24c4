from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pytest

from trope.spaces.captions import compiled


@pytest.mark.parametrize("rows", [0, 1, 63, 64, 65, 1_000])
@pytest.mark.parametrize("cores", [1, 2, 7])
def test_every_row_is_worked_on_once(
    rows: int, cores: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled, "cores", lambda: cores)
    visits = np.zeros(rows, int)

    def work(first: int, last: int) -> None:
        visits[first:last] += 1

    compiled.spread(rows, work)
    assert (visits == 1).all()


def test_an_error_in_a_thread_is_not_lost() -> None:
    def work(first: int, last: int) -> None:
        raise ValueError("of a part")

    with pytest.raises(ValueError, match="of a part"):
        compiled.spread(500, work)


def test_nowhere_to_keep_compiled_code(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def njit(**options: bool) -> Callable[[Any], Any]:
        asked.append(options)
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        return lambda function: function

    monkeypatch.setattr(numba, "njit", njit)
    double = compiled.compiled(lambda x: 2 * x)
    assert double(4) == 8
    assert asked == [{"cache": True, "nogil": True}, {"nogil": True}]
