"""What scorers need of items, beside their vectors: kept as it was given, through every change."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from index_samples import SIZE, details, items, unit

from trope.errors import UsageError
from trope.index import Engine, open_engine
from trope.index.compared import details_of, encoded_from
from trope.index.details import Kind, one_after_another
from trope.index.folder import read_state
from trope.maths import normalize
from trope.views import Encoded

Make = Callable[..., Engine]


@pytest.mark.parametrize("kind", ["locals", "log_sigma"])
def test_details_stay_with_their_items(make: Make, tmp_path: Path, kind: Kind) -> None:
    index, folder = make(details=kind), tmp_path / "index"
    wanted: dict[str, np.ndarray] = {}
    for step, (count, start) in enumerate([(20, 0), (5, 18), (9, 40)]):  # two are replaced
        ids, vectors, rows = items(count, seed=step, start=start)
        more = details(count, seed=step, kind=kind)
        index.add(ids, vectors, rows, details=more)
        wanted |= dict(zip(ids, more.rows(), strict=True))
        expect(folder, wanted)
    for gone in (1, 20):  # a mark, then files written anew
        ids = list(wanted)[:gone]
        index.remove(ids)
        wanted = {name: rows for name, rows in wanted.items() if name not in ids}
        expect(folder, wanted)
    files = [file for part in read_state(folder).parts.values() for file in part.files.values()]
    left = [len(np.load(folder / file.name)) for file in files if file.name.endswith(".segment")]
    assert left == [sum(map(len, wanted.values()))]  # nothing of what was removed
    index.close()


def expect(folder: Path, wanted: dict[str, np.ndarray]) -> None:
    names, index = sorted(wanted), open_engine(folder)
    found = index.get(names).details
    index.close()
    assert found is not None
    for rows, name in zip(found.rows(), names, strict=True):
        np.testing.assert_array_equal(rows, wanted[name])


def test_both_modalities_in_one_call(make: Make) -> None:
    index = make(details="locals")
    images, texts = items(6), items(4, seed=5, kind="text")
    both = details(6).with_items(details(4, seed=5))
    vectors = np.concatenate([images[1], texts[1]])
    ids = [*images[0], *texts[0]]
    index.add(ids, vectors, pa.concat_tables([images[2], texts[2]]), details=both)
    order = [7, 0, 9, 3]
    found = index.get([ids[i] for i in order]).details
    assert found is not None
    for rows, i in zip(found.rows(), order, strict=True):
        np.testing.assert_array_equal(rows, both.rows()[i])
    index.close()


@given(st.integers(0, 2**31))
def test_parts_come_back_as_the_model_gave_them(seed: int) -> None:
    random = np.random.default_rng(seed)
    counts = random.integers(0, 5, 6)
    present = torch.arange(max(int(counts.max()), 1)) < torch.from_numpy(counts)[:, None]
    parts = normalize(torch.from_numpy(random.standard_normal((*present.shape, SIZE)))).float()
    mean = unit(random, 6, SIZE)
    given = Encoded(torch.from_numpy(mean), locals=parts * present[:, :, None], present=present)
    rows, sizes = details_of(given, "locals")
    found = encoded_from(one_after_another("locals", [rows], sizes), mean)
    assert found.present is not None
    assert torch.equal(found.present, present)
    torch.testing.assert_close(found.locals, given.locals, atol=3e-5, rtol=0)
    half = given.locals.half().float()  # type: ignore[union-attr]
    ours, theirs = ((some - given.locals).square().sum() for some in (found.locals, half))
    assert ours <= theirs / 4


def test_spreads_come_back_as_they_were() -> None:
    random = np.random.default_rng(0)
    mean, log_sigma = unit(random, 4, SIZE), random.standard_normal((4, SIZE)).astype(np.float32)
    given = Encoded(torch.from_numpy(mean), log_sigma=torch.from_numpy(log_sigma))
    rows, counts = details_of(given, "log_sigma")
    found = one_after_another("log_sigma", [rows], counts)
    again = encoded_from(found.take(np.array([2, 0])), mean[[2, 0]])
    np.testing.assert_array_equal(again.log_sigma, log_sigma[[2, 0]])


def test_items_without_what_others_have_are_refused(make: Make) -> None:
    index = make(name="with", details="locals")
    with pytest.raises(UsageError, match="vectors alone for an index of items with locals"):
        index.add(*items(3))
    with pytest.raises(UsageError, match="items with log_sigma for an index of items with locals"):
        index.add(*items(3), details=details(3, kind="log_sigma"))
    plain = make(name="without")
    with pytest.raises(UsageError, match="items with locals for an index of items with vectors"):
        plain.add(*items(3), details=details(3))
    assert plain.count("image") == index.count("image") == 0
    plain.close()
    index.close()
