"""Numbers about the server in Prometheus' text format."""

from __future__ import annotations

import os
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from trope.web.service import Service

BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1.0, 2.5, 10.0)  # seconds
METHODS = frozenset(["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"])


class Metrics:
    """Counts since the start."""

    def __init__(self) -> None:
        self.running = self.refused = 0
        self._started, self._lock = time.time(), threading.Lock()
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._within: dict[str, list[int]] = defaultdict(lambda: [0] * (len(BOUNDS) + 1))
        self._seconds: dict[str, float] = defaultdict(float)

    def note(self, route: str, method: str, status: int, seconds: float) -> None:
        """One request is answered."""
        place = next((i for i, bound in enumerate(BOUNDS) if seconds <= bound), len(BOUNDS))
        with self._lock:
            self._requests[route, method if method in METHODS else "OTHER", status] += 1
            self._within[route][place] += 1
            self._seconds[route] += seconds

    def text(self, service: Service) -> str:
        """All of it, as it is read by machines."""
        with self._lock:
            lines = [*self._counted(), *self._timed()]
        lines += _gauge("trope_requests_running", "Requests being answered.", self.running)
        lines += _counter("trope_requests_refused_total", "Refused by rate.", self.refused)
        lines += _gauge("trope_start_time_seconds", "When the server started.", self._started)
        lines += _gauge("trope_resident_memory_bytes", "Memory in use.", resident())
        lines += _gauge("trope_uploads", "Pictures kept to search with.", len(service.uploads))
        lines += _gauge("trope_marks", "Items that are marked.", len(service.marks()))
        return "\n".join([*lines, *_indexes(service), ""])

    def _counted(self) -> Iterator[str]:
        yield from _head("trope_requests_total", "counter", "Requests by route and status.")
        for (route, method, status), count in sorted(self._requests.items()):
            labels = f'route="{_escaped(route)}",method="{method}",status="{status}"'
            yield f"trope_requests_total{{{labels}}} {count}"

    def _timed(self) -> Iterator[str]:
        name = "trope_request_seconds"
        yield from _head(name, "histogram", "How long answers took.")
        for route, counts in sorted(self._within.items()):
            label, below = f'route="{_escaped(route)}"', 0
            for bound, count in zip((*BOUNDS, "+Inf"), counts, strict=True):
                below += count
                yield f'{name}_bucket{{{label},le="{bound}"}} {below}'
            yield f"{name}_sum{{{label}}} {self._seconds[route]:.6f}"
            yield f"{name}_count{{{label}}} {below}"


def resident() -> int:
    """Bytes of memory that the process has now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def _indexes(service: Service) -> Iterator[str]:
    yield from _head("trope_items", "gauge", "Items of an index.")
    for about in service.about():
        for kind, count in (("image", about.images), ("text", about.texts)):
            yield f'trope_items{{index="{about.number}",modality="{kind}"}} {count}'
    yield from _head("trope_encodings_total", "counter", "Queries encoded, or remembered.")
    for number, collection in enumerate(service.collections):
        kept = collection.embedder.kept
        yield f'trope_encodings_total{{index="{number}",remembered="true"}} {kept.hits}'
        yield f'trope_encodings_total{{index="{number}",remembered="false"}} {kept.misses}'


def _head(name: str, kind: str, about: str) -> Iterator[str]:
    yield f"# HELP {name} {about}"
    yield f"# TYPE {name} {kind}"


def _gauge(name: str, about: str, value: int | float) -> list[str]:
    return [*_head(name, "gauge", about), f"{name} {value}"]


def _counter(name: str, about: str, value: int) -> list[str]:
    return [*_head(name, "counter", about), f"{name} {value}"]


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
