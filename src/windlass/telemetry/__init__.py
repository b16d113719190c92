"""Logs and metrics, as listeners on the bus."""

from windlass.telemetry.metrics import Telemetry

__all__ = ["Telemetry"]
