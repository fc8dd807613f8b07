"""What messaging counts."""

from typing import Final

from prometheus_client import Gauge

OUTBOX_OLDEST: Final = Gauge(
    "contactmesh_outbox_oldest_age_seconds", "How long the oldest outbox entry has waited."
)
