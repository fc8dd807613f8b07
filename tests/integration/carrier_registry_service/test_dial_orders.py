"""Numbers that were given on leave viewers' own dial orders, however many there are."""

from dataclasses import replace
from datetime import timedelta

import pytest
from pymongo import MongoClient
from tests.integration.carrier_registry_service.carrying import day

from carrier_registry_service.domain.lineage import Rules
from carrier_registry_service.domain.quotas import Kept
from carrier_registry_service.domain.registration import Beginning, Ref, Registration
from carrier_registry_service.domain.state import DialOrder, Record
from carrier_registry_service.repository import mapping
from carrier_registry_service.repository.dial_orders import BATCH, DialOrders
from carrier_registry_service.repository.keeping import Keeping
from contactmesh.contracts.carrier.events import RegistrationRecycled
from contactmesh.contracts.carrier.records import LineType
from contactmesh.storage.database import Database

RULES = Rules(timedelta(days=1), lambda carrier: carrier)
GONE, STAYS, INSTEAD = (Ref("cn-mobile", seq) for seq in (1, 2, 3))
RECYCLED = RegistrationRecycled(owner_id="lin", ref=GONE.shown())
CASES = {
    "alone": ((GONE,), (), (INSTEAD,)),
    "first": ((GONE, STAYS), (STAYS,), (INSTEAD, STAYS)),
    "last": ((STAYS, GONE), (STAYS,), (STAYS, INSTEAD)),
    "before what came instead": ((GONE, STAYS, INSTEAD), (STAYS, INSTEAD), (INSTEAD, STAYS)),
    "not in it": ((STAYS,), (STAYS,), (STAYS,)),
}


def registration(ref: Ref, replaces: Ref | None = None) -> Registration:
    number = f"+86138000000{ref.seq:02d}"
    return Registration(ref, Beginning("lin", number, LineType.MOBILE, day(ref.seq), replaces))


@pytest.mark.parametrize("replaced", [False, True], ids=["nothing instead", "replaced"])
async def test_every_order_loses_it_and_what_came_instead_has_its_place(
    database_url: str, database_prefix: str, replaced: bool
) -> None:
    async with Database(database_url, f"{database_prefix}registry") as database:
        dial_orders = DialOrders(database, RULES)
        await dial_orders.prepare()
        stored = database.collection(mapping.DIAL_ORDERS)
        for name, (before, _, _) in CASES.items():
            order = DialOrder(name, "lin", before)
            await stored.insert({"_id": f"{name}/lin", **mapping.stored_dial_order(order)})
        owns = [replace(registration(GONE), passed_on=day(90)), registration(STAYS)]
        owns += [registration(INSTEAD, GONE)] if replaced else []
        record = Record("lin", 1, {one.ref: one for one in owns})
        await database.collection(mapping.RECORDS).insert(
            {"_id": "lin", "etag": 1, **mapping.stored_record(record)}
        )
        for _ in range(2):
            await dial_orders.let_go(RECYCLED)
            found = map(mapping.dial_order, await stored.find({}))
            assert {one.viewer_id: one.order for one in found} == {
                name: instead if replaced else left
                for name, (_, left, instead) in CASES.items()
                if left or replaced
            }


async def test_more_orders_than_one_batch_are_found_by_the_number(
    database_url: str, database_prefix: str
) -> None:
    name = f"{database_prefix}registry"
    async with Database(database_url, name) as database:
        dial_orders = DialOrders(database, RULES)
        await dial_orders.prepare()
        stored = database.collection(mapping.DIAL_ORDERS)
        viewers = [f"viewer-{n}" for n in range(2 * BATCH + 1)]
        await stored.update_each(
            [
                (
                    {"_id": f"{viewer}/lin"},
                    {"$set": mapping.stored_dial_order(DialOrder(viewer, "lin", (GONE, STAYS)))},
                )
                for viewer in viewers
            ],
            upsert=True,
        )
        with MongoClient[dict[str, object]](database_url) as client:
            query = client[name][mapping.DIAL_ORDERS].find({"order": str(GONE)})
            assert "IXSCAN" in str(query.explain()["queryPlanner"])
        await dial_orders.let_go(RECYCLED)
        assert await stored.count({"order": str(GONE)}, limit=1) == 0
        assert await stored.count({"order": [str(STAYS)]}, limit=9999) == len(viewers)


async def test_an_order_that_ends_so_is_no_longer_counted(
    database_url: str, database_prefix: str
) -> None:
    async with Database(database_url, f"{database_prefix}registry") as database:
        keeping, stored = Keeping(database), database.collection(mapping.DIAL_ORDERS)
        for owner, order in (("lin", (GONE,)), ("mei", (STAYS,))):
            document = mapping.stored_dial_order(DialOrder("bo", owner, order))
            await stored.insert({"_id": f"bo/{owner}", **document})
        kept = database.collection(mapping.KEPT)
        await kept.insert({"_id": "bo", "grants": 3, "dial_orders": 2, "etag": 7})
        assert await keeping.of(["bo"]) == [Kept("bo", 3, 2, 7)]
        await DialOrders(database, RULES).let_go(RECYCLED)
        assert await keeping.of(["bo", "ada"]) == [Kept("ada"), Kept("bo", 3, 1, 8)]
        await keeping.count_again(["ada"])
        assert await keeping.of(["ada"]) == [Kept("ada", etag=1)], "who counted before counts again"
