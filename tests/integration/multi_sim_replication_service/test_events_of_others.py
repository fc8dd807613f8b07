"""The address book changes, numbers are given on, SIM cards go: on the wire (rows M1-M5)."""

import secrets
from datetime import UTC, datetime

import pytest
from tests.integration.multi_sim_replication_service.holders import (
    MOBILE,
    TELECOM,
    UNICOM,
    Held,
    accounts_of,
    agrees,
    holds,
    iccid,
    registers,
)
from tests.wire import System, card_of

from contactmesh.contracts.carrier.events import RegistrationRecycled
from contactmesh.contracts.carrier.records import RegistrationRef
from contactmesh.contracts.contact import MAIN_BOOK, ContactChanged, Operation, Origin, Scope
from contactmesh.contracts.envelope import Envelope, Message
from contactmesh.contracts.errors import ErrorCode
from contactmesh.contracts.multi_sim.commands import (
    FollowBook,
    RegisterSim,
    RemoveSim,
    RequestUpdate,
    ShowPending,
    SimRegistered,
)
from contactmesh.contracts.multi_sim.records import SpaceKind
from contactmesh.local.waiting import until

pytestmark = pytest.mark.asyncio(loop_scope="module")


def _entry(owner_id: str, uid: str, rev: int, number: str | None) -> ContactChanged:
    return ContactChanged(
        scope=Scope.BOOK,
        book=MAIN_BOOK,
        owner_id=owner_id,
        uid=f"urn:example:{uid}",
        rev=rev,
        op=Operation.DELETED if number is None else Operation.MODIFIED,
        card=None if number is None else dict(card_of(uid, number).to_json()),
        origin=Origin(service="sync_service"),
    )


async def _happens(system: System, key: str, *events: Message) -> None:
    bodies = [
        Envelope.of(
            event, id=secrets.token_hex(12), source="/services/test", time=datetime.now(UTC)
        ).encode()
        for event in events
    ]
    await system.publish_events([(key, body) for body in bodies])


@pytest.mark.claim("M3")
@pytest.mark.claim("M4")
async def test_the_book_comes_to_the_account_that_follows_it_and_to_no_other(
    system: System,
) -> None:
    phone, bo = await system.terminals("lin", "bo")
    await registers(phone, MOBILE, 1)
    two, three = await registers(phone, TELECOM, 2), await registers(phone, UNICOM, 3)
    await registers(bo, TELECOM, 4)
    await agrees(phone, UNICOM)
    await phone.does(FollowBook(carrier_id=TELECOM, follow=True))
    await bo.does(FollowBook(carrier_id=TELECOM, follow=True))
    await two.stores({"secret": "+861390000777"}, SpaceKind.PRIVATE)
    await two.stores({"an": "of the terminal"})
    lin = phone.user_id
    await _happens(
        system,
        "contact.changed.book",
        _entry(lin, "secret", 1, "+861390000778"),
        _entry(lin, "eve", 1, "+861390000004").model_copy(update={"book": "work"}),
        _entry(lin, "an", 1, "+861390000001"),
        _entry(lin, "bo", 2, None),
        _entry(lin, "bo", 1, "+861390000002"),
        *(_entry(lin, f"c{number}", 1, "+861390000003") for number in range(20)),
    )
    expected = {f"urn:example:{uid}" for uid in ("an", *(f"c{number}" for number in range(20)))}

    async def has_come() -> bool:
        here, there = await holds(phone, TELECOM), await holds(phone, UNICOM)
        return set(here) == expected and here == there

    await until(has_come, seconds=30)
    cards = {item.uid: item.card for item in (await three.until_waiting(21)).items}
    assert cards["urn:example:an"] == card_of("an", "+861390000001").to_json(), "the book is later"
    assert await holds(phone, MOBILE) == {}, "it follows nothing and agrees to nothing"
    assert await holds(bo, TELECOM) == {}, "another user's book"
    assert set(await holds(phone, TELECOM, SpaceKind.PRIVATE)) == {"urn:example:secret"}
    assert not phone.ever_saw("+861390000777")

    await phone.does(FollowBook(carrier_id=TELECOM, follow=False))
    await phone.does(FollowBook(carrier_id=UNICOM, follow=True))
    await _happens(system, "contact.changed.book", _entry(lin, "an", 2, None))
    await three.until_waiting(20)
    assert "urn:example:an" in await holds(phone, TELECOM)
    assert "urn:example:an" not in await holds(phone, UNICOM)


async def _register_numbered(system: System) -> tuple[Held, Held]:
    """Two SIMs of one account in one terminal; a contact waits for the second, cn-mobile:7."""
    phone = await system.terminal("lin")
    one = await registers(phone, MOBILE, 1)
    command = RegisterSim(carrier_id=MOBILE, iccid=iccid(2), name="two", registration_seq="7")
    registered = await phone.does(command)
    assert isinstance(registered, SimRegistered)
    two = Held(phone, registered.sim_id)
    await one.stores({"an": "+861390000001"})
    await two.until_waiting(1)
    return one, two


@pytest.mark.claim("M1")
async def test_the_sim_of_a_number_that_was_given_on_goes_and_its_account_stays(
    system: System,
) -> None:
    one, two = await _register_numbered(system)
    phone = one.terminal
    ref = RegistrationRef(carrier_id=MOBILE, registration_seq="7")
    others = RegistrationRef(carrier_id=UNICOM, registration_seq="7")
    await _happens(
        system,
        "registration.recycled",
        RegistrationRecycled(owner_id=phone.user_id, ref=others),
        RegistrationRecycled(owner_id=system.new_user("bo"), ref=ref),
        RegistrationRecycled(owner_id=phone.user_id, ref=ref),
    )
    await two.until_told(waiting=0)
    (account,) = (await accounts_of(phone)).accounts
    assert [sim.sim_id for sim in account.sims] == [one.sim_id]
    assert set(await holds(phone, MOBILE)) == {"urn:example:an"}
    assert (await phone.refused(two.store({"bo": "1"}))).code is ErrorCode.NOT_FOUND


@pytest.mark.claim("M1")
@pytest.mark.claim("M5")
async def test_a_removed_sim_goes_with_what_waits_and_comes_as_a_new_one(system: System) -> None:
    one, two = await _register_numbered(system)
    phone = one.terminal
    await phone.does(RemoveSim(sim_id=two.sim_id))
    await two.until_told(waiting=0)
    for command in (ShowPending(sim_id=two.sim_id), RequestUpdate(sim_id=two.sim_id)):
        error = await phone.refused(command)
        assert error.code is ErrorCode.NOT_FOUND
        assert "list of your accounts" in error.message
    await one.stores({"bo": "+861390000002"})
    again = await registers(phone, MOBILE, 2)
    assert again.sim_id != two.sim_id
    shown = await again.until_waiting(2)
    assert [item.uid for item in shown.items] == ["urn:example:an", "urn:example:bo"]


@pytest.mark.claim("M5")
async def test_an_update_says_that_more_follow_and_tells_its_end(system: System) -> None:
    phone = await system.terminal("lin")
    one, two = await registers(phone, MOBILE, 1), await registers(phone, MOBILE, 2)
    await phone.does(RequestUpdate(sim_id=two.sim_id))
    await two.until_told(waiting=0, filling=False)
    await one.stores({f"c{number}": "+861390000001" for number in range(5)})
    rev = (await two.until_waiting(5)).pending_rev
    three = await registers(phone, MOBILE, 3)
    await three.until_told(waiting=5, filling=False)
    told = [(update["waiting"], update["filling"]) for update in three.told()]
    assert told == [(2, True), (4, True), (5, False)], "in pages of two"
    assert (await two.decides(rev, accept=True)).settled == 5
    before = len(two.told())
    await phone.does(RequestUpdate(sim_id=two.sim_id))
    await phone.until(lambda: len(two.told()) > before)
    assert (two.told()[-1]["waiting"], two.told()[-1]["filling"]) == (0, False), "all was seen"


@pytest.mark.claim("M4")
@pytest.mark.claim("M5")
async def test_a_withdrawal_ends_an_update_and_nothing_is_copied_after_its_reply(
    system: System,
) -> None:
    phone = await system.terminal("lin")
    one, two = await registers(phone, MOBILE, 1), await registers(phone, UNICOM, 2)
    await one.stores({f"c{number:02}": "+861390000001" for number in range(60)})
    await agrees(phone, UNICOM)
    await phone.does(RequestUpdate(sim_id=two.sim_id, from_carrier_id=MOBILE))
    await agrees(phone, UNICOM, consent=False)
    copied = await holds(phone, UNICOM)
    await two.until_told(waiting=len(copied), filling=False)
    await one.stores({f"c{number:02}": "+861390000002" for number in range(60)})
    await phone.does(RequestUpdate(sim_id=two.sim_id))
    ends = sum(not update["filling"] for update in two.told())
    await phone.until(lambda: sum(not update["filling"] for update in two.told()) > ends)
    assert await holds(phone, UNICOM) == copied
    assert not (await two.view()).filling


@pytest.mark.claim("M5")
async def test_an_update_comes_from_an_own_account_alone(system: System) -> None:
    lin, bo = await system.terminals("lin", "bo")
    one, theirs = await registers(lin, MOBILE, 1), await registers(bo, UNICOM, 2)
    await agrees(lin, MOBILE)
    await theirs.stores({"an": "+861390000001"})
    for carrier_id in (UNICOM, TELECOM):
        command = RequestUpdate(sim_id=one.sim_id, from_carrier_id=carrier_id)
        error = await lin.refused(command)
        assert error.code is ErrorCode.NOT_FOUND
        assert error.message == (
            f"You have no account at {carrier_id}; see the list of your accounts."
        ), "alike, whether another user has one there or not"
    for command in (
        RequestUpdate(sim_id=theirs.sim_id),
        RequestUpdate(sim_id=theirs.sim_id, from_carrier_id=MOBILE),
    ):
        assert (await lin.refused(command)).code is ErrorCode.NOT_FOUND
    assert (await one.pending()).items == ()
    assert not (await one.view()).filling
