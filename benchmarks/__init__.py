"""The speed table: `python -m benchmarks` measures Windlass beside hand-written floors doing the same work."""
