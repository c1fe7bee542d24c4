"""Benchmarks: ours and a peer side by side in one run, outputs compared before any time is told."""
