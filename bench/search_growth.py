"""How search grows with the vectors, up to a million: `make bench` has no time for all sizes.

`python -m bench.search_growth [ROWS ...]` measures our engine and bare FAISS at each size, and flat
against graph at the small ones, in processes of their own. Results are written to
`bench/search_growth.json` as they come; what is there is not repeated. The docs' table and picture
are made from it, and the size from which a graph answers sooner than comparing with all vectors:
`flat` of `trope.index.settings.IndexSettings` is to be near to it.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any

import orjson

from bench.search import apart
from trope.files import write_json
from trope.reports.plots import Line, Panel, draw
from trope.runtime import provenance

SIZES = (2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 300_000, 1_000_000)
CROSSING = 50_000  # up to here flat and graph are both measured
FILE = Path(__file__).parent / "search_growth.json"
DOCS = Path(__file__).parents[1] / "docs" / "results"


def grow(sizes: list[int]) -> dict[str, dict[str, Any]]:
    """What is missing, part by part."""
    done: dict[str, dict[str, Any]] = orjson.loads(FILE.read_bytes()) if FILE.exists() else {}
    for rows in sizes:
        row = done.setdefault(str(rows), {})
        for part in ("faiss", *(["crossover"] if rows <= CROSSING else [])):
            if part not in row:
                print(f"{rows:,} vectors: {part} …", flush=True)
                row[part] = apart(part, rows) | {"made": provenance()}
                write_json(FILE, done)
    return done


def page(done: dict[str, dict[str, Any]]) -> str:
    """The table of the docs."""
    lines = [
        "| vectors | a query alone | bare FAISS | in batches | bare FAISS | recall@10 | built in "
        "| on disk | flat alone | graph alone | made |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|",
    ]
    for rows, found in sorted(done.items(), key=lambda item: int(item[0])):
        one, cross = found["faiss"], found.get("crossover")
        both = ("", "") if cross is None else (cross["ours_single"], cross["theirs_single"])
        spent = [one[f"{side}_{how}"] for how in ("single", "batch") for side in ("ours", "theirs")]
        cells = [f"{int(rows):,}", *map(_ms, spent), f"{one['recall']:.3f}"]
        cells += [f"{one['build']:,.1f} s", f"{one['bytes'] / 1e6:,.0f} MB", *map(_ms, both)]
        made = one["made"]
        cells.append(f"{made['date'][:10]}, {made['machine']}, {made['commit']}")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, "", *told(done)]) + "\n"


def told(done: dict[str, dict[str, Any]]) -> list[str]:
    """From which size on a graph is faster, in words."""
    sentences = []
    for how, title in (("single", "one by one"), ("batch", "in batches")):
        size = crossing(done, how)
        where = "at no size that was measured" if size is None else f"from {size:,} vectors on"
        sentences.append(f"Asked {title}, a graph is faster than comparing with all {where}.")
    return [" ".join(sentences)]


def crossing(done: dict[str, dict[str, Any]], how: str) -> int | None:
    """Where the times of flat and graph are equal, on a line between the two sizes around it."""
    sizes = sorted(int(rows) for rows, found in done.items() if "crossover" in found)
    parts = [done[str(size)]["crossover"] for size in sizes]
    gaps = [math.log(part[f"ours_{how}"] / part[f"theirs_{how}"]) for part in parts]
    for i, gap in enumerate(gaps):
        if gap > 0 and i == 0:
            return sizes[0]
        if gap > 0:
            share = -gaps[i - 1] / (gap - gaps[i - 1])
            return round(sizes[i - 1] * (sizes[i] / sizes[i - 1]) ** share)
    return None


def panels(done: dict[str, dict[str, Any]]) -> list[Panel]:
    """Time and recall by the number of vectors."""
    sizes = sorted(map(int, done))
    found = [done[str(size)]["faiss"] for size in sizes]
    names = {"one by one": "single", "in batches": "batch"}
    times = [
        Line(title, sizes, [one[f"ours_{name}"] * 1e3 for one in found])
        for title, name in names.items()
    ]
    bare = [
        Line(
            f"bare FAISS, {title}",
            sizes,
            [one[f"theirs_{name}"] * 1e3 for one in found],
            quiet=True,
        )
        for title, name in names.items()
    ]
    built = [Line("building, seconds", sizes, [one["build"] for one in found])]
    return [
        Panel("Time of a query", "vectors", "milliseconds", [*times, *bare], "log"),
        Panel("Building", "vectors", "seconds", built, "log"),
    ]


def _ms(seconds: float | str) -> str:
    return seconds if isinstance(seconds, str) else f"{seconds * 1e3:.3f} ms"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m bench.search_growth")
    parser.add_argument("rows", type=int, nargs="*", default=list(SIZES))
    found = grow(parser.parse_args().rows)
    (DOCS / "search.md").write_text(page(found), encoding="utf-8")
    draw(panels(found), DOCS / "search")
    (DOCS / "search.png").unlink()  # the docs show the other
    print(*told(found))
