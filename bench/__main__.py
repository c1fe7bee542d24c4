"""`make bench`: run the families, write `bench/latest.json` and the table the docs show."""

from __future__ import annotations

import argparse
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import orjson

from bench import decoding, duplicates, tables
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
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench")
    parser.add_argument("--only", choices=FAMILIES, help="one family")
    parser.add_argument("--scale", choices=["default", "full"], default="default")
    chosen = parser.parse_args()
    results = orjson.loads(LATEST.read_bytes()) if LATEST.exists() else {}
    for family in [chosen.only] if chosen.only else FAMILIES:
        for name, case in FAMILIES[family].items():
            print(f"{family}/{name} …", flush=True)
            found = dict(case(chosen.scale == "full"))
            results[f"{family}/{name}"] = found | {"made": provenance() | {"commit": _commit()}}
            print(f"  ratio {found['ratio']:.2f} ({found['better']} is better) · {found['work']}")
            write_json(LATEST, results)
    _write_page(results)


def _commit() -> str:
    found = subprocess.run(
        ["git", "describe", "--always", "--dirty"],
        cwd=HERE,
        capture_output=True,
        text=True,
        check=False,
    )
    return found.stdout.strip() or "unknown"


def _write_page(results: Mapping[str, Mapping[str, Any]]) -> None:
    lines = [
        "| case | work | ours | against | theirs | ratio | peak memory | made |",
        "|---|---|---:|---|---:|---:|---:|---|",
    ]
    for name, case in sorted(results.items()):
        made, memory = case["made"], case.get("peak_memory_mb")
        where = f"{made['date'][:10]}, {made['machine']}, {made['commit']}"
        lines.append(
            f"| {name} | {case['work']} | {case['ours']:.2f} s | {case['against']} | "
            f"{case['theirs']:.2f} s | {case['ratio']:.2f} | "
            f"{f'{memory:,.0f} MB' if memory else ''} | {where} |"
        )
    with replacing(PAGE, "w") as handle:
        handle.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
