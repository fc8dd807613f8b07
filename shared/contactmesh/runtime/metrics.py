"""Prometheus metrics that every service has. Nothing per user or terminal is ever a label."""

from typing import Final

from prometheus_client import Counter, Histogram

RECEIVED: Final = Counter(
    "contactmesh_received_messages", "Messages handled.", ["queue", "type", "status"]
)
PROCESSING: Final = Histogram(
    "contactmesh_processing_seconds",
    "Time to handle one batch.",
    ["queue"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5),
)
