"""From a batch of commands to their replies (DESIGN §5).

A service brings its commands and a `CommandService` that decides; everything that must be the same
for each of them is here: who sent it, is it well-formed, was it handled before, one transaction
for the batch, one reply to the sender's own queue.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final, Protocol, TypeVar

import structlog
import uuid_utils
from pydantic import ValidationError
from tenacity import (
    AsyncRetrying,
    retry_if_exception_type,
    stop_after_attempt,
    wait_random_exponential,
)

from contactmesh.contracts.command import Command, CommandAddress, Sender
from contactmesh.contracts.envelope import Envelope
from contactmesh.contracts.errors import ErrorCode, Refusal, invalid_field, invalid_fields
from contactmesh.contracts.reply import Reply
from contactmesh.deciding.decision import Told
from contactmesh.messaging.faults import fault_point
from contactmesh.messaging.message import Delivery, Outgoing, Parked
from contactmesh.messaging.publisher import Publisher
from contactmesh.messaging.relay import OutboxRelay
from contactmesh.messaging.topology import MAX_BODY_BYTES
from contactmesh.runtime.events import events_of
from contactmesh.runtime.metrics import PROCESSING, RECEIVED
from contactmesh.runtime.pace import Pace, PaceKeeper
from contactmesh.storage.errors import Contended, DatabaseUnavailable, StaleState
from contactmesh.storage.inbox import InboxEntry
from contactmesh.storage.revoked import RevokedTerminals
from contactmesh.storage.transaction import Addition, Write
from contactmesh.storage.unit_of_work import UnitOfWork

log = structlog.get_logger()

Clock = Callable[[], datetime]
Done = TypeVar("Done")


def utc_now() -> datetime:
    """The time by this machine's clock."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Request:
    """A well-formed command with its sender."""

    sender: Sender
    envelope: Envelope
    command: Command

    @property
    def inbox_id(self) -> str:
        """What tells this command from all others: message ids are unique to a sender only."""
        return f"{self.sender.terminal_id}/{self.envelope.id}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was decided about a request.

    Attributes:
        reply: to its sender.
        told: the events that tell others.
        shows: whose contact details the reply shows; `Decided.erased` names them when they go.
    """

    reply: Reply
    told: Sequence[Told] = ()
    shows: str | None = None


@dataclass(frozen=True, slots=True)
class Decided:
    """What was decided about a batch.

    Attributes:
        outcomes: one for each request, in order.
        writes: what holds them.
        erased: owners of contact details that the replies given so far may show no more.
    """

    outcomes: Sequence[Outcome]
    writes: Sequence[Write | Addition] = field(default=())
    erased: Sequence[str] = field(default=())


class CommandService(Protocol):
    """What is particular to a service."""

    name: str
    commands: Mapping[str, type[Command]]
    """Its commands by action."""

    async def decide(self, requests: Sequence[Request], now: datetime) -> Decided:
        """Decide commands that change something, one after the other, on freshly loaded state."""
        ...

    async def answer(self, request: Request, now: datetime) -> Reply:
        """Answer a command that only asks."""
        ...


_ERASED: Final = Refusal(
    ErrorCode.FULL_SYNC_REQUIRED,
    "The command took effect; what its reply showed was erased meanwhile. Do a full sync.",
    reason="erased",
)

MOST_ATTEMPTS: Final = 100
RETRY_STALE: Final = retry_if_exception_type(StaleState)


async def on_fresh_state(unit: Callable[[], Awaitable[Done]]) -> Done:
    """Run a unit of work, again from the start whenever its state turns out to be stale.

    Raises:
        StaleState: a hundred times in a row, which is no matter of bad luck any more.
        DatabaseUnavailable: a hundred times in a row, and what it needs is held by a transaction
            that does not end. That is a matter of waiting, and no fault of the message.
    """
    retrying = AsyncRetrying(
        retry=RETRY_STALE,
        wait=wait_random_exponential(0.002, max=0.2),
        stop=stop_after_attempt(MOST_ATTEMPTS),
        reraise=True,
    )

    async def attempt() -> Done:
        # Not `unit` itself: what tenacity cannot see to be a coroutine function, a lambda say, it
        # would not await, and so never try again.
        return await unit()

    try:
        return await retrying(attempt)
    except Contended as error:
        raise DatabaseUnavailable("Another transaction holds what this one needs.") from error


class CommandHandler:
    """Handles batches of a service's commands queue."""

    def __init__(
        self,
        service: CommandService,
        unit_of_work: UnitOfWork,
        publisher: Publisher,
        relay: OutboxRelay,
        revoked: RevokedTerminals,
        clock: Clock = utc_now,
        pace: Pace | None = None,
    ) -> None:
        self._pace = PaceKeeper(pace or Pace())
        self._paced: set[int] = set()
        self._service = service
        self._unit_of_work = unit_of_work
        self._publisher = publisher
        self._relay = relay
        self._revoked = revoked
        self._clock = clock

    async def handle(self, batch: Sequence[Delivery]) -> Sequence[Parked]:
        """Answer every command of the batch."""
        with PROCESSING.labels(f"{self._service.name}.commands").time():
            replies: list[Outgoing] = []
            writes: dict[str, Request] = {}
            reads: list[Request] = []
            parked: list[Parked] = []
            for delivery in batch:
                try:
                    address = CommandAddress.parse(delivery.key)
                except Refusal as refusal:
                    parked.append(Parked(delivery, refusal.reason))
                    continue
                try:
                    self._keep_pace(delivery, address)
                    request = self._read(delivery, address)
                except Refusal as refusal:
                    replies.append(self._refusal(delivery, address, refusal))
                    continue
                if request.command.READS:
                    reads.append(request)
                else:
                    writes.setdefault(request.inbox_id, request)
                self._count(request.command.TYPE, "ok")
            replies += await self._refuse_revoked(writes, reads)
            if writes:
                replies += await on_fresh_state(lambda: self._commit(writes))
            for request in reads:
                reply = await self._service.answer(request, self._clock())
                replies.append(self._outgoing(request, reply))
            fault_point("before_reply")
            await self._publisher.publish(replies)
            fault_point("before_ack")
            self._paced.difference_update(map(id, batch))
            return parked

    async def _refuse_revoked(
        self, writes: dict[str, Request], reads: list[Request]
    ) -> list[Outgoing]:
        """Take out what revoked terminals sent, for nothing of it is done; gives the replies."""
        requests = [*writes.values(), *reads]
        revoked = await self._revoked.among(one.sender.terminal_id for one in requests)
        if not revoked:
            return []
        refused = [one for one in requests if one.sender.terminal_id in revoked]
        for one in refused:
            if one.command.READS:
                reads.remove(one)
            else:
                del writes[one.inbox_id]
        why = Refusal(ErrorCode.UNAUTHENTICATED, "This terminal was revoked. Enrol it again.")
        return [self._outgoing(one, Reply.refused(one.command.TYPE, why)) for one in refused]

    async def poisoned(self, delivery: Delivery) -> None:
        """Tell the sender of a command that could not be handled and lies in the parking queue."""
        try:
            address = CommandAddress.parse(delivery.key)
        except Refusal:
            return
        refusal = Refusal(
            ErrorCode.INTERNAL,
            "The command had no effect and was set aside for the operator. It is our fault.",
        )
        await self._publisher.publish([self._refusal(delivery, address, refusal)])

    def _keep_pace(self, delivery: Delivery, address: CommandAddress) -> None:
        """Count a command once, however often its batch has to be handled."""
        if id(delivery) not in self._paced:
            self._pace.spend(address.sender.terminal_id, self._clock())
            self._paced.add(id(delivery))

    def _read(self, delivery: Delivery, address: CommandAddress) -> Request:
        if delivery.too_large is not None:
            raise Refusal(
                ErrorCode.TOO_LARGE,
                f"A message may have {MAX_BODY_BYTES} bytes; this one has {delivery.too_large}.",
                limit_bytes=MAX_BODY_BYTES,
            )
        envelope = Envelope.decode(delivery.body)
        kind = self._service.commands.get(address.action)
        if address.service != self._service.name or kind is None:
            raise invalid_field("/type", f"{self._service.name} has no command {address.action!r}")
        if address.sender.role is not kind.ROLE:
            raise Refusal(ErrorCode.PERMISSION_DENIED, f"Only a {kind.ROLE} may send {kind.TYPE}.")
        if envelope.type != kind.TYPE:
            raise invalid_field("/type", f"sent under the routing key of {kind.TYPE}")
        try:
            command = kind.model_validate(envelope.data)
        except ValidationError as error:
            raise invalid_fields(error, at=("data",)) from error
        return Request(address.sender, envelope, command)

    async def _commit(self, requests: Mapping[str, Request]) -> list[Outgoing]:
        stored = await self._unit_of_work.inbox.replies(list(requests))
        fresh = [request for id_, request in requests.items() if id_ not in stored]
        replies = [self._again(requests[id_], reply) for id_, reply in stored.items()]
        if not fresh:
            return replies
        now = self._clock()
        decided = await self._service.decide(fresh, now)
        answers = [
            self._outgoing(request, outcome.reply)
            for request, outcome in zip(fresh, decided.outcomes, strict=True)
        ]
        events = [
            event
            for request, outcome in zip(fresh, decided.outcomes, strict=True)
            for event in events_of(self._service.name, outcome.told, request.envelope, now)
        ]
        entries = await self._unit_of_work.commit(
            writes=decided.writes,
            handled=[
                InboxEntry(request.inbox_id, answer.body, now, outcome.shows)
                for request, answer, outcome in zip(fresh, answers, decided.outcomes, strict=True)
            ],
            messages=events,
            now=now,
            erased=decided.erased,
        )
        await self._relay.committed(entries)
        return replies + answers

    def _again(self, request: Request, reply: bytes | None) -> Outgoing:
        """The reply that was given, or why it cannot be given again."""
        if reply is None:
            return self._outgoing(request, Reply.refused(request.command.TYPE, _ERASED))
        return Outgoing.to_terminal(Envelope.decode(reply), request.sender.terminal_id)

    def _outgoing(self, request: Request, reply: Reply) -> Outgoing:
        if reply.error is not None:
            log.info(
                "refused",
                command=reply.command,
                code=reply.error.code.value,
                terminal_id=request.sender.terminal_id,
                correlation_id=request.envelope.id,
            )
        envelope = Envelope.of(
            reply,
            id=str(uuid_utils.uuid7()),
            source=f"/services/{self._service.name}",
            time=self._clock(),
            cause=request.envelope,
        )
        return Outgoing.to_terminal(envelope, request.sender.terminal_id)

    def _refusal(self, delivery: Delivery, address: CommandAddress, refusal: Refusal) -> Outgoing:
        """A reply to what could not even be read; the message id is all that names it."""
        self._count("unreadable", refusal.body.code.value)
        log.info(
            "refused",
            code=refusal.body.code.value,
            terminal_id=address.sender.terminal_id,
            correlation_id=delivery.message_id,
        )
        envelope = Envelope.model_construct(
            id=str(uuid_utils.uuid7()),
            source=f"/services/{self._service.name}",
            type=Reply.TYPE,
            time=self._clock(),
            correlationid=delivery.message_id,
            data=Reply.refused(address.action, refusal).payload(),
        )
        return Outgoing.to_terminal(envelope, address.sender.terminal_id)

    def _count(self, kind: str, status: str) -> None:
        RECEIVED.labels(f"{self._service.name}.commands", kind, status).inc()
