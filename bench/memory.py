"""How much memory a process has; unlike getrusage, not inherited from the parent."""

from __future__ import annotations

from pathlib import Path


def memory_mb(field: str = "VmHWM") -> float:
    """What the kernel says of this process: VmRSS is its memory now, VmHWM the most it had."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(field))
