"""Carriers on the wire, and the checks that tests do all the time."""

import asyncio
import itertools
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from tests.wire import DEADLINE, System, Terminal

from contactmesh.contracts.carrier.check import Check, Checked
from contactmesh.contracts.carrier.feed import Began, Ended, EntryOutcome, Fed, Feed, FeedEntry
from contactmesh.contracts.carrier.records import EndReason, RegistrationRef
from contactmesh.contracts.identity import Credentials
from contactmesh.contracts.reply import Reply

_NUMBERS = itertools.count(1)
START = datetime(2026, 1, 1, tzinfo=UTC)


def new_number() -> str:
    """A number that no other test has."""
    return f"+86139{next(_NUMBERS):08d}"


def new_seq() -> str:
    """A sequence number that no other test has."""
    return str(next(_NUMBERS))


def day(number: float) -> datetime:
    """A moment so many days after the start."""
    return START + timedelta(days=number)


async def carrier_of(system: System, carrier_id: str) -> Terminal:
    """A connected terminal of a carrier, which is added if it is not there."""
    await system._post("/v1/carriers", {"carrier_id": carrier_id, "name": carrier_id})
    code = (await system._post(f"/v1/carriers/{carrier_id}/enrolment-codes"))["code"]
    body = {"code": code, "terminal_name": "feed"}
    enrolled = await system._post("/v1/enrolments", body, operator=False)
    terminal = Terminal(Credentials.model_validate(enrolled))
    await terminal.connect()
    system._closing.push_async_callback(terminal.close)
    return terminal


async def feeds(carrier: Terminal, *entries: FeedEntry) -> tuple[EntryOutcome, ...]:
    """Feed facts; returns what became of them."""
    done = await carrier.does(Feed(entries=entries))
    assert isinstance(done, Fed)
    return done.outcomes


def began(
    seq: str, who: str, number: str, at: float = 0, replaces: RegistrationRef | None = None
) -> Began:
    """A registration began."""
    return Began(
        registration_seq=seq,
        identity_id=who,
        msisdn=number,
        valid_from=day(at),
        replaces=replaces,
    )


def ended(seq: str, at: float, reason: EndReason = EndReason.REPLACED) -> Ended:
    """A registration ended."""
    return Ended(registration_seq=seq, valid_to=day(at), reason=reason)


def ref(carrier_id: str, seq: str) -> RegistrationRef:
    """A reference."""
    return RegistrationRef(carrier_id=carrier_id, registration_seq=seq)


async def ask(viewer: Terminal, owner: Terminal | str, *known: RegistrationRef) -> Reply:
    """One check."""
    identity_id = owner if isinstance(owner, str) else owner.user_id
    return await viewer.ask(Check(identity_id=identity_id, registrations=known))


async def check(viewer: Terminal, owner: Terminal | str, *known: RegistrationRef) -> Checked:
    """One check that has to be answered."""
    reply = await ask(viewer, owner, *known)
    assert reply.error is None, reply.error
    return Checked.model_validate(reply.result)


async def until(
    viewer: Terminal,
    owner: Terminal | str,
    condition: Callable[[Reply], bool],
    *known: RegistrationRef,
) -> Reply:
    """Check again and again until what the registry has learnt makes the condition true."""
    async with asyncio.timeout(DEADLINE):
        while not condition(reply := await ask(viewer, owner, *known)):
            pass
    return reply


def allowed(reply: Reply) -> bool:
    """Whether a check was answered."""
    return reply.error is None


def denied(reply: Reply) -> bool:
    """Whether a check was refused."""
    return reply.error is not None
