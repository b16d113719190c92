"""Logs and metrics, as listeners on the bus."""

from windlass.telemetry.metrics import LoopLag, Telemetry

__all__ = ["LoopLag", "Telemetry"]
