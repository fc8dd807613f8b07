"""What is pushed is in the phonebook before it is acknowledged, and never blocks the queue."""

import asyncio
from pathlib import Path

import aio_pika
import pytest
from aiohttp import web
from structlog.testing import capture_logs
from tests.backends import Broker
from tests.integration.identity_service.breakable_line import BreakableLine
from tests.integration.terminal.conftest import ALICE, MakeTerminal
from tests.integration.terminal.scripted_identity import ScriptedIdentity
from tests.integration.terminal.scripted_service import ScriptedService
from tests.unit.terminal.cards import card, changed, member, page
from yarl import URL

from contactmesh.contracts.group.commands import ListGroups, Pull
from contactmesh.contracts.identity import QueueReady
from contactmesh.local.waiting import until
from contactmesh.messaging.connection import declare_terminal_queue, delete_terminal_queue
from contactmesh.messaging.topology import terminal_key, terminal_queue
from contactmesh.terminal import (
    AuthenticationRefused,
    ContactAdded,
    ContactUpdated,
    Terminal,
    TerminalFolder,
    UnreadableUpdate,
    Update,
    UpdateStream,
    outlet,
)
from contactmesh.terminal.amqp_session import AmqpSession

OLD, NEW = "+8613800138000", "+8613900139000"
BOB = card("bob", "Bob Li", phones={"m": OLD})
BOB_MOVED = card("bob", "Bob Li", phones={"m": NEW})


async def the_next(stream: UpdateStream, kind: type[Update]) -> Update:
    """The next update of a kind."""
    async with asyncio.timeout(20):
        async for update in stream:
            if isinstance(update, kind):
                return update
    raise AssertionError(f"the stream ended without {kind}")


async def waiting_in_queue(broker: Broker) -> int:
    """How many messages the terminal's queue holds that nobody has been given."""
    async with await aio_pika.connect(broker.url) as connection:
        channel = await connection.channel()
        queue = await channel.declare_queue(terminal_queue(ALICE), passive=True)
        return queue.declaration_result.message_count or 0


async def numbers(terminal: Terminal) -> list[str]:
    return [
        phone.number
        for contact in await terminal.contacts()
        for phone in (contact.card.phones or {}).values()
    ]


@pytest.mark.usefixtures("queue")
@pytest.mark.claim("G1")
async def test_a_push_is_in_the_phonebook_when_it_is_told(
    make_terminal: MakeTerminal, service: ScriptedService
) -> None:
    service.have_group(page(member("bob", 3, BOB)))
    async with make_terminal() as terminal:
        await terminal.pull()
        one, other = terminal.updates(), terminal.updates()
        await service.push(ALICE, changed("bob", 5, BOB_MOVED), changed("bob", 5, BOB_MOVED))
        update = await the_next(one, ContactUpdated)
        assert await numbers(terminal) == [NEW]
        assert await the_next(other, ContactUpdated) == update


@pytest.mark.usefixtures("queue")
async def test_what_was_applied_and_not_acknowledged_comes_again_without_harm(
    make_terminal: MakeTerminal,
    service: ScriptedService,
    broker: Broker,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    service.have_group(page(member("bob", 3, BOB)))
    async with make_terminal() as terminal:
        await terminal.pull()
    applied = asyncio.Event()

    async def never(*_: object, **__: object) -> None:
        applied.set()
        await asyncio.Event().wait()

    with monkeypatch.context() as patched:
        patched.setattr(AmqpSession, "acknowledge", never)
        async with make_terminal() as terminal:
            await service.push(ALICE, changed("bob", 5, BOB_MOVED))
            await applied.wait()
            assert await numbers(terminal) == [NEW]

    async def is_back() -> bool:
        return await waiting_in_queue(broker) == 1

    await until(is_back, seconds=20)
    async with make_terminal() as terminal:
        stream = terminal.updates()
        await service.push(ALICE, changed("eve", 7, card("eve", "Eve")))
        # The repeated message comes first, and is not told again.
        assert isinstance(await the_next(stream, ContactAdded), ContactAdded)
        assert stream.dropped == 0
        assert await numbers(terminal) == [NEW]

    assert await waiting_in_queue(broker) == 0


@pytest.mark.usefixtures("queue")
async def test_an_update_that_cannot_be_read_is_told_and_blocks_nothing(
    make_terminal: MakeTerminal, service: ScriptedService, broker: Broker
) -> None:
    service.have_group(page(member("bob", 3, BOB)))
    with capture_logs() as logs:
        async with make_terminal() as terminal:
            await terminal.pull()
            stream = terminal.updates()
            key = terminal_key(ALICE)
            for body in (b"\xff\xfe+8613700137000", b"{}", b"[" * 100_000, b"x" * 2_000_000):
                await service.send(body, key)
            damaged = changed("bob", 4, BOB).model_copy(update={"card": {"phones": NEW}})
            await service.push(ALICE, damaged, changed("bob", 5, BOB_MOVED))
            unreadable = [await the_next(stream, UnreadableUpdate) for _ in range(5)]
            await the_next(stream, ContactUpdated)
            assert await numbers(terminal) == [NEW]
    assert await waiting_in_queue(broker) == 0
    told = repr(unreadable) + repr(logs)
    assert not any(detail in told for detail in (NEW, OLD, "8613700137000", "Bob Li"))


@pytest.mark.usefixtures("queue")
async def test_after_a_cut_connection_the_terminal_comes_back_and_pulls(
    make_terminal: MakeTerminal, service: ScriptedService, line: BreakableLine
) -> None:
    service.have_group(page(member("bob", 3, BOB)))
    async with make_terminal(pull=True) as terminal:
        stream = terminal.updates()
        await the_next(stream, ContactAdded)
        await line.cut()
        service.have_group(page(member("bob", 5, BOB_MOVED), cursor="c2"))
        await line.mend()
        await the_next(stream, ContactUpdated)
        assert await numbers(terminal) == [NEW]
    assert service.commands(Pull.TYPE)[-1].data["since"] == "c1"


async def test_a_missing_queue_is_made_by_identity_service(
    make_terminal: MakeTerminal,
    service: ScriptedService,
    identity: ScriptedIdentity,
    broker: Broker,
    line: BreakableLine,
) -> None:
    async def make_queue(terminal_id: str) -> QueueReady:
        queue = await declare_terminal_queue(broker.url, terminal_id, "alice")
        return QueueReady(queue=queue, broker_url=line.url)

    identity.answer = make_queue
    service.have_group(page(member("bob", 3, BOB)))
    async with make_terminal(pull=True) as terminal:
        stream = terminal.updates()
        await the_next(stream, ContactAdded)
        # And once more while it is connected, as when it expires or an operator deletes it.
        service.have_group(page(member("bob", 5, BOB_MOVED), cursor="c2"))
        await delete_terminal_queue(broker.url, ALICE)
        await the_next(stream, ContactUpdated)
    assert [terminal_id for terminal_id, _ in identity.asked] == [ALICE, ALICE]
    assert all(authorization.startswith("Basic ") for _, authorization in identity.asked)


async def test_a_queue_that_cannot_be_made_is_asked_for_again(
    make_terminal: MakeTerminal,
    service: ScriptedService,
    identity: ScriptedIdentity,
    broker: Broker,
    line: BreakableLine,
) -> None:
    asked = 0

    async def make_queue(terminal_id: str) -> QueueReady:
        nonlocal asked
        asked += 1
        if asked > 2:
            await declare_terminal_queue(broker.url, terminal_id, "alice")
        return QueueReady(queue=terminal_queue(terminal_id), broker_url=line.url)

    identity.answer = make_queue
    async with make_terminal() as terminal:
        assert (await terminal.groups()).groups == ()
    assert asked == 3
    assert len(service.commands(ListGroups.TYPE)) == 1


async def test_a_revoked_terminal_stops_and_says_so_everywhere(
    make_terminal: MakeTerminal, identity: ScriptedIdentity
) -> None:
    assert identity.answer is None
    with pytest.raises(AuthenticationRefused, match="Enrol again"):
        async with make_terminal():
            pass


@pytest.mark.usefixtures("service", "queue")
async def test_a_terminal_that_is_revoked_while_it_runs_stops_and_says_so_everywhere(
    make_terminal: MakeTerminal, identity: ScriptedIdentity, broker: Broker
) -> None:
    assert identity.answer is None
    async with make_terminal() as terminal:
        stream = terminal.updates()
        await delete_terminal_queue(broker.url, ALICE)
        async with asyncio.timeout(20):
            with pytest.raises(AuthenticationRefused):
                await anext(stream)
            with pytest.raises(AuthenticationRefused):
                await terminal.groups()
        assert await terminal.contacts() == []


@pytest.mark.usefixtures("service", "queue")
async def test_streams_end_when_the_terminal_is_left(make_terminal: MakeTerminal) -> None:
    async with make_terminal() as terminal:
        stream = terminal.updates()
        reading = asyncio.create_task(anext(stream, None))
    assert await reading is None
    assert [update async for update in terminal.updates()] == []


def with_wrong_password(folder: Path, line: BreakableLine) -> None:
    place = TerminalFolder(folder)
    enrolment = place.read()
    wrong = str(URL(line.url).with_password("wrong"))
    credentials = enrolment.credentials.model_copy(update={"broker_url": wrong})
    place.write(enrolment.model_copy(update={"credentials": credentials}))


async def test_wrong_credentials_are_refused(folder: Path, line: BreakableLine) -> None:
    with_wrong_password(folder, line)
    with pytest.raises(AuthenticationRefused):
        async with Terminal(folder, pull=False):
            pass


@pytest.mark.usefixtures("service", "queue")
async def test_a_broker_that_refuses_while_it_cannot_ask_is_tried_again(
    folder: Path, line: BreakableLine, identity: ScriptedIdentity
) -> None:
    """While identity_service is away the broker refuses everyone: no reason to give up."""
    with_wrong_password(folder, line)
    asked = 0

    async def away_at_first(terminal_id: str) -> QueueReady:
        nonlocal asked
        asked += 1
        if asked < 3:
            raise web.HTTPServiceUnavailable
        return QueueReady(queue=terminal_queue(terminal_id), broker_url=line.url)

    identity.answer = away_at_first
    async with Terminal(folder, pull=False, reply_seconds=0.3, deadline_seconds=20) as terminal:
        assert (await terminal.groups()).groups == ()
    assert TerminalFolder(folder).read().credentials.broker_url == line.url


@pytest.mark.usefixtures("queue")
async def test_a_slow_reader_does_not_hold_up_the_phonebook(
    make_terminal: MakeTerminal, service: ScriptedService
) -> None:
    service.have_group(page(member("bob", 3, BOB)))
    async with make_terminal() as terminal:
        await terminal.pull()
        slow, quick = terminal.updates(buffer=3), terminal.updates()
        people = [f"p{number}" for number in range(10)]
        await service.push(ALICE, *(changed(name, 9, card(name, name.upper())) for name in people))
        for _ in people:
            await the_next(quick, ContactAdded)
        assert slow.dropped == 17  # a member and a contact each, of whom three are left
        assert len(await terminal.contacts()) == 11


@pytest.mark.usefixtures("queue")
async def test_a_broker_that_takes_nothing_still_gives(
    make_terminal: MakeTerminal, service: ScriptedService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with an alarm on memory or disk: a publish hangs, and receiving goes on meanwhile."""
    service.have_group(page(member("bob", 3, BOB)))
    monkeypatch.setattr(outlet, "ANSWER_SECONDS", 3.0)
    async with make_terminal() as terminal:
        await terminal.pull()
        stream = terminal.updates()
        hanging = asyncio.Event()

        async def hang(*_: object, **__: object) -> None:
            hanging.set()
            await asyncio.Event().wait()

        with monkeypatch.context() as blocked:
            blocked.setattr(aio_pika.Exchange, "publish", hang)
            asking = asyncio.create_task(terminal.groups())
            await hanging.wait()
            blocked.undo()
            await service.push(ALICE, changed("bob", 5, BOB_MOVED))
            await the_next(stream, ContactUpdated)
            assert not asking.done()
        assert len((await asking).groups) == 1
