"""Encoding for an index: our job against the bare model, fed tensors that are ready."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch

from bench.tables import write_rows
from trope.checkpoints import Checkpoint
from trope.data.readers import open as open_pairs
from trope.encoders import HeadSettings, ImageSettings, Plan, TextSettings
from trope.index.encoding import Encoding

REPEATS, BATCH = 5, 256


def measure(full: bool) -> dict[str, Any]:
    """Texts through a GRU: words in, vectors out; what is read and tokenized is not counted."""
    rows = 20_000 if full else 5_000
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        write_rows(home / "pairs.jsonl", rows)
        pairs = open_pairs(home / "pairs.jsonl")
        plan = Plan(ImageSettings(), TextSettings(), HeadSettings(), image_size=8).fitted(
            pairs.with_column("split", _all_train(len(pairs)))
        )
        model = plan.model(0).eval()
        inputs, numbers = plan.texts(pairs).inputs, np.arange(len(pairs))
        batches = [numbers[i : i + BATCH] for i in range(0, rows, BATCH)]
        ready = list(inputs.batches(batches, None))
        ours, theirs = [], []
        for turn in range(REPEATS):
            job = Encoding(Checkpoint(model, plan, {}), pairs, home / f"staged{turn}")
            started = time.perf_counter()
            made, _ = job._vectors("text", model.text, inputs, numbers)
            ours.append(time.perf_counter() - started)
            started = time.perf_counter()
            with torch.no_grad():
                bare = torch.cat([model.text(*tensors)[0] for tensors in ready])  # type: ignore[misc]
            theirs.append(time.perf_counter() - started)
            assert np.allclose(made[:, 0], bare.numpy(), atol=1e-5), "vectors differ"
    own, peer = median(ours), median(theirs)
    work = f"{rows:,} texts through a GRU, in blocks that are put down: {rows / own:,.0f} a second"
    values = {"ratio": peer / own, "better": "higher", "ours": own, "theirs": peer, "work": work}
    return values | {"against": f"the bare model on batches of {BATCH} that are ready"}


def _all_train(count: int) -> Any:
    import pyarrow as pa

    return pa.array(["train"] * count)
