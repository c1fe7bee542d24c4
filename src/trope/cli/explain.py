"""`trope explain`: a data set, the weights of a run, two runs, or pairs that look wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

import trope
from trope import config
from trope.cli.options import Config, Json, Sets
from trope.cli.output import print_json, say, table
from trope.errors import UsageError

if TYPE_CHECKING:
    from trope.data.pairs import Pairs
    from trope.explain.weights.findings import Spread

LISTED = 10  # pairs in the terminal

T = TypeVar("T")
Document = dict[str, Any]


@dataclass(frozen=True)
class Asked:
    """What every kind of page takes: data, a new folder, settings; and whether it is to be told."""

    data: Path | None
    out: Path
    config: Path | None
    sets: Sequence[str]
    quiet: bool

    def settings(self, kind: type[T]) -> T:
        """The settings of a kind of page."""
        return config.load(kind, self.config, self.sets)


def command(
    out: Annotated[Path, typer.Option("--out", help="A new folder for the page.")],
    run: Annotated[
        Path | None, typer.Argument(metavar="RUN", help="A finished run; without, the data.")
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option("--data", help="Image-text pairs; by default what the run was trained on."),
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option("--against", metavar="RUN", help="What each of two runs keeps closest."),
    ] = None,
    wrong: Annotated[
        bool, typer.Option("--wrong", help="Pairs whose picture and text support each other least.")
    ] = False,
    ids: Annotated[
        list[str] | None,
        typer.Option("--pair", metavar="ID", help="A pair to explain; may be given again."),
    ] = None,
    k: Annotated[
        int | None,
        typer.Option("-k", help="Neighbors of each pair.", show_default="12; 10 for --wrong"),
    ] = None,
    space: Annotated[
        str | None,
        typer.Option("--space", help="doc2vec or sentence: where texts are compared."),
    ] = None,
    recall: Annotated[
        bool, typer.Option("--recall", help="Measure HNSW neighbors against exact ones.")
    ] = False,
    json: Json = False,
    config_file: Config = None,
    sets: Sets = None,
) -> None:
    """Show pairs with their neighbors, what pairs of a run weigh, or which pairs look wrong."""
    given = {"k": k, "space": space}
    changes = [f"{name}={value}" for name, value in given.items() if value is not None]
    asked = Asked(data, out, config_file, [*(sets or ()), *changes], quiet=json)
    _refuse(run, data, against, wrong)
    if wrong:
        _without({"--pair": ids, "--recall": recall}, "--wrong")
        document = _wrong(run, asked)
    elif run is not None:
        options = {"--pair": ids, "--recall": recall, "-k": k, "--space": space}
        _without(options, "a run, whose neighbors are its own")
        document = _weights(run, asked) if against is None else _against(run, against, asked)
    else:
        document = _meaning(asked, ids or (), recall=recall)
    if json:
        print_json(document)


def _refuse(run: Path | None, data: Path | None, against: Path | None, wrong: bool) -> None:
    if run is None and data is None:
        raise UsageError("explain: name a run, or data with --data")
    if against is not None and wrong:
        raise UsageError("--wrong and --against are two pages: leave one of them out")
    if against is not None and run is None:
        raise UsageError("--against compares a run with another: trope explain RUN --against RUN")


def _without(options: Mapping[str, object], what: str) -> None:
    for name, value in options.items():
        if value not in (None, False):
            raise UsageError(f"{name} does not go with {what}")


def _meaning(asked: Asked, ids: Sequence[str], *, recall: bool) -> Document:
    from trope.explain import ExplainSettings, explain

    settings = asked.settings(ExplainSettings)
    found, document = explain(_open(asked.data), asked.out, settings, ids, recall=recall)
    if asked.quiet:
        return document
    say(f"{found.data}, texts in the space {found.space}. {found.lead}", style="bold")
    say(found.rule, style="dim")
    if found.agree:
        name, agree = found.agree
        say(f"{agree.value:.1%} of them agree in {name}, {agree.chance:.1%} by chance")
    if found.recall_line:
        say(found.recall_line)
    _remarks(found.remarks)
    if rows := [[pair.id, len(pair.neighbors), pair.alike] for pair in found.pairs]:
        table("", ["pair", "neighbors", "look alike"], rows)
    say(f"The page: {asked.out / 'index.html'}; its numbers: {asked.out / 'neighbors.json'}")
    return document


def _weights(run: Path, asked: Asked) -> Document:
    from trope.explain import WeightsSettings, explain_run

    settings = asked.settings(WeightsSettings)
    found, document = explain_run(run, asked.out, asked.data, settings)
    if asked.quiet:
        return document
    say(f"{found.run}, {found.count:,} training pairs. {found.lead}", style="bold")
    _remarks(found.remarks)
    kinds = {"image": "images", "text": "texts", "difference": "|alpha_X - alpha_Y|"}
    rows = [
        [words, *(_spread(known[kind]) for known in found.measures.values())]
        for kind, words in kinds.items()
    ]
    table("", ["mean ± deviation", *found.measures], rows)
    ranks = ", ".join(f"{words} {found.correlations[kind]:.3f}" for kind, words in kinds.items())
    say(f"Spearman's correlation of the two: {ranks}")
    for one in found.certainties:
        ends = [f"'{cards[0].id}' ({cards[0].note})" for cards in (one.most, one.least) if cards]
        say(f"Most and least certain of {one.count:,} {one.side}: {', '.join(ends)}")
    say(f"The page: {asked.out / 'index.html'}; its numbers: {asked.out / 'weights.json'}")
    return document


def _against(run: Path, against: Path, asked: Asked) -> Document:
    from trope.explain import AgainstSettings, explain_against

    settings = asked.settings(AgainstSettings)
    found, document = explain_against(run, against, asked.out, asked.data, settings)
    if asked.quiet:
        return document
    say(found.lead, style="bold")
    _remarks(found.remarks)
    rows = [
        [
            f"{side}s",
            known.couples,
            known.closer,
            known.strangers,
            known.median,
            *known.near,
            *known.any,
        ]
        for side, known in found.kept.items()
    ]
    columns = [
        "", "couples", "closer", "any two closer", "median ratio",
        "apart", "theirs", "any two", "theirs",
    ]  # fmt: skip
    table("", columns, rows)
    say(f"The page: {asked.out / 'index.html'}; its numbers: {asked.out / 'against.json'}")
    return document


def _wrong(run: Path | None, asked: Asked) -> Document:
    from trope.explain.wrong import WrongSettings, find_wrong, of_run

    settings = asked.settings(WrongSettings)
    if run is None:
        found, document = find_wrong(_open(asked.data), asked.out, settings)
    else:
        pairs, settings, remarks = of_run(run, asked.data, settings)
        found, document = find_wrong(pairs, asked.out, settings, remarks)
    if asked.quiet:
        return document
    say(f"{found.name}: {found.usable:,} pairs, those that look wrongest first", style="bold")
    _remarks(found.remarks)
    rows = [[pair.rank, pair.id, pair.score, pair.why] for pair in found.shown[:LISTED]]
    table("", ["", "pair", "score", "why"], rows)
    say(f"The page: {asked.out / 'index.html'}; all pairs in order: {asked.out / 'wrong.csv'}")
    return document


def _open(data: Path | None) -> Pairs:
    assert data is not None  # refused without a run
    return trope.open(data)


def _spread(spread: Spread) -> str:
    return f"{spread.mean:.3f} ± {spread.deviation:.3f}"


def _remarks(remarks: tuple[str, ...]) -> None:
    for text in remarks:
        say(text, style="yellow")
