"""What the registry tells others, and what it learns again after it has lost events."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aio_pika.abc import AbstractIncomingMessage
from tests.integration.carrier_registry_service.carrying import (
    allowed,
    ask,
    began,
    carrier_of,
    check,
    denied,
    ended,
    feeds,
    new_number,
    new_seq,
    ref,
    until,
)
from tests.integration.carrier_registry_service.conftest import SERVICE
from tests.wire import DEADLINE, System

from carrier_registry_service.repository import mapping
from contactmesh.contracts.carrier.access import DescribeLine, Grant, SetDialOrder
from contactmesh.contracts.carrier.events import RegistrationRecycled
from contactmesh.contracts.carrier.records import EndReason
from contactmesh.contracts.contact import ContactChanged
from contactmesh.contracts.envelope import Envelope
from contactmesh.messaging.topology import EVENTS, REGISTRY
from contactmesh.storage.database import Database

pytestmark = pytest.mark.asyncio(loop_scope="module")


@asynccontextmanager
async def listening(system: System, *keys: str) -> AsyncIterator["asyncio.Queue[Envelope]"]:
    """An integrator's queue of events."""
    async with system.channel() as channel:
        queue = await channel.declare_queue(exclusive=True)
        for key in keys:
            await queue.bind(EVENTS, key)
        arrived: asyncio.Queue[Envelope] = asyncio.Queue()

        async def take(message: AbstractIncomingMessage) -> None:
            await arrived.put(Envelope.decode(message.body))

        await queue.consume(take, no_ack=True)
        yield arrived


async def next_of(arrived: "asyncio.Queue[Envelope]") -> Envelope:
    async with asyncio.timeout(DEADLINE):
        return await arrived.get()


async def test_each_change_is_told_once_with_the_whole_state_and_a_rising_revision(
    system: System,
) -> None:
    mobile = await carrier_of(system, "cn-mobile")
    lin = await system.terminal("lin")
    old, new = new_seq(), new_seq()
    first = began(old, lin.user_id, before := new_number())
    second = began(new, lin.user_id, after := new_number(), 5, ref("cn-mobile", old))
    last = ended(old, 90, EndReason.RECYCLED)
    async with listening(system, "contact.changed.line", "registration.recycled") as arrived:
        for entry in (first, first, second, first, second, last, last):
            await feeds(mobile, entry)
        told = [ContactChanged.model_validate((await next_of(arrived)).data) for _ in range(2)]
        assert [one.owner_id for one in told] == [lin.user_id] * 2
        assert told[0].rev < told[1].rev
        numbers = [
            [phone["number"] for phone in one.card["phones"].values()]
            for one in told
            if one.card is not None
        ]
        assert numbers == [[before], [after]]
        (line,) = told[1].lines
        assert (line.before and line.before.msisdn, line.after and line.after.msisdn) == (
            before,
            after,
        )
        recycled = await next_of(arrived)
        assert recycled.type == RegistrationRecycled.TYPE
        assert RegistrationRecycled.model_validate(recycled.data).ref == ref("cn-mobile", old)
        # what comes last through the same queue shows that nothing else was under way
        await feeds(mobile, began(new_seq(), lin.user_id, new_number(), 95))
        assert (await next_of(arrived)).type == ContactChanged.TYPE


@pytest.mark.claim("C6")
async def test_labels_and_both_orders_reach_the_viewer(system: System) -> None:
    mobile = await carrier_of(system, "cn-mobile")
    lin, bo = await system.terminals("lin", "bo")
    seqs = [new_seq() for _ in range(3)]
    await feeds(mobile, *(began(seq, lin.user_id, new_number()) for seq in seqs))
    await lin.does(Grant(viewer_id=bo.user_id))
    refs = [ref("cn-mobile", seq) for seq in seqs]
    await lin.does(DescribeLine(ref=refs[2], labels=("work 工作",), dial_priority=1))
    await lin.does(DescribeLine(ref=refs[1], dial_priority=1))
    lines = (await check(bo, lin)).lines
    assert [(line.ref, line.dial_priority) for line in lines] == [
        (refs[1], 1),
        (refs[2], 2),
        (refs[0], None),
    ]
    assert lines[1].labels == ("work 工作",)
    await bo.does(SetDialOrder(identity_id=lin.user_id, order=(refs[0],)))
    assert [line.ref for line in (await check(bo, lin)).lines] == [refs[0], refs[1], refs[2]]


@pytest.mark.parametrize("said", [True, False], ids=["said", "unsaid"])
async def test_a_number_that_is_given_on_leaves_viewers_own_orders(
    system: System, said: bool
) -> None:
    mobile = await carrier_of(system, "cn-mobile")
    lin, bo, ada, mei = await system.terminals("lin", "bo", "ada", "mei")
    gone, stays, number = new_seq(), new_seq(), new_number()
    await feeds(mobile, began(gone, lin.user_id, number), began(stays, lin.user_id, new_number()))
    refs = ref("cn-mobile", gone), ref("cn-mobile", stays)
    await bo.does(SetDialOrder(identity_id=lin.user_id, order=refs))
    await ada.does(SetDialOrder(identity_id=lin.user_id, order=refs[:1]))
    await feeds(
        mobile,
        ended(gone, 90, EndReason.RECYCLED) if said else began(new_seq(), mei.user_id, number, 90),
    )
    async with Database(system.mongodb_url, system.database_prefix + SERVICE) as database:
        orders = database.collection(mapping.DIAL_ORDERS)
        async with asyncio.timeout(DEADLINE):
            while found := await orders.find({"order": str(refs[0])}):
                assert {one["identity_id"] for one in found} == {lin.user_id}
            while len(kept := await orders.find({"identity_id": lin.user_id})) > 1:
                pass
    assert [(one["viewer_id"], one["order"]) for one in kept] == [(bo.user_id, [str(refs[1])])]


@pytest.mark.claim("C7")
async def test_lost_events_are_asked_for_and_until_then_nobody_sees_more(system: System) -> None:
    mobile = await carrier_of(system, "cn-mobile")
    lin, bo, ada = await system.terminals("lin", "bo", "ada")
    await feeds(mobile, began(new_seq(), lin.user_id, new_number()))
    for copy in (1, 2):
        await system.stack.stop(SERVICE, copy)
    group_id = await lin.creates(bo)
    invitation_id = await lin.invites(group_id, ada)
    await bo.until_told("group.joined", group_id)  # what fanout_service has, waits here too
    async with system.channel() as channel:
        queue = await channel.get_queue(REGISTRY.events_queue.name)
        await queue.purge()
    for copy in (1, 2):
        await system.stack.start(SERVICE, copy)
    await system.stack.until_ready()
    assert denied(await ask(bo, lin))
    await ada.accepts(invitation_id)
    await until(bo, lin, allowed)
    await until(ada, lin, allowed)
