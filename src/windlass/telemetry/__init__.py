"""Logs and metrics, as listeners on the bus."""

from windlass.telemetry.logs import redact_lines
from windlass.telemetry.metrics import LoopLag, Telemetry

__all__ = ["LoopLag", "Telemetry", "redact_lines"]
