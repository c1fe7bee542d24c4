"""Clients that ask a server on loopback for some seconds: how many were answered, and how fast."""

from __future__ import annotations

import sys
import threading
import time
from http.client import HTTPConnection, HTTPException
from itertools import count
from urllib.parse import quote

import numpy as np
import orjson

from bench.web_data import queries

PREPARED = 100_000


class Client(threading.Thread):
    """One connection that asks one thing after the other, none of them twice."""

    def __init__(self, port: int, texts: list[str], numbers: count[int], until: float) -> None:
        super().__init__()
        self._port, self._texts, self._numbers, self._until = port, texts, numbers, until
        self.seconds: list[float] = []
        self.errors = 0

    def run(self) -> None:
        line = HTTPConnection("127.0.0.1", self._port, timeout=30)
        while time.monotonic() < self._until:
            text = self._texts[next(self._numbers) % len(self._texts)]
            started = time.perf_counter()
            try:
                line.request("GET", f"/api/v1/search?k=24&q={quote(text)}")
                answer = line.getresponse()
                whole = answer.read()
                self.errors += answer.status != 200 or not whole.startswith(b'{"hits":[{')
            except (OSError, HTTPException):
                self.errors += 1
                line.close()
            self.seconds.append(time.perf_counter() - started)
        line.close()


def asked(port: int, clients: int, seconds: float, seed: int) -> dict[str, float]:
    """What so many clients at once found."""
    texts, numbers = queries(PREPARED, seed), count()
    started = time.monotonic()
    some = [Client(port, texts, numbers, started + seconds) for _ in range(clients)]
    for client in some:
        client.start()
    for client in some:
        client.join()
    spent = time.monotonic() - started
    took = np.array([second for client in some for second in client.seconds])
    return {
        "clients": clients,
        "requests": len(took),
        "errors": sum(client.errors for client in some),
        "per_second": len(took) / spent,
        "p50_ms": float(np.percentile(took, 50)) * 1e3,
        "p99_ms": float(np.percentile(took, 99)) * 1e3,
    }


if __name__ == "__main__":
    given = sys.argv[1:]
    found = asked(int(given[0]), int(given[1]), float(given[2]), int(given[3]))
    sys.stdout.buffer.write(orjson.dumps(found))
