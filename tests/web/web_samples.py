"""Rows that a page must survive, models that learn them within seconds, a server on loopback."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
from PIL import Image

import quick
from trope.web.app import application
from trope.web.server import Server, bound
from trope.web.service import Service
from trope.web.settings import ServeSettings

TOPICS = ("apple pear plum", "red blue green", "flute drum harp", "rain snow fog")
SCRIPT = "plum <script>alert('pear')</script> <img src=x onerror=alert(1)> apple"
STRANGE = "a/../b?c#d%2e&e='f' <b>"  # an id that no path, URL or page may take apart
QUICK = (*quick.QUICK, "training.epochs=8")


def write(folder: Path, rows: int = 48) -> Path:
    """Pictures of a color for each topic, two texts of its words; columns of all kinds."""
    random = np.random.default_rng(0)
    folder.mkdir(parents=True)
    colors = random.integers(40, 215, (len(TOPICS), 3))
    lines = [_row(folder, row, colors, random) for row in range(rows)]
    lines[3] |= {"id": STRANGE}
    lines[4] |= {"texts": [SCRIPT, "apple pear"]}
    lines.append({"id": "told", "texts": ["plum plum"], "labels": ["topic0"], "year": 1990})
    (folder / "pairs.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return folder


def _row(
    folder: Path, row: int, colors: np.ndarray, random: np.random.Generator
) -> dict[str, object]:
    topic = row % len(TOPICS)
    near = np.clip(colors[topic] + random.integers(-30, 30, 3), 0, 255)
    Image.new("RGB", (40, 30), tuple(map(int, near))).save(folder / f"{row}.png")
    said = [" ".join(random.choice(TOPICS[topic].split(), 4).tolist()) for _ in range(2)]
    return {
        "id": f"r{row}",
        "image": f"{row}.png",
        "texts": [f"{text} item{row}" for text in said],
        "labels": [f"topic{topic}"],
        "split": (("train",) * 6 + ("val", "test"))[row // len(TOPICS) % 8],
        "group": f"g{row}",
        "year": 2000 + row,
        "section": "even" if row % 2 else "odd",
        "color": row % 3 == 0,
        "taken": f"20{row % 24:02}-03-12" + ("T10:30:00" if row % 2 else ""),
        "license": "CC0",
        "more": {"deep": [row]},
    }


@contextmanager
def served(service: Service, settings: ServeSettings) -> Iterator[ServeSettings]:
    """A real server in a thread of its own, gone when the block ends."""
    listener = bound(settings)
    chosen = replace(settings, port=listener.getsockname()[1])
    ready = threading.Event()
    server = Server(application(service, chosen), chosen, ready.set)
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    try:
        assert ready.wait(20)
        yield chosen
    finally:
        server.should_exit = True
        thread.join(60)
        listener.close()
        assert not thread.is_alive()


def spoken(port: int, said: bytes, seconds: float = 10.0) -> bytes:
    """What a server answers to bytes, until it closes the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=seconds) as line:
        line.sendall(said)
        parts = []
        with suppress(ConnectionResetError):  # it was closed with more to be read
            while part := line.recv(65_536):
                parts.append(part)
    return b"".join(parts)
