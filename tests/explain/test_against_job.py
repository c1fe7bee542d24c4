"""What two runs keep together: distances, ratios, page."""

from __future__ import annotations

import shutil
from itertools import pairwise
from pathlib import Path

import numpy as np
import orjson
import pytest
import torch
from page_reader import Page, check_alone
from run_samples import NEAR, trained, write

from trope.data.kept import FILE as SPLITS
from trope.data.pairs import Pairs
from trope.encoders.plan import Plan, Texts
from trope.errors import UsageError
from trope.explain.against import AgainstSettings, explain_against
from trope.explain.against.distances import anyone, distances, neighboring, ratios
from trope.explain.against.job import Placed, _kept, _names
from trope.training import weigh_run
from trope.views import Encoded


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Data and runs on it."""
    place = tmp_path_factory.mktemp("against")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TROPE_CACHE", str(place / ".cache"))
        write(place / "data")
        trained("neighborhoods", place / "data", place / "near", NEAR)
        trained("neighborhoods-triplet", place / "data", place / "plain", NEAR, seed=1)
    return place


def unit(random: np.random.Generator, *shape: int) -> torch.Tensor:
    return torch.nn.functional.normalize(torch.from_numpy(random.normal(size=shape)), dim=-1)


def test_distances_are_those_of_the_best_senses() -> None:
    random = np.random.default_rng(0)
    mean, points = unit(random, 6, 4), unit(random, 6, 3, 4)
    couples = np.array([[0, 1, 5, 2], [3, 4, 0, 2]])
    plain = distances(Encoded(mean), couples)
    best = distances(Encoded(mean, points), couples)
    for place, (i, j) in enumerate(couples.T.tolist()):
        assert plain[place] == pytest.approx(float((mean[i] - mean[j]).norm()), abs=1e-6)
        nearest = min(float((a - b).norm()) for a in points[i] for b in points[j])
        assert best[place] == pytest.approx(nearest, abs=1e-6)


def test_a_ratio_is_small_where_the_first_keeps_closer() -> None:
    found = ratios(np.array([0.5, 1.0, 0.0, 1.0]), np.array([1.0, 0.5, 1.0, 0.0]))
    assert found[:2].tolist() == [0.5, 2.0]
    assert np.isnan(found[2:]).all()


def test_neighbors_are_counted_once_whoever_is_whose() -> None:
    ids = np.array([[1, 2], [0, -1], [3, 0], [-1, -1]])
    random = np.random.default_rng(0)
    assert neighboring(ids, 99, random).T.tolist() == [[0, 1], [0, 2], [2, 3]]
    assert neighboring(ids, 2, random).shape == (2, 2)
    assert neighboring(np.full((3, 2), -1), 9, random).shape == (2, 0)
    left, right = anyone(5, 1_000, random)
    assert (left != right).all()
    assert set(np.unique(np.stack([left, right]))) == set(range(5))


def test_the_ends_are_the_smallest_and_largest_ratios(folder: Path, tmp_path: Path) -> None:
    settings = AgainstSettings(pairs=4)
    found, document = explain_against(
        folder / "near", folder / "plain", tmp_path / "out", settings=settings
    )
    one, other = weigh_run(folder / "near"), weigh_run(folder / "plain")
    names = one.pairs.ids
    place = {names[row]: i for i, row in enumerate(one.rows)}
    for side in ("image", "text"):
        kept = found.kept[side]
        every = neighboring(one.around, 10**9, np.random.default_rng(0))
        expected = [
            np.linalg.norm((run[i] - run[j]).numpy())
            for run in (getattr(one, side).mean, getattr(other, side).mean)
            for i, j in every.T
        ]
        far = np.array(expected).reshape(2, -1)
        ratio = far[0] / far[1]
        assert kept.couples == every.shape[1]
        assert kept.closer == pytest.approx((ratio < 1).mean())
        assert kept.median == pytest.approx(np.median(ratio), rel=1e-4)
        assert kept.near == pytest.approx(tuple(far.mean(axis=1)), rel=1e-4)
        for couples, best in ((kept.by_one, np.sort(ratio)), (kept.by_other, -np.sort(-ratio))):
            assert [couple.ratio for couple in couples] == pytest.approx(best[:4], rel=1e-4)
            for couple in couples:
                i, j = place[couple.left.id], place[couple.right.id]
                assert j in one.around[i] or i in one.around[j]
                assert couple.ratio == pytest.approx(couple.one / couple.other)
    assert document["kept"]["image"]["by_one"][0]["left"] == found.kept["image"].by_one[0].left.id
    assert orjson.loads((tmp_path / "out/against.json").read_bytes()) == orjson.loads(
        orjson.dumps(document)
    )


def test_the_other_order_is_the_other_end(folder: Path, tmp_path: Path) -> None:
    runs = folder / "near", folder / "plain"
    there, _ = explain_against(*runs, tmp_path / "there", settings=AgainstSettings(pairs=3))
    back, _ = explain_against(*runs[::-1], tmp_path / "back", settings=AgainstSettings(pairs=3))
    for side in ("image", "text"):
        one = [(c.left.id, c.right.id) for c in there.kept[side].by_one]
        other = [(c.left.id, c.right.id) for c in back.kept[side].by_other]
        assert one == other
        assert there.kept[side].closer == pytest.approx(1 - back.kept[side].closer, abs=1e-9)


def test_who_keeps_none_closer_has_none_to_show(folder: Path) -> None:
    """A space drawn together keeps any two closer, and that is told beside its neighbors."""
    run = weigh_run(folder / "plain")
    text = Encoded(run.text.mean)
    drawn = text.mean + 5 * torch.eye(text.mean.shape[1])[0]
    shrunk = Encoded(drawn / drawn.norm(dim=1, keepdim=True))
    couples = neighboring(run.around, 10**9, np.random.default_rng(0))
    placed = Placed(run.pairs, run.train, {"text": shrunk}, {"text": text})
    strangers = anyone(len(run.train), couples.shape[1], np.random.default_rng(1))
    kept = _kept(placed, "text", couples, strangers, 4)
    assert (kept.closer, kept.strangers) == (1.0, 1.0)
    assert len(kept.by_one) == 4
    assert kept.by_other == ()


def test_the_page_shows_couples_and_asks_nobody(folder: Path, tmp_path: Path) -> None:
    settings = AgainstSettings(split="test", pairs=3, sample=20)
    found, _ = explain_against(
        folder / "near", folder / "plain", tmp_path / "out", settings=settings
    )
    page = Page(tmp_path / "out/index.html")
    check_alone(page)
    shown = [len(end) for kept in found.kept.values() for end in (kept.by_one, kept.by_other)]
    assert len(page.attributes("img", "src")) == 2 * sum(shown)
    assert max(shown) == 3
    assert found.lead in page.text
    for kept in found.kept.values():
        for couple in (*kept.by_one, *kept.by_other):
            assert couple.note in page.text
        assert all(a.ratio <= b.ratio for a, b in pairwise(kept.by_one))


def test_other_splits_and_bad_input_are_told(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not compared with itself"):
        explain_against(folder / "near", folder / "near", tmp_path / "out")
    with pytest.raises(UsageError, match="nowhere"):
        explain_against(folder / "near", folder / "nowhere", tmp_path / "out")
    assert not (tmp_path / "out").exists()
    trained("angular", folder / "data", tmp_path / "anew", "split.again=true", "split.seed=7")
    found, _ = explain_against(folder / "near", tmp_path / "anew", tmp_path / "out")
    assert any("not trained on the same rows" in remark for remark in found.remarks)


def test_unknown_splits_are_told(folder: Path, tmp_path: Path) -> None:
    """A run that kept none would pass for one with the splits of the first."""
    known, _ = explain_against(folder / "near", folder / "plain", tmp_path / "known")
    assert not any("splits" in remark for remark in known.remarks)
    shutil.copytree(folder / "plain", tmp_path / "old")
    (tmp_path / "old" / SPLITS).unlink()
    runs = folder / "near", tmp_path / "old"
    found, _ = explain_against(*runs, tmp_path / "out", folder / "data")
    assert any("which rows it was trained on is not known" in remark for remark in found.remarks)
    assert "is not known" in Page(tmp_path / "out/index.html").text


def test_features_of_other_splits_are_not_computed(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[set[str]] = []
    texts = Plan.texts

    def told(plan: Plan, pairs: Pairs) -> Texts:
        asked.append(set(pairs.column("split").to_pylist()))
        return texts(plan, pairs)

    monkeypatch.setattr(Plan, "texts", told)
    settings = AgainstSettings(split="test")
    explain_against(folder / "near", folder / "plain", tmp_path / "out", settings=settings)
    assert asked == [{"test"}, {"test"}]


def test_runs_are_called_as_little_as_tells_them_apart() -> None:
    assert _names(Path("/a/one"), Path("/a/two")) == ("one", "two")
    assert _names(Path("/a/x/run"), Path("/a/y/run")) == ("x/run", "y/run")
