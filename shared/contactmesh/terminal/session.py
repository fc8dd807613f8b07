"""One connection to the broker, from its opening to its loss, whatever protocol it speaks."""

import asyncio
from abc import ABC, abstractmethod
from dataclasses import dataclass

from contactmesh.contracts.envelope import Envelope


class SessionLost(Exception):
    """The connection failed. Whatever was under way has to be done again on the next one."""


class QueueMissing(Exception):
    """The broker has no queue for this terminal: it expired, or was never made."""


class CredentialsRefused(Exception):
    """The broker does not let these credentials in."""


class NotDelivered(Exception):
    """The broker did not confirm a command; it may have taken it or not. Send it again later."""


@dataclass(frozen=True, slots=True)
class Arrived:
    """A message that arrived.

    Attributes:
        body: what it says.
        number: its place among those that arrived over the session.
        message_id: its id, if the protocol tells it beside the body.
    """

    body: bytes
    number: int
    message_id: str | None = None


class Session(ABC):
    """A terminal's incoming messages, and the way out for its commands.

    Attributes:
        lost: set once nothing can be received over it any more.
    """

    def __init__(self) -> None:
        self.lost = asyncio.Event()
        self._inbox: asyncio.Queue[Arrived] = asyncio.Queue()

    async def arrived(self) -> list[Arrived]:
        """What has arrived, at least one message; nothing once the connection is lost."""
        if self.lost.is_set():
            return []
        first = asyncio.create_task(self._inbox.get())
        lost = asyncio.create_task(self.lost.wait())
        try:
            await asyncio.wait((first, lost), return_when=asyncio.FIRST_COMPLETED)
            if not first.done():
                return []
            messages = [first.result()]
            while not self._inbox.empty():
                messages.append(self._inbox.get_nowait())
            return messages
        finally:
            first.cancel()
            lost.cancel()

    @abstractmethod
    async def publish(self, command: Envelope, routing_key: str) -> None:
        """Send a command and wait until the broker has it.

        Raises:
            NotDelivered: the broker refused it, has no queue for it, or did not answer.
        """

    @abstractmethod
    async def acknowledge(self, message: Arrived) -> None:
        """Tell the broker that a message and all that arrived before it are dealt with.

        Raises:
            SessionLost: the connection is gone; the broker will deliver them again.
        """

    @abstractmethod
    async def close(self) -> None:
        """Close everything. What was not acknowledged will be delivered again."""
