"""Setting aside what cannot be handled, for a person to decide.

A parked message lies in `<queue>.dead` with its reason in the headers, and no service takes it from
there. When nearly everything would be parked, the release is bad and not the messages: the
consumer stops instead. What one user sends never is nearly everything: the others are served.
"""

from collections import deque
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

import uuid_utils

from contactmesh.contracts.command import CommandAddress
from contactmesh.contracts.errors import Refusal
from contactmesh.messaging.message import Delivery, Outgoing, Parked
from contactmesh.messaging.publisher import Publisher
from contactmesh.messaging.topology import DEAD, Queue

MAX_REASON: Final = 500
"""Headers have to fit one frame."""


class TooManyParked(Exception):
    """Nearly everything would be parked. Look at the release before the messages."""


class ParkingLimit:
    """Watches the share of parked messages among the last ones.

    Raises `TooManyParked` from `count` once `ratio` of the last `window` messages, and at least
    `minimum` of them, were parked; or `in_a_row` without a good one between them, however healthy
    it was before. Of each sender no more than `of_one` messages count: a release that is bad parks
    those of many, and a terminal that is bad stops the service for nobody else.
    """

    def __init__(
        self,
        *,
        window: int = 500,
        minimum: int = 100,
        ratio: float = 0.9,
        in_a_row: int = 50,
        of_one: int = 10,
    ) -> None:
        self._recent: deque[bool | str] = deque(maxlen=window)
        self._of_one = of_one
        self._in_a_row = in_a_row
        self._row = 0
        self._minimum = minimum
        self._ratio = ratio

    def count(self, *, handled: int, parked: Sequence[str | None]) -> None:
        """Take note of a batch.

        Args:
            handled: how many messages were good.
            parked: who sent each of the others, none where nobody can tell.

        Raises:
            TooManyParked: stop consuming and leave the messages in the queue.
        """
        self._recent.extend([False] * handled)
        counted = [one for one in parked if self._note(one)]
        # A batch does not tell in which order they came: one good message ends the row.
        self._row = 0 if handled else self._row + len(counted)
        bad = sum(one is not False for one in self._recent)
        share = bad >= self._minimum and bad >= self._ratio * len(self._recent)
        if share or self._row >= self._in_a_row:
            raise TooManyParked(
                f"{bad} of the last {len(self._recent)} messages cannot be handled. The consumer "
                "has stopped and leaves the others in the queue; check the release."
            )

    def _note(self, sender: str | None) -> bool:
        """Whether a parked message counts."""
        if sender is not None and self._recent.count(sender) >= self._of_one:
            return False
        self._recent.append(True if sender is None else sender)
        return True


def sender_of(delivery: Delivery) -> str | None:
    """The user who sent a message, as the broker vouches for it; none for what services send."""
    try:
        return CommandAddress.parse(delivery.key).sender.user_id
    except Refusal:
        return None


async def park(publisher: Publisher, queue: Queue, parked: Sequence[Parked]) -> None:
    """Publish messages to the parking queue, with their reasons.

    Raises:
        BrokerUnavailable: they are not all there; do not acknowledge them.
    """
    now = datetime.now(UTC)
    outgoing = [
        Outgoing(
            exchange=DEAD,
            routing_key=queue.name,
            body=item.delivery.body,
            message_id=str(uuid_utils.uuid7()),
            type="parked",
            timestamp=now,
            headers={
                "x-parked-reason": item.reason[:MAX_REASON],
                "x-parked-from": queue.name,
                "x-parked-at": now.isoformat(),
                "x-original-routing-key": item.delivery.key,
                "x-original-message-id": (item.delivery.message_id or "")[:64],
            },
        )
        for item in parked
    ]
    await publisher.publish(outgoing, mandatory=True)
