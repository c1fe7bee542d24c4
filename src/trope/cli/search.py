"""`trope search`: ask an index in words and pictures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trope.cli.options import Json
from trope.cli.output import print_json, say, table
from trope.runtime import remark

if TYPE_CHECKING:
    from trope.search import Hit, Results

LONGEST = 90  # characters of a text in a table


def command(
    index: Annotated[Path, typer.Argument(help="The folder of an index.")],
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[WORDS]...", help="What to search for; of several, the average."),
    ] = None,
    image: Annotated[
        list[Path] | None,
        typer.Option("--image", metavar="FILE", help="A picture to search with; may be repeated."),
    ] = None,
    minus: Annotated[
        list[str] | None,
        typer.Option("--minus", metavar="WORDS", help="What to stay away from; may be repeated."),
    ] = None,
    minus_image: Annotated[
        list[Path] | None,
        typer.Option("--minus-image", metavar="FILE", help="The same with a picture."),
    ] = None,
    k: Annotated[int, typer.Option("-k", help="Hits of a page.")] = 10,
    page: Annotated[int, typer.Option("--page", help="Which page, from 1.")] = 1,
    find: Annotated[
        str | None,
        typer.Option("--find", help="image, text or both; by default what the query is not."),
    ] = None,
    where: Annotated[
        str | None,
        typer.Option("--where", metavar="FILTER", help="Such as \"year >= 2020 and group = 'a'\"."),
    ] = None,
    hubs: Annotated[
        str, typer.Option("--hubs", metavar="METHOD", help="qb-norm, inverted-softmax or nnn.")
    ] = "none",
    explain: Annotated[
        bool, typer.Option("--explain", help="Which senses matched, and what was learned from.")
    ] = False,
    rerank: Annotated[
        bool,
        typer.Option("--rerank/--no-rerank", help="Rank by the model's own scorer, if it has one."),
    ] = True,
    json: Json = False,
) -> None:
    """Find images by words, texts by an image, or either by both."""
    from trope.search import open_index

    asked: dict[str, Any] = {"minus": minus or (), "minus_image": minus_image or ()}
    asked |= {"k": k, "page": page, "find": find, "where": where, "hubs": hubs, "explain": explain}
    asked["rerank"] = rerank
    results = open_index(index).search(words or (), image or (), **asked)
    for text in results.remarks:
        remark(text)
    if json:
        print_json(results.document())
    else:
        show(results)


def show(results: Results) -> None:
    """Hits for people."""
    if not results.hits:
        why = "; no item passes the filter" if results.where and results.page == 1 else ""
        say(f"nothing found{why}")
        return
    likely = any(hit.match_probability is not None for hit in results.hits)
    rows = [
        [hit.rank, hit.score, *([_chance(hit)] if likely else []), hit.id, hit.image or "", said]
        for hit, said in ((hit, _short(hit.text)) for hit in results.hits)
    ]
    table("", ["", "score", *(["match"] if likely else []), "row", "image", "text"], rows)
    if results.spread is not None:
        say(f"spread of the query: {results.spread:.3g}", style="dim")
    for hit in results.hits:
        if hit.senses:
            say(f"{hit.rank}: sense {hit.senses[0]} of the query with sense {hit.senses[1]}")
        for near in hit.neighbors or ():
            said = f"“{_short(near.text)}” {near.image or ''}".strip()
            say(f"{hit.rank}: learned from {near.id} ({near.score:.3f} alike): {said}", style="dim")


def _chance(hit: Hit) -> str:
    return "" if hit.match_probability is None else f"{hit.match_probability:.3g}"


def _short(text: str | None) -> str:
    said = " ".join((text or "").split())
    return said if len(said) <= LONGEST else f"{said[: LONGEST - 1]}…"
