"""What fanout_service counts."""

from typing import Final

from prometheus_client import Counter, Gauge, Histogram

RECIPIENTS: Final = Histogram(
    "contactmesh_fanout_recipients",
    "Recipients of one delivery.",
    buckets=(1, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000),
)
DELIVERED: Final = Counter(
    "contactmesh_fanout_delivered", "Deliveries to users, by type of update.", ["type"]
)
WITHHELD: Final = Counter(
    "contactmesh_fanout_withheld", "Deliveries that were not made, by reason.", ["reason"]
)
HELD: Final = Gauge(
    "contactmesh_fanout_held_events", "Events that wait too long for their audience, up to 100000."
)
TO_BROKER: Final = Histogram(
    "contactmesh_change_to_push_seconds",
    "From the commit of a change to the broker's confirmation of its push.",
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60),
)
