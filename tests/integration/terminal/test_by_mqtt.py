"""A terminal that speaks MQTT does what one that speaks AMQP does, with the real services."""

import asyncio
import contextlib
import gc
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.integration.identity_service.breakable_line import BreakableLine, breakable_line
from tests.integration.identity_service.test_mqtt_queues import queues_of
from tests.integration.terminal.people import People
from tests.integration.terminal.test_receiving import the_next
from tests.integration.terminal.test_with_services import number_of, own_card

from contactmesh.contracts.identity import Credentials
from contactmesh.local.waiting import until
from contactmesh.messaging.topology import subscription_queue, terminal_queue
from contactmesh.terminal import (
    AuthenticationRefused,
    ContactAdded,
    ContactUpdated,
    Enrolment,
    Terminal,
    TerminalFolder,
)
from contactmesh.terminal.mqtt_session import MqttSession
from contactmesh.terminal.session import Arrived

OLD, NEW, NEWEST = "+8613800138000", "+8613900139000", "+8613700137000"
PATIENCE = 30

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture(autouse=True)
def offered(people: People) -> None:
    """Only where the broker of the environment speaks MQTT."""
    if people.system.broker.mqtt_url is None:
        pytest.skip("the broker of the environment offers no MQTT")


def folder_of(terminal: Terminal) -> Path:
    return terminal.phonebook.path.parent


async def family(people: People, *transports: str) -> list[Terminal]:
    """Running terminals of new users who share a group, and whose first cards have arrived."""
    terminals = [await people.terminal("member", transport) for transport in transports]
    creator, *others = terminals
    await creator.create_group("家人", [other.user_id for other in others])
    streams = [terminal.updates() for terminal in terminals]
    for terminal in terminals:
        await terminal.publish(own_card(terminal, OLD))
        for other, stream in zip(terminals, streams, strict=True):
            if other is not terminal:
                await the_next(stream, ContactAdded)
    return terminals


@pytest.mark.claim("G1")
async def test_terminals_of_both_protocols_follow_each_other(people: People) -> None:
    phone, desk = await family(people, "mqtt", "amqp")
    for changed, other in ((phone, desk), (desk, phone)):
        updates = other.updates()
        await changed.publish(own_card(changed, NEW))
        update = await the_next(updates, ContactUpdated)
        assert isinstance(update, ContactUpdated)
        assert update.changed_fields == ("phones/mobile/number",)
        assert await number_of(other, changed.user_id) == NEW


@pytest.mark.claim("G1b")
@pytest.mark.parametrize("transports", [("mqtt", "amqp"), ("amqp", "mqtt"), ("mqtt", "mqtt")])
async def test_a_block_holds_whatever_the_two_speak(
    people: People, transports: tuple[str, str]
) -> None:
    alice, bob = await family(people, *transports)
    await bob.block(alice.user_id)
    await bob.publish(own_card(bob, NEW))
    assert await alice.pull() == ()
    assert await number_of(alice, bob.user_id) == OLD
    updates = alice.updates()
    await bob.lift(alice.user_id)
    await the_next(updates, ContactUpdated)
    assert await number_of(alice, bob.user_id) == NEW


@pytest.mark.claim("G4")
async def test_what_was_pushed_while_it_was_away_waits_and_a_pull_brings_it_too(
    people: People,
) -> None:
    alice = await people.enrol(people.system.new_user("alice"), "phone", "mqtt")
    bob = await people.terminal("bob")
    folder = folder_of(alice)
    async with Terminal(folder) as alice:
        updates = alice.updates()
        await alice.create_group("Family", [bob.user_id])
        await bob.publish(own_card(bob, OLD))
        await the_next(updates, ContactAdded)
    await bob.publish(own_card(bob, NEW))
    async with Terminal(folder, pull=False) as alice:
        updates = alice.updates()
        await the_next(updates, ContactUpdated)
        assert await number_of(alice, bob.user_id) == NEW
    await bob.publish(own_card(bob, NEWEST))
    async with Terminal(folder) as alice:
        updates = alice.updates()
        await alice.pull()
        assert await number_of(alice, bob.user_id) == NEWEST


async def test_what_was_applied_and_not_acknowledged_comes_again_without_harm(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice = await people.enrol(people.system.new_user("alice"), "phone", "mqtt")
    bob = await people.terminal("bob")
    folder = folder_of(alice)
    async with Terminal(folder) as alice:
        updates = alice.updates()
        await alice.create_group("Family", [bob.user_id])
        await bob.publish(own_card(bob, OLD))
        await the_next(updates, ContactAdded)
    applied = asyncio.Event()
    acknowledge = MqttSession.acknowledge

    async def not_the_new_one(session: MqttSession, message: Arrived) -> None:
        if await number_of(alice, bob.user_id) == NEW:
            applied.set()
            await asyncio.Event().wait()
        await acknowledge(session, message)

    with monkeypatch.context() as patched:
        patched.setattr(MqttSession, "acknowledge", not_the_new_one)
        async with Terminal(folder, pull=False) as alice:
            await bob.publish(own_card(bob, NEW))
            async with asyncio.timeout(PATIENCE):
                await applied.wait()
    async with Terminal(folder, pull=False) as alice:
        updates = alice.updates()
        await bob.publish(own_card(bob, NEWEST))
        update = await the_next(updates, ContactUpdated)
        assert isinstance(update, ContactUpdated)
        assert await number_of(alice, bob.user_id) == NEWEST, "the repeated one is told no more"


async def test_terminal_comes_back_by_itself(people: People) -> None:
    """Also with a command under way, which takes effect once."""
    alice = await people.enrol(people.system.new_user("alice"), "phone", "mqtt")
    bob = await people.terminal("bob")
    folder = TerminalFolder(folder_of(alice))
    async with over_a_line(folder) as line, Terminal(folder.path, reply_seconds=1) as alice:
        group_id = await alice.create_group("Family", [bob.user_id])
        for number in (OLD, NEW):
            await line.cut()
            publishing = asyncio.create_task(alice.publish(own_card(alice, number), [group_id]))
            await line.mend()
            (published,) = await publishing
            assert published.rev is not None
        updates = alice.updates()
        await bob.publish(own_card(bob, NEW))
        await the_next(updates, ContactAdded)


@contextlib.asynccontextmanager
async def over_a_line(folder: TerminalFolder) -> AsyncIterator[BreakableLine]:
    """Let a terminal reach the broker over a line that can be cut."""
    enrolment = folder.read()
    assert enrolment.credentials.mqtt_url is not None
    async with breakable_line(enrolment.credentials.mqtt_url) as line:
        folder.write(with_address(enrolment, line.url))
        yield line


def with_address(enrolment: Enrolment, mqtt_url: str) -> Enrolment:
    credentials = Credentials(**{**enrolment.credentials.model_dump(), "mqtt_url": mqtt_url})
    return enrolment.model_copy(update={"credentials": credentials})


async def test_revoked_terminal_ends(people: People) -> None:
    alice = await people.enrol(people.system.new_user("alice"), "phone", "mqtt")
    async with alice:
        await alice.groups()
        stream = alice.updates()
        await people.system.revoke(alice.terminal_id)
        async with asyncio.timeout(PATIENCE):
            with pytest.raises(AuthenticationRefused):
                async for _ in stream:
                    pass
    assert await queues_of(people.system.broker, alice.terminal_id) == {}


async def test_terminal_that_changes_its_protocol_has_one_queue(people: People) -> None:
    alice = await people.enrol(people.system.new_user("alice"), "phone", "amqp")
    broker, folder = people.system.broker, folder_of(alice)
    by_amqp, by_mqtt = terminal_queue(alice.terminal_id), subscription_queue(alice.terminal_id)
    for transport, queue in (("amqp", by_amqp), ("mqtt", by_mqtt), ("amqp", by_amqp)):
        async with Terminal(folder, transport=transport) as alice:
            await alice.groups()
            assert set(await queues_of(broker, alice.terminal_id)) == {queue}
    async with Terminal(folder) as alice:
        await alice.groups()
    assert TerminalFolder(folder).read().credentials.queue == by_amqp


async def test_it_leaves_nothing_behind(people: People) -> None:
    alice = await people.enrol(people.system.new_user("alice"), "phone", "mqtt")
    before = asyncio.all_tasks()
    async with alice:
        await alice.groups()

    async def tidy() -> bool:
        return asyncio.all_tasks() <= before

    await until(tidy, seconds=PATIENCE)
    gc.collect()
    folder = TerminalFolder(folder_of(alice))
    folder.write(with_address(folder.read(), "mqtt://127.0.0.1:9/"))
    async with Terminal(folder.path):  # nobody is there: it is offline
        pass
    await until(tidy, seconds=PATIENCE)
    gc.collect()
