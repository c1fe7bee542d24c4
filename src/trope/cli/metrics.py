"""`trope metrics`: what is measured, and the paper each comes from."""

from __future__ import annotations

from trope.cli.options import Json
from trope.cli.output import print_json, table


def command(json: Json = False) -> None:
    """List the metrics that `trope evaluate` knows."""
    from trope.metrics import METRICS

    if json:
        print_json(
            [
                {
                    "name": name,
                    "reports": list(entry.names),
                    "about": entry.title,
                    "better": entry.better,
                    "needs": sorted(entry.needs),
                    "paper": entry.paper,
                }
                for name, entry in METRICS.items()
            ]
        )
        return
    rows = [[name, entry.title, entry.better, entry.paper] for name, entry in METRICS.items()]
    table("", ["metric", "what", "better", "from"], rows)
