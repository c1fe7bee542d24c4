"""`make bench`: run the families, write `bench/latest.json` and the table the docs show."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import orjson

from bench import (
    daa,
    decoding,
    duplicates,
    evaluation,
    losses,
    neighbors,
    relevance,
    scorers,
    search,
    tables,
    training,
    web,
    weights,
)
from trope.files import replacing, write_json
from trope.runtime import provenance

HERE = Path(__file__).parent
LATEST = HERE / "latest.json"
PAGE = HERE.parent / "docs" / "results" / "bench.md"

Case = Callable[[bool], Mapping[str, Any]]

FAMILIES: dict[str, dict[str, Case]] = {
    "data": {
        "open-jsonl": tables.opening,
        "split": tables.splitting,
        "decode": decoding.measure,
        "near-duplicates": duplicates.measure,
    },
    "relevance": {
        "cider": relevance.cider,
        "cider-d": relevance.cider_d,
        "bleu": relevance.bleu,
        "bleu-coco": relevance.bleu_coco,
        "rouge": relevance.rouge,
    },
    "neighbors": {"exact": neighbors.exactly, "graph": neighbors.by_graph},
    "training": {f"loss-{name}": case for name, case in losses.CASES.items()} | training.CASES,
    "evaluation": evaluation.CASES,
    "weights": weights.CASES,
    "scorers": scorers.CASES,
    "daa": daa.CASES,
    "search": search.CASES,
    "web": web.CASES,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench")
    cases = [f"{family}/{name}" for family, found in FAMILIES.items() for name in found]
    parser.add_argument(
        "--only", nargs="+", metavar="CASE", choices=[*FAMILIES, *cases], help="families or cases"
    )
    parser.add_argument("--scale", choices=["default", "full"], default="default")
    chosen = parser.parse_args()
    results = orjson.loads(LATEST.read_bytes()) if LATEST.exists() else {}
    full = chosen.scale == "full"
    for case in cases:
        family, _, name = case.partition("/")
        if not chosen.only or {family, case} & set(chosen.only):
            print(f"{case} …", flush=True)
            found = dict(FAMILIES[family][name](full))
            results[case + ("/full" if full else "")] = found | {"made": provenance()}
            print(f"  ratio {found['ratio']:.2f} ({found['better']} is better) · {found['work']}")
            write_json(LATEST, results)
    _write_page(results)


def _write_page(results: Mapping[str, Mapping[str, Any]]) -> None:
    """The tables of the docs: both sides by side, then ours alone where it was tried larger."""
    lines = [
        "| case | work | ours | against | theirs | ratio | peak memory | made |",
        "|---|---|---:|---|---:|---:|---:|---|",
        *(_side_by_side(name, case) for name, case in sorted(results.items())),
    ]
    alone = {name: case for name, case in sorted(results.items()) if "full_size" in case}
    if alone:
        lines += ["", "| ours alone | size | time | peak memory | found | made |"]
        lines += ["|---|---:|---:|---:|---|---|", *(_alone(*item) for item in alone.items())]
    with replacing(PAGE, "w") as handle:
        handle.write("\n".join(lines) + "\n")


def _side_by_side(name: str, case: Mapping[str, Any]) -> str:
    memory = f"{case['peak_memory_mb']:,.0f} MB" if "peak_memory_mb" in case else ""
    return (
        f"| {name} | {case['work']} | {case['ours']:.2f} s | {case['against']} | "
        f"{case['theirs']:.2f} s | {case['ratio']:.2f} | {memory} | {_made(case)} |"
    )


def _alone(name: str, case: Mapping[str, Any]) -> str:
    whole = case["full_size"]
    found = f"{whole['recall']:.1%} of {whole['planted']:,} planted pairs"
    return (
        f"| {name} | {whole['texts']:,} texts | {whole['seconds']:.1f} s | "
        f"{whole['peak_memory_mb']:,.0f} MB | {found} | {_made(case)} |"
    )


def _made(case: Mapping[str, Any]) -> str:
    made = case["made"]
    return f"{made['date'][:10]}, {made['machine']}, {made['commit']}"


if __name__ == "__main__":
    main()
