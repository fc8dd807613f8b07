"""A page that is the whole book, and how long removals are kept: with the real database (M4)."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest
import pytest_asyncio
from tests.integration.multi_sim_replication_service.copies import SimCopy
from tests.integration.multi_sim_replication_service.holders import MOBILE, UNICOM, iccid
from tests.wire import card_of

from contactmesh.contracts.errors import ErrorCode
from contactmesh.contracts.multi_sim.commands import RegisterSim, Store, StoredChange
from contactmesh.contracts.multi_sim.records import SpaceKind
from contactmesh.storage.database import Database
from multi_sim_replication_service import forgetting, wanted
from multi_sim_replication_service.domain import storing
from multi_sim_replication_service.forgetting import Forgetting

pytestmark = pytest.mark.claim("M4")

PHONE = "lin_aaaaaaaa"
MOST_WHOLE = 5


@pytest_asyncio.fixture
async def copy(
    database_url: str, database_prefix: str, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[SimCopy]:
    for module in (storing, wanted):
        monkeypatch.setattr(module, "MOST_WHOLE", MOST_WHOLE)
    name = f"{database_prefix}multi_sim_replication_service"
    async with Database(database_url, name) as database:
        copy = SimCopy(database)
        await copy.unit_of_work.prepare()
        await copy.reading.prepare()
        yield copy


def _store(sim_id: str, *numbers: int, removed: bool = False, whole: bool = False) -> Store:
    changes = tuple(
        StoredChange(
            uid=f"urn:example:{number:05d}",
            card=None if removed else card_of(f"{number:05d}", "+861390000001"),
        )
        for number in numbers
    )
    return Store(sim_id=sim_id, space=SpaceKind.SHARED, changes=changes, whole=whole)


async def _stored(copy: SimCopy, number: int, carrier_id: str = MOBILE, sim: int = 1) -> str:
    """A new SIM and as many contacts in its account's shared space."""
    command = RegisterSim(carrier_id=carrier_id, iccid=iccid(sim), name="SIM")
    registered = (await copy.does(PHONE, command)).result
    assert registered is not None
    sim_id = str(registered["sim_id"])
    assert (await copy.does(PHONE, _store(sim_id, *range(number)))).error is None
    return sim_id


async def _number(copy: SimCopy) -> tuple[int, int]:
    """How many contacts the account says it has, and how many it has."""
    (account,) = await copy.reading.accounts("lin")
    found = await copy.reading.contacts(
        account.space_id(SpaceKind.SHARED),
        after=0,
        until=account.shared.rev,
        limit=MOST_WHOLE * 2,
        cards=False,
    )
    return account.shared.contacts, len(found)


async def _forget(copy: SimCopy, days: int) -> None:
    """Forget what there is to forget in so many days."""
    now = datetime.now(UTC) + timedelta(days=days)
    await Forgetting(copy.reading, copy.loading, copy.unit_of_work, lambda: now).forget()


async def test_a_whole_book_removes_all_that_it_does_not_name(copy: SimCopy) -> None:
    sim_id = await _stored(copy, MOST_WHOLE)
    reply = await copy.does(PHONE, _store(sim_id, 2, 4, whole=True))
    assert reply.result is not None
    assert (reply.result["removed"], reply.result["same"]) == (MOST_WHOLE - 2, 2)
    assert await _number(copy) == (2, 2)


async def test_in_a_batch_a_book_is_either_whole_or_refused(copy: SimCopy) -> None:
    sim_id = await _stored(copy, MOST_WHOLE + 1)
    removal, whole = await copy.decides(
        (PHONE, _store(sim_id, 3, removed=True)), (PHONE, _store(sim_id, 7, whole=True))
    )
    assert removal.error is None
    assert whole.error is not None, "it was too large when the batch began"
    assert whole.error.code is ErrorCode.INVALID_ARGUMENT
    assert "in pages" in str(whole.error.details)
    assert await _number(copy) == (MOST_WHOLE, MOST_WHOLE)
    again, more, last = await copy.decides(
        (PHONE, _store(sim_id, 7, whole=True)),
        (PHONE, _store(sim_id, 7, 8)),
        (PHONE, _store(sim_id, 8, whole=True)),
    )
    assert again.error is more.error is last.error is None
    assert await _number(copy) == (1, 1)


@pytest.mark.parametrize(("days", "kept"), [(89, 2), (91, 0)])
async def test_removals_are_kept_for_90_days_and_contacts_for_ever(
    copy: SimCopy, days: int, kept: int
) -> None:
    sim_id = await _stored(copy, 5)
    await copy.does(PHONE, _store(sim_id, 1, 3, removed=True))
    await _forget(copy, days)
    (account,) = await copy.reading.accounts("lin")
    page, more = await copy.loading.page(account, after=0, limit=10)
    assert not more
    assert sum(entry.digest == "" for entry in page) == kept
    assert await _number(copy) == (3, 3)


async def test_a_removal_is_kept_while_another_account_holds_the_contact(
    copy: SimCopy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forgetting, "PAGE", 2)
    there = await _stored(copy, 5, UNICOM, sim=2)
    here = await _stored(copy, 5)
    await copy.does(PHONE, _store(here, 0, 1, 2, 3, 4, removed=True))
    await copy.does(PHONE, _store(there, 0, 2, removed=True))
    for days, kept in ((89, 5), (91, 3), (182, 3)):
        await _forget(copy, days)
        account = await copy.reading.account("lin", MOBILE)
        assert account is not None
        page, _ = await copy.loading.page(account, after=0, limit=10)
        assert {one.uid[-1] for one in page} == ({"1", "3", "4"} if kept == 3 else set("01234"))
        assert account.shared.removed == kept
