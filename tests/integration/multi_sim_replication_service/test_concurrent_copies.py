"""Two copies of the service work at the same accounts at once (rows M1-M6).

While one copy handles a command or an event, the other handles another one completely: before the
first read of the first, before its second, and so on until just before its commit. Whatever the
moment, replies, stored state and what is told must be those of the one after the other, in one of
the two orders.
"""

import itertools
import json
import os
import secrets
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
import pytest_asyncio
from tests.integration.group_service.copies import HookedDatabase, Interruption
from tests.integration.multi_sim_replication_service.copies import SimCopy
from tests.integration.multi_sim_replication_service.holders import MOBILE, TELECOM, UNICOM, iccid
from tests.wire import card_of

from contactmesh.contacts import digest
from contactmesh.contracts.carrier.events import RegistrationRecycled
from contactmesh.contracts.carrier.records import RegistrationRef
from contactmesh.contracts.command import Command
from contactmesh.contracts.contact import MAIN_BOOK, ContactChanged, Origin, Scope
from contactmesh.contracts.envelope import Message
from contactmesh.contracts.multi_sim.commands import (
    Decide,
    FollowBook,
    MoveSim,
    RegisterSim,
    RemoveSim,
    ReplaceSim,
    RequestUpdate,
    SetConsent,
    Store,
    StoredChange,
)
from contactmesh.contracts.multi_sim.events import CatchUp, ReplicatedContact, SpaceChanged, Stamp
from contactmesh.contracts.multi_sim.records import SpaceKind
from contactmesh.contracts.reply import Reply
from contactmesh.contracts.sync.events import BookPage, HeldEntry
from contactmesh.storage.database import Database
from contactmesh.storage.transaction import Document
from multi_sim_replication_service.domain.documents import Limits

pytestmark = [pytest.mark.claim("M1"), pytest.mark.claim("M3"), pytest.mark.claim("M4")]

LIMITS = Limits(accounts=3, sims=2, contacts=3, page=2)
"""One account more, and one SIM and one contact at cn-unicom: of two that want it, one gets it."""


@dataclass(frozen=True)
class Place:
    """Lin's phone with a SIM at cn-mobile, and the tablet with one at cn-unicom, which agrees.

    cn-unicom follows the address book. What was told of the beginning is under way for ever, first
    pages of updates from both accounts among it.
    """

    user_id: str
    one: str
    two: str
    view_id: str
    """What the tablet's part of its SIM is kept under."""

    @property
    def phone(self) -> str:
        return f"{self.user_id}_aaaaaaaa"

    @property
    def tablet(self) -> str:
        return f"{self.user_id}_bbbbbbbb"


Asked = Callable[[Place], tuple[str, Command] | Message]


def _store(
    sim_id: str,
    uid: str,
    number: str | None,
    space: SpaceKind = SpaceKind.SHARED,
    known: str | None = None,
) -> Store:
    card = None if number is None else card_of(uid, number)
    changes = (StoredChange(uid=f"urn:example:{uid}", card=card, known=known),)
    return Store(sim_id=sim_id, space=space, changes=changes)


def _digest(uid: str, number: str) -> str:
    return digest(card_of(uid, number))


def _arrives(place: Place) -> Message:
    cards = {uid: dict(card_of(uid, "+861390000009").to_json()) for uid in ("an", "chen")}
    return SpaceChanged(
        owner_id=place.user_id,
        carrier_id=MOBILE,
        rev=9,
        contacts=tuple(
            ReplicatedContact(
                uid=f"urn:example:{uid}", card=card, stamp=Stamp(at=2**52, carrier_id=MOBILE)
            )
            for uid, card in cards.items()
        ),
    )


def _caught_up(place: Place, source: str) -> Message:
    return CatchUp(
        owner_id=place.user_id, from_carrier_id=source, to_carrier_id=UNICOM, sim_id=place.two
    )


def _of_the_book(place: Place) -> Message:
    return ContactChanged(
        scope=Scope.BOOK,
        book=MAIN_BOOK,
        owner_id=place.user_id,
        uid="urn:example:an",
        rev=1,
        card=dict(card_of("an", "+861390000008").to_json()),
        origin=Origin(service="sync_service"),
    )


def _book_shown(place: Place) -> Message:
    cards = {uid: dict(card_of(uid, "+861390000007").to_json()) for uid in ("an", "gao")}
    entries = tuple(
        HeldEntry(uid=f"urn:example:{uid}", rev=2**52 + at, card=card)
        for at, (uid, card) in enumerate(cards.items())
    )
    return BookPage(owner_id=place.user_id, carrier_id=UNICOM, after=0, entries=entries, next=2**53)


def _recycled(place: Place) -> Message:
    ref = RegistrationRef(carrier_id=UNICOM, registration_seq="7")
    return RegistrationRecycled(owner_id=place.user_id, ref=ref)


def _registers(carrier_id: str, number: int) -> Asked:
    command = RegisterSim(carrier_id=carrier_id, iccid=iccid(number), name="SIM")
    return lambda place: (place.phone, command)


ASKED: dict[str, Asked] = {
    "a page arrives": _arrives,
    "a page is caught up": lambda place: _caught_up(place, MOBILE),
    "a page is laid ready": lambda place: _caught_up(place, UNICOM),
    "the book changes": _of_the_book,
    "a page of the book comes": _book_shown,
    "the number is recycled": _recycled,
    "consent is withdrawn": lambda place: (
        place.phone,
        SetConsent(carrier_id=UNICOM, consent=False),
    ),
    "the book is followed no more": lambda place: (
        place.phone,
        FollowBook(carrier_id=UNICOM, follow=False),
    ),
    "the SIM is removed": lambda place: (place.phone, RemoveSim(sim_id=place.two)),
    "the SIM moves": lambda place: (place.phone, MoveSim(sim_id=place.two)),
    "the card is replaced": lambda place: (
        place.phone,
        ReplaceSim(sim_id=place.two, iccid=iccid(9)),
    ),
    "an update is requested": lambda place: (
        place.tablet,
        RequestUpdate(sim_id=place.two, from_carrier_id=MOBILE),
    ),
    "the tablet stores": lambda place: (place.tablet, _store(place.two, "an", "+861390000002")),
    "the tablet stores the last": lambda place: (place.tablet, _store(place.two, "eve", "1")),
    "the tablet stores one more": lambda place: (place.tablet, _store(place.two, "fay", "1")),
    "the tablet removes": lambda place: (place.tablet, _store(place.two, "dai", None)),
    "the tablet stores privately": lambda place: (
        place.tablet,
        _store(place.two, "an", "+861390000002", SpaceKind.PRIVATE),
    ),
    "the phone stores privately": lambda place: (
        place.phone,
        _store(place.one, "an", "+861390000002", SpaceKind.PRIVATE),
    ),
    "the tablet stores over what it knows": lambda place: (
        place.tablet,
        _store(place.two, "an", "+861390000002", known=_digest("an", "+861390000001")),
    ),
    "the phone stores": lambda place: (place.phone, _store(place.one, "an", "+861390000003")),
    "the tablet accepts": lambda place: (
        place.tablet,
        Decide(sim_id=place.two, pending_rev=1, accept=True),
    ),
    "a SIM makes an account": _registers(TELECOM, 3),
    "another SIM makes it": _registers(TELECOM, 4),
    "the same card elsewhere": _registers("cn-other", 3),
    "a SIM joins the account": _registers(UNICOM, 5),
    "another SIM joins it": _registers(UNICOM, 6),
}

TELLING = [
    ("a page arrives", "consent is withdrawn"),
    ("a page is caught up", "consent is withdrawn"),
    ("a page is caught up", "the SIM is removed"),
    ("a page is caught up", "the phone stores"),
    ("a page is laid ready", "the tablet accepts"),
    ("a page is laid ready", "the tablet stores"),
    ("a page is laid ready", "the SIM moves"),
    ("a page is laid ready", "the number is recycled"),
    ("the book changes", "the tablet stores privately"),
    ("the book changes", "the phone stores privately"),
    ("the tablet stores", "the phone stores privately"),
    ("the phone stores privately", "the tablet stores"),
    ("the phone stores privately", "a SIM makes an account"),
    ("the tablet stores over what it knows", "a page arrives"),
    ("an update is requested", "the SIM moves"),
    ("the book changes", "the book is followed no more"),
    ("the book changes", "a page arrives"),
    ("the book changes", "a page of the book comes"),
    ("a page of the book comes", "the book is followed no more"),
    ("a page of the book comes", "the phone stores privately"),
    ("a page of the book comes", "the tablet stores over what it knows"),
    ("the tablet accepts", "a page arrives"),
    ("the tablet stores the last", "the tablet stores one more"),
    ("a SIM makes an account", "another SIM makes it"),
    ("a SIM makes an account", "a SIM makes an account"),
    ("a SIM makes an account", "the same card elsewhere"),
    ("a SIM joins the account", "another SIM joins it"),
    ("a SIM joins the account", "a page arrives"),
    ("an update is requested", "consent is withdrawn"),
]
"""Pairs of which the second takes away what the first is based on."""

PAIRS = (
    [pytest.param(*pair, marks=pytest.mark.long) for pair in itertools.product(ASKED, ASKED)]
    if os.environ.get("CONTACTMESH_LONG_TESTS")
    else TELLING
)


@dataclass
class House:
    """One database and two copies, the first of which can be interrupted."""

    database: Database
    first: SimCopy
    second: SimCopy
    interruption: Interruption

    async def place(self) -> Place:
        """New accounts in their state of departure."""
        user_id = f"lin-{secrets.token_hex(4)}"
        phone, tablet = f"{user_id}_aaaaaaaa", f"{user_id}_bbbbbbbb"
        one = await self._sim(phone, RegisterSim(carrier_id=MOBILE, iccid=iccid(1), name="one"))
        two = await self._sim(
            tablet,
            RegisterSim(carrier_id=UNICOM, iccid=iccid(2), name="two", registration_seq="7"),
        )
        for command in (
            SetConsent(carrier_id=UNICOM, consent=True),
            FollowBook(carrier_id=UNICOM, follow=True),
            *(_store(one, uid, "+861390000001") for uid in ("an", "bo", "chen")),
        ):
            await self.second.does(phone, command)
        for asked in (
            _store(two, "dai", "+861390000001"),
            RequestUpdate(sim_id=two, from_carrier_id=MOBILE),
            RequestUpdate(sim_id=two),
        ):
            await self.second.does(tablet, asked)
        account = await self.second.reading.account(user_id, UNICOM)
        assert account is not None
        place = Place(user_id, one, two, account.sims[0].view_id)
        await self.second.takes(_arrives(place).model_copy(update={"contacts": _old_page()}))
        return place

    async def _sim(self, terminal_id: str, command: RegisterSim) -> str:
        reply = await self.second.does(terminal_id, command)
        assert reply.result is not None
        return str(reply.result["sim_id"])

    async def asks(self, copy: SimCopy, place: Place, name: str) -> str:
        """Let a copy handle a command or an event: what it answers."""
        asked = ASKED[name](place)
        if isinstance(asked, Message):
            await copy.takes(asked)
            return "taken"
        return _answer(await copy.does(*asked))

    async def copied(self, place: Place) -> list[Document]:
        """What the agreeing account's shared space holds, and what waits for its SIM."""
        account = await self.database.collection("accounts").get(f"{place.user_id}/{UNICOM}")
        assert account is not None
        space = {"space_id": f"{account['account_id']}/{SpaceKind.SHARED}"}
        entries = await self.database.collection("entries").find(space, sort=[("_id", 1)])
        waits = {"view_id": place.view_id, "waits": True}
        return entries + await self.database.collection("sim_entries").find(waits)

    async def picture(self, place: Place) -> str:
        """All that is stored and told about a place, with nothing in it that is by chance."""
        find = self.database.collection
        accounts = await find("accounts").find({"user_id": place.user_id}, sort=[("_id", 1)])
        names = {place.user_id: "lin", place.one: "one", place.two: "two"}
        views = {place.view_id: "the tablet's view"}
        for account in accounts:
            names[account["account_id"]] = account["carrier_id"]
            names |= {sim["sim_id"]: sim["iccid"] for sim in account["sims"]}
            for sim in account["sims"]:
                views.setdefault(sim["view_id"], f"view of {sim['iccid']}")
            del account["etag"], account["identification_code"]
        spaces = [f"{one['account_id']}/{kind}" for one in accounts for kind in SpaceKind]
        entries = await find("entries").find({"space_id": {"$in": spaces}})
        seen = await find("sim_entries").find({"view_id": {"$in": list(views)}})
        for entry in entries:
            del entry["at"], entry["deleted_at"]
        told = [json.loads(one["body"]) for one in await find("outbox").find({}, sort=[("_id", 1)])]
        called = names | views
        return json.dumps(
            {
                "accounts": _sorted(
                    [one | {"sims": _sorted(one["sims"], called)} for one in accounts], called
                ),
                "entries": _sorted(entries, called),
                "seen": _sorted(seen, called),
                "told": _sorted(
                    [_told(one) for one in told if place.user_id in one["subject"]], called
                ),
            },
            indent=1,
        )


def _sorted(documents: list[Document], called: Mapping[str, str]) -> list[Document]:
    """With names for ids that are made at random, and in an order that no such id decides."""
    found = []
    for document in documents:
        text = json.dumps(document, sort_keys=True)
        for id_, name in called.items():
            text = text.replace(id_, name)
        found.append(text)
    return [json.loads(text) for text in sorted(found)]


def _told(body: dict[str, Any]) -> Document:
    for contact in body["data"].get("contacts", ()):
        del contact["stamp"]
    return {"type": body["type"], **body["data"]}


def _answer(reply: Reply) -> str:
    if reply.error is not None:
        return reply.error.code.value
    result = reply.result or {}
    told = [name for name in ("created", "behind", "private") if result.get(name)]
    return ", ".join(told) or reply.status


def _old_page() -> tuple[ReplicatedContact, ...]:
    card = dict(card_of("an", "+861390000001").to_json())
    stamp = Stamp(at=1, carrier_id=MOBILE)
    return (ReplicatedContact(uid="urn:example:an", card=card, stamp=stamp),)


@pytest_asyncio.fixture
async def house(database_url: str, database_prefix: str) -> AsyncIterator[House]:
    name = f"{database_prefix}multi_sim_replication_service"
    interruption = Interruption()
    async with (
        Database(database_url, name) as database,
        HookedDatabase(database_url, name, interruption) as hooked,
    ):
        first = SimCopy(hooked, LIMITS, before_commit=interruption.now)
        await first.unit_of_work.prepare()
        await first.reading.prepare()
        yield House(database, first, SimCopy(database, LIMITS), interruption)


async def _check(house: House, one: str, other: str) -> None:
    possible = []
    for one_first in (True, False):
        place = await house.place()
        answers = {}
        for is_one in (one_first, not one_first):
            answers[is_one] = await house.asks(house.second, place, one if is_one else other)
        possible.append((answers[True], answers[False], await house.picture(place)))

    at, reads = 1, 1
    while at <= reads + 1:
        place = await house.place()
        answered: list[str] = []

        async def interrupt(place: Place = place, answered: list[str] = answered) -> None:
            answered.append(await house.asks(house.second, place, other))

        house.interruption.set(interrupt, at=at)
        answer = await house.asks(house.first, place, one)
        reads = house.interruption.count
        await house.interruption.now()
        result = (answer, *answered, await house.picture(place))
        assert result in possible, f"{other}, before read {at} of {one}"
        at += 1


@pytest.mark.parametrize(("one", "other"), PAIRS)
async def test_two_at_once_are_one_after_the_other(house: House, one: str, other: str) -> None:
    await _check(house, one, other)


@pytest.mark.parametrize("page", ["a page arrives", "a page is caught up"])
async def test_nothing_is_copied_after_the_reply_to_a_withdrawal(house: House, page: str) -> None:
    at, reads = 1, 1
    while at <= reads + 1:
        place = await house.place()
        before: list[list[Document]] = []

        async def withdraw(place: Place = place, before: list[list[Document]] = before) -> None:
            assert await house.asks(house.second, place, "consent is withdrawn") == "ok"
            before.append(await house.copied(place))

        house.interruption.set(withdraw, at=at)
        await house.asks(house.first, place, page)
        reads = house.interruption.count
        await house.interruption.now()
        assert [await house.copied(place)] == before, f"withdrawn before read {at}"
        at += 1
