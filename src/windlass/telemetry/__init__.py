"""Logs and metrics, as listeners on the bus."""

from windlass.telemetry.metrics import LoggedModel, Telemetry

__all__ = ["LoggedModel", "Telemetry"]
