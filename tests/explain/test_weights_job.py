"""What the training pairs of a run weigh: figures, page and tables."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import orjson
import pyarrow.parquet
import pytest
from page_reader import Page, check_alone
from run_samples import NEAR, trained, write
from scipy import stats

from trope.errors import UsageError
from trope.explain.weights import WeightsSettings, explain_run
from trope.explain.weights.findings import Spread, spearman
from trope.explain.weights.plot import BINS, density, quantiles
from trope.training import weigh_run
from trope.weights import effective

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Data and two runs: one that was trained with a weight, one without."""
    place = tmp_path_factory.mktemp("weights")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TROPE_CACHE", str(place / ".cache"))
        write(place / "data", texts=2)
        trained("neighborhoods", place / "data", place / "plain", NEAR)
        weight = 'weight={name = "ess", share = 0.6}'
        trained("angular", place / "data", place / "weighed", NEAR, weight)
        trained("pcme", place / "data", place / "spread")
    return place


def test_a_run_without_a_weight_is_shown_with_both(folder: Path, tmp_path: Path) -> None:
    found, document = explain_run(folder / "plain", tmp_path / "out", settings=WeightsSettings(4))
    assert [one.name for one in found.weightings] == ["diversity", "discrepancy"]
    assert document["pairs"] == found.count == 96  # 48 training rows with two texts
    for name in ("diversity", "discrepancy"):
        known = weigh_run(folder / "plain", None, {"name": name})
        scores, alpha = known.weighed.scores, known.weighed.alpha
        weights = known.weighed.weights
        measure = found.measures[name]
        assert measure["image"] == Spread.of(scores[name][0])
        assert measure["text"].mean == pytest.approx(scores[name][1].mean())
        gap = np.abs(alpha[name][0] - alpha[name][1])
        assert measure["difference"].deviation == pytest.approx(gap.std())
        (one,) = [one for one in found.weightings if one.name == name]
        np.testing.assert_allclose(one.weights, weights)
        assert one.ess == pytest.approx(weights.sum() ** 2 / (96 * (weights**2).sum()))
        assert one.largest == pytest.approx(weights.max() / weights.mean())
    left, right = (found.table.column(f"{name} difference").to_numpy() for name in found.measures)
    rank = stats.spearmanr(left, right).statistic
    assert document["spearman"]["difference"] == pytest.approx(rank)


def test_the_weight_of_a_run_is_the_one_shown(folder: Path, tmp_path: Path) -> None:
    found, document = explain_run(folder / "weighed", tmp_path / "out")
    assert [one["name"] for one in document["weights"]] == ["ess"]
    assert found.weightings[0].ess == pytest.approx(0.6, abs=1e-3)
    asked = WeightsSettings(weight={"name": "discrepancy", "scale": 20.0})
    other, _ = explain_run(folder / "weighed", tmp_path / "asked", settings=asked)
    assert [one.name for one in other.weightings] == ["discrepancy"]
    with pytest.raises(UsageError, match="looks at no neighbors"):
        explain_run(
            folder / "plain", tmp_path / "no", settings=WeightsSettings(weight={"name": "rank"})
        )
    assert not (tmp_path / "no").exists()


def test_the_page_has_both_ends_and_asks_nobody(folder: Path, tmp_path: Path) -> None:
    found, document = explain_run(folder / "plain", tmp_path / "out", settings=WeightsSettings(5))
    page = Page(tmp_path / "out/index.html")
    check_alone(page)
    names = page.attributes("img", "src")
    assert names[0] == "weights.svg"
    assert len(names) == 1 + 2 * (5 + 5)
    table = pyarrow.parquet.read_table(tmp_path / "out/weights.parquet").to_pylist()
    for one in document["weights"]:
        order = sorted(table, key=lambda row: -row[f"weight {one['name']}"])
        assert one["highest"] == [row["id"] for row in order[:5]]
        assert set(one["lowest"]) == {row["id"] for row in order[-5:]}
    for one in found.weightings:
        for card in (*one.highest, *one.lowest):
            assert card.text in page.text
            assert card.id in page.text
    assert "effective sample size" in page.text
    assert orjson.loads((tmp_path / "out/weights.json").read_bytes()) == orjson.loads(
        orjson.dumps(document)
    )


def test_the_text_that_is_shown_is_the_one_that_weighs(folder: Path, tmp_path: Path) -> None:
    found, _ = explain_run(folder / "plain", tmp_path / "out", settings=WeightsSettings(48))
    texts = {}
    for line in (folder / "data/pairs.jsonl").read_text(encoding="utf-8").splitlines():
        row = orjson.loads(line)
        texts |= {(row["id"], i): text for i, text in enumerate(row["texts"])}
    one = found.weightings[0]
    rows = found.table.to_pylist()
    order = np.argsort(-one.weights, kind="stable")
    for card, place in zip(one.highest, order, strict=False):
        assert card.text == texts[rows[place]["id"], rows[place]["number"]]
        assert card.text == rows[place]["text"]
        assert card.id == rows[place]["id"]


def test_a_run_that_knew_no_neighborhood_is_shown_with_one(folder: Path, tmp_path: Path) -> None:
    trained("structure-gt", folder / "data", tmp_path / "texts")
    assert explain_run(tmp_path / "texts", tmp_path / "out")[1]["neighbors"].endswith("doc2vec")
    trained("structure-gt", folder / "data", tmp_path / "own", "weight.name=diversity")
    _, document = explain_run(tmp_path / "own", tmp_path / "other")
    assert document["neighbors"] == "1 other texts of the same picture"


def test_rank_correlation_is_that_of_scipy() -> None:
    random = np.random.default_rng(0)
    for _ in range(20):
        left, right = (
            random.integers(0, 6, 30).astype(float),
            random.integers(0, 6, 30).astype(float),
        )
        assert spearman(left, right) == pytest.approx(stats.spearmanr(left, right).statistic)
    assert spearman(left, left) == pytest.approx(1)
    assert spearman(left, -left) == pytest.approx(-1)
    assert np.isnan(spearman(left, np.ones(30)))


def test_a_density_covers_nearly_all_and_quantiles_rise() -> None:
    values = np.random.default_rng(0).exponential(size=2_000)
    x, y = density(values, {"a": values, "b": values / 2})
    assert len(x) == BINS
    assert sum(y) * (x[1] - x[0]) == pytest.approx(0.995, abs=1e-3)
    assert density(np.zeros(5), {"a": np.zeros(5)})[1][0] > 0  # all equal: one bar
    shares, levels = quantiles(values)
    assert (shares[0], shares[-1]) == (0, 1)
    assert (levels[0], levels[-1]) == (values.min(), values.max())
    assert levels == sorted(levels)


def test_even_weights_count_as_all_pairs() -> None:
    assert effective(np.ones(7)) == 1
    with pytest.raises(ValueError, match="pairs must be at least 1"):
        WeightsSettings(pairs=0)


def test_a_run_of_distributions_tells_what_it_is_certain_of(folder: Path, tmp_path: Path) -> None:
    """Images once, though they have two texts; the same numbers as the model's own."""
    found, document = explain_run(folder / "spread", tmp_path / "out", settings=WeightsSettings(3))
    known = weigh_run(folder / "spread")
    assert known.image.log_sigma is not None
    assert known.text.log_sigma is not None
    images, texts = found.certainties
    assert (images.count, texts.count) == (48, 96)
    spread = known.text.log_sigma.double().exp().square().sum(dim=1).sqrt().numpy()
    order = np.argsort(spread)
    told = known.pairs.flat_texts()[0].to_pylist()
    for cards, chosen in ((texts.most, order[:3]), (texts.least, order[::-1][:3])):
        assert [one.text for one in cards] == [told[known.train.texts[i]] for i in chosen]
        assert [one.note for one in cards] == [f"spread {spread[i]:.3f}" for i in chosen]
    assert texts.mean == pytest.approx(float(spread.mean()), abs=1e-5)
    assert len({one.id for one in images.most}) == 3
    assert [one["side"] for one in document["certainty"]] == ["images", "texts"]
    told_spreads = [one["spread"] for one in document["certainty"][1]["least"]]
    np.testing.assert_allclose(told_spreads, spread[order[::-1][:3]], rtol=1e-5)
    page = (tmp_path / "out" / "index.html").read_text()
    for words in ("Most certain images", "Least certain texts", texts.least[0].note):
        assert words in page
    table = pyarrow.parquet.read_table(tmp_path / "out" / "weights.parquet")
    np.testing.assert_allclose(table.column("spread text").to_numpy(), spread, atol=1e-5)


def test_a_run_of_points_says_nothing_of_certainty(folder: Path, tmp_path: Path) -> None:
    found, document = explain_run(folder / "plain", tmp_path / "out", settings=WeightsSettings(2))
    assert found.certainties == ()
    assert document["certainty"] == []
    assert "certain" not in (tmp_path / "out" / "index.html").read_text()
