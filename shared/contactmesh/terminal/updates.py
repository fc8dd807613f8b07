"""What changed for the user, and the streams through which a program learns of it."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Self
from weakref import WeakSet

from contactmesh.contracts.group.views import MemberState, Role
from contactmesh.terminal.rules.spaces import Overwritten


@dataclass(frozen=True, slots=True)
class ContactAdded:
    """A contact is new in the phonebook.

    Attributes:
        contact_id: the contact's id in this phonebook.
        display_name: its name as shown.
        user_id: the member behind it, if a group brought it.
    """

    contact_id: str
    display_name: str
    user_id: str | None = None


@dataclass(frozen=True, slots=True)
class ContactUpdated:
    """A contact shows something else than before.

    Attributes:
        contact_id: the contact's id in this phonebook.
        display_name: its name as shown now.
        changed_fields: what differs, as JSON pointers without the first slash, for example
            `("phones/mobile/number",)`.
        user_id: the member behind it, if there is one.
        overwritten: values that the owner had edited and that an accepted contact replaced.
    """

    contact_id: str
    display_name: str
    changed_fields: tuple[str, ...]
    user_id: str | None = None
    overwritten: tuple[Overwritten, ...] = ()


@dataclass(frozen=True, slots=True)
class ContactRemoved:
    """A contact is gone: no common group shows it any more, or it was joined into another one."""

    contact_id: str
    display_name: str


@dataclass(frozen=True, slots=True)
class OwnCardUpdated:
    """Another of the user's terminals published the user's own card to a group."""

    group_id: str
    rev: int


@dataclass(frozen=True, slots=True)
class MemberJoined:
    """Someone is a member of one of the user's groups now."""

    group_id: str
    user_id: str
    role: Role | None


@dataclass(frozen=True, slots=True)
class MemberLeft:
    """Someone left, or was removed from, one of the user's groups."""

    group_id: str
    user_id: str
    state: MemberState


@dataclass(frozen=True, slots=True)
class InvitationReceived:
    """Someone invites the user. Answer with `accept` or `decline` before it expires."""

    invitation_id: str
    group_id: str
    group_name: str
    inviter_id: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class InvitationClosed:
    """An invitation that the user sent or got is no longer open.

    Attributes:
        outcome: `accepted`, `declined`, `withdrawn`, `expired`, or `closed` when this terminal
            learnt only that it is not open any more.
    """

    invitation_id: str
    group_id: str
    group_name: str
    inviter_id: str
    invitee_id: str
    outcome: str


@dataclass(frozen=True, slots=True)
class GroupJoined:
    """The user is a member of a further group, and its members are being pulled."""

    group_id: str
    name: str


class Departure(StrEnum):
    """Why a group is gone from the phonebook."""

    LEFT = "left"
    """The user left."""
    REMOVED = "removed"
    """The group's owner removed the user."""
    DISSOLVED = "dissolved"
    """The group is no more."""
    UNKNOWN = "unknown"
    """It ended while the terminal was away; the service does not say how."""


@dataclass(frozen=True, slots=True)
class GroupGone:
    """The user is no longer a member of a group."""

    group_id: str
    name: str
    reason: Departure


@dataclass(frozen=True, slots=True)
class HandedOver:
    """A group has another owner."""

    group_id: str
    owner_id: str


@dataclass(frozen=True, slots=True)
class SimContactsWaiting:
    """Contacts wait for a SIM in this terminal: look with `pending`, then accept or decline.

    Attributes:
        sim_id: the SIM.
        waiting: how many contacts waited when it was told.
        filling: whether more comes, because an update was requested. Its end is always told, also
            when nothing waits.
    """

    sim_id: str
    waiting: int
    filling: bool


@dataclass(frozen=True, slots=True)
class LargeRemovalWaiting:
    """Removals that wait for a SIM were not accepted by themselves, because they are too many.

    Attributes:
        sim_id: the SIM.
        removals: how many entries they would delete; those deleted lately counted beside them.
    """

    sim_id: str
    removals: int


@dataclass(frozen=True, slots=True)
class UnreadableUpdate:
    """An update came that this terminal cannot read; it was left out and the others went on.

    Attributes:
        type: the update's CloudEvents `type`, if that much could be read.
        message_id: its id, if that could be read.
        reason: what is wrong, by field path and without contact details.
    """

    type: str | None
    message_id: str | None
    reason: str


Update = (
    ContactAdded
    | ContactUpdated
    | ContactRemoved
    | OwnCardUpdated
    | MemberJoined
    | MemberLeft
    | InvitationReceived
    | InvitationClosed
    | GroupJoined
    | GroupGone
    | HandedOver
    | SimContactsWaiting
    | LargeRemovalWaiting
    | UnreadableUpdate
)
"""Everything that an update stream gives."""


class UpdateStream(AsyncIterator[Update]):
    """Updates from the moment of its making on, each after it is in the phonebook.

    A reader that is slower than the updates does not hold them up: when the buffer is full the
    oldest is dropped and counted in `dropped`. Nothing is lost by that but the notice: the
    phonebook holds the state, so read it again when `dropped` has grown.

    The stream ends when the terminal closes, and raises what stopped the terminal if it failed.
    """

    def __init__(self, buffer: int) -> None:
        self.dropped = 0
        """How many updates were dropped so far because nobody had taken them."""
        self._waiting: deque[Update] = deque()
        self._buffer = buffer
        self._wake = asyncio.Event()
        self._ended = False
        self._failure: Exception | None = None

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Update:
        while not self._waiting:
            if self._failure is not None:
                raise self._failure
            if self._ended:
                raise StopAsyncIteration
            self._wake.clear()
            await self._wake.wait()
        return self._waiting.popleft()

    def put(self, update: Update) -> None:
        """Add an update, dropping the oldest one if nobody has made room."""
        if len(self._waiting) >= self._buffer:
            self._waiting.popleft()
            self.dropped += 1
        self._waiting.append(update)
        self._wake.set()

    def end(self, failure: Exception | None = None) -> None:
        """Let the reader take what is left and then stop, or raise `failure`."""
        self._ended = True
        self._failure = failure
        self._wake.set()


class UpdateStreams:
    """The streams that are being read. One that its reader forgot goes by itself."""

    def __init__(self) -> None:
        self._streams: WeakSet[UpdateStream] = WeakSet()
        self._over = False
        self._failure: Exception | None = None

    def open(self, buffer: int) -> UpdateStream:
        """A further stream, from now on."""
        stream = UpdateStream(buffer)
        if self._over:
            stream.end(self._failure)
        self._streams.add(stream)
        return stream

    def emit(self, updates: Iterable[Update]) -> None:
        """Give updates to every stream."""
        for update in updates:
            for stream in self._streams:
                stream.put(update)

    def end(self, failure: Exception | None = None) -> None:
        """End every stream, also those that are opened later."""
        self._over = True
        self._failure = failure
        for stream in self._streams:
            stream.end(failure)
