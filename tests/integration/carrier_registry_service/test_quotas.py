"""Quotas on the wire, with two copies of the registry that count at once (rows C6 and C7)."""

import asyncio
from collections import Counter
from collections.abc import Sequence

import pytest
from tests.integration.carrier_registry_service.carrying import ref
from tests.wire import System, Terminal

from carrier_registry_service.domain.access import Grant as Given
from carrier_registry_service.domain.quotas import Kept
from carrier_registry_service.domain.state import DialOrder
from carrier_registry_service.repository import mapping
from carrier_registry_service.repository.keeping import Keeping
from contactmesh.contracts.carrier.access import Grant, RevokeGrant, SetDialOrder
from contactmesh.contracts.command import Command
from contactmesh.contracts.errors import ErrorCode
from contactmesh.storage.database import Database

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.claim("C6"),
    pytest.mark.claim("C7"),
]
GRANTS, DIAL_ORDERS = 8, 5
ORDER = (ref("cn-mobile", "1"),)


async def codes(sender: Terminal, commands: Sequence[Command]) -> Counter[ErrorCode | None]:
    """What commands that are sent all at once are answered."""
    replies = await asyncio.gather(*(sender.ask(command) for command in commands))
    assert all(reply.error.details.keys() == {"limit"} for reply in replies if reply.error)
    return Counter(None if reply.error is None else reply.error.code for reply in replies)


async def test_of_grants_that_are_made_at_once_the_quota_is_kept_exactly(system: System) -> None:
    lin = await system.terminal("lin")
    viewers = [system.new_user("v") for _ in range(40)]
    grants = [Grant(viewer_id=viewer) for viewer in viewers]
    assert await codes(lin, grants) == {None: GRANTS, ErrorCode.QUOTA_EXCEEDED: 40 - GRANTS}
    assert await codes(lin, grants) == {None: GRANTS, ErrorCode.QUOTA_EXCEEDED: 40 - GRANTS}, (
        "what there is may be set again"
    )
    assert await codes(lin, [RevokeGrant(viewer_id=viewer) for viewer in viewers]) == {None: 40}
    assert await codes(lin, grants) == {None: GRANTS, ErrorCode.QUOTA_EXCEEDED: 40 - GRANTS}


async def test_of_dial_orders_that_are_set_at_once_the_quota_is_kept_exactly(
    system: System,
) -> None:
    bo = await system.terminal("bo")
    people = [system.new_user("p") for _ in range(30)]
    orders = [SetDialOrder(identity_id=who, order=ORDER) for who in people]
    kept = {None: DIAL_ORDERS, ErrorCode.QUOTA_EXCEEDED: 30 - DIAL_ORDERS}
    assert await codes(bo, orders) == kept
    assert await codes(bo, orders) == kept, "what there is may be set again"
    assert await codes(bo, [SetDialOrder(identity_id=who) for who in people]) == {None: 30}
    assert await codes(bo, list(reversed(orders))) == kept


async def test_what_was_kept_before_there_were_quotas_is_counted_once_and_whole(
    database_url: str, database_prefix: str
) -> None:
    async with Database(database_url, f"{database_prefix}registry") as database:
        given = [Given("lin", f"v{number}", details=True) for number in range(30)]
        cut_off = [Given("lin", f"w{number}", revoked=True) for number in range(5)]
        orders = [DialOrder("lin", f"v{number}", ()) for number in range(7)]
        for one in (*given, *cut_off):
            document = {"_id": f"lin/{one.viewer_id}", **mapping.stored_grant(one)}
            await database.collection(mapping.GRANTS).insert(document)
        for order in orders:
            document = {"_id": f"lin/{order.identity_id}", **mapping.stored_dial_order(order)}
            await database.collection(mapping.DIAL_ORDERS).insert(document)
        assert await Keeping(database).of(["lin"]) == [Kept("lin", 30, 7)]
