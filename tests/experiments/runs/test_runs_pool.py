"""Work in other processes: order, threads, and what a death does."""

from __future__ import annotations

import os

import pytest
import torch

from trope.errors import TropeError
from trope.experiments.runs.pool import SURROUNDINGS, shared_out


def threads(job: int) -> tuple[int, int]:
    return job, torch.get_num_threads()


def surroundings() -> dict[str, str | None]:
    return {name: os.environ.get(name) for name in SURROUNDINGS}


def started(job: int) -> tuple[int, int, dict[str, str | None]]:
    return *threads(job), surroundings()


def fall(job: int) -> int:
    if job == 2:
        os._exit(3)
    return job


def test_one_worker_works_here_with_one_thread() -> None:
    before = torch.get_num_threads()
    assert [found for _, found in shared_out(threads, [1, 2], 1)] == [(1, 1), (2, 1)]
    assert torch.get_num_threads() == before


def test_others_begin_with_one_thread_and_what_libraries_read_and_it_is_gone_after(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    before = surroundings()
    answers = dict(shared_out(started, [1, 2, 3], 2))
    assert answers == {job: (job, 1, SURROUNDINGS) for job in (1, 2, 3)}
    assert surroundings() == before
    assert before["OMP_NUM_THREADS"] == "7"


def test_a_worker_that_dies_is_told_with_what_it_may_have_been_doing() -> None:
    answers = shared_out(fall, [0, 1, 2, 3], 2)
    with pytest.raises(TropeError, match=r"died during .*2.*the same command goes on"):
        list(answers)
