"""Looks at the real registry: each change is told once, and no budget is lost to a card."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path

import pytest
import pytest_asyncio
from pydantic import JsonValue
from tests.backends import Backends
from tests.integration.carrier_registry_service.carrying import (
    began,
    carrier_of,
    feeds,
    new_number,
    new_seq,
    ref,
)
from tests.integration.terminal.people import People
from tests.integration.terminal.test_receiving import the_next
from tests.unit.terminal.cards import card
from tests.wire import System, running_system

from carrier_registry_service.settings import RegistrySettings
from contactmesh.contacts import CARRIER_PROPERTY, Card
from contactmesh.contracts.carrier.check import ChangeCode, Check, Checked
from contactmesh.contracts.carrier.records import Line
from contactmesh.contracts.errors import ErrorCode
from contactmesh.terminal import CommandRefused, ContactAdded, Terminal
from contactmesh.terminal.rules.lines import Question

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.claim("C1")]
CARRIER = "cn-mobile"
WRONG_AN_HOUR = 6
A_CARRIERS_LIMIT: int = RegistrySettings.model_fields["registrations_limit"].default
SERVICE = "carrier_registry_service"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def system(
    backends: Backends, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[System]:
    limits = {"CONTACTMESH_FAILED_REFERENCES_PER_HOUR": str(WRONG_AN_HOUR)}
    folder = tmp_path_factory.mktemp("system")
    async with running_system(backends, folder, environment={SERVICE: limits}) as running:
        yield running


class Pair:
    """Alice, who may see Bob's numbers, and has his card from a group of theirs."""

    def __init__(self, system: System, alice: Terminal, bob: Terminal) -> None:
        self.system = system
        self.alice = alice
        self.bob = bob

    async def bob_shows(self, *numbers: str, wrong_references: int = 0) -> None:
        """Bob publishes a card, whose phones say that they are somebody's registrations."""
        phones: dict[str, JsonValue] = {}
        for place, number in enumerate(numbers):
            phone: dict[str, JsonValue] = {"number": number}
            if place < wrong_references:
                seq = str(10**9 + place)
                phone[CARRIER_PROPERTY] = {"carrierId": CARRIER, "registrationSeq": seq}
            phones[str(place)] = phone
        shown = {**card(self.bob.user_id, "Bob").to_json(), "phones": phones}
        updates = self.alice.updates()
        await self.alice.create_group("Friends", [self.bob.user_id])
        await self.bob.publish(Card.model_validate(shown))
        await the_next(updates, ContactAdded)

    async def contact(self) -> str:
        """Bob's contact in Alice's phonebook."""
        contact = await self.alice.phonebook.contact_of(self.bob.user_id)
        assert contact is not None
        return contact.contact_id

    async def has(self, *numbers: str) -> list[str]:
        """Carriers tell of Bob's numbers; returns their sequence numbers."""
        carrier = await carrier_of(self.system, CARRIER)
        seqs = [new_seq() for _ in numbers]
        outcomes = await feeds(
            carrier,
            *(
                began(seq, self.bob.user_id, number)
                for seq, number in zip(seqs, numbers, strict=True)
            ),
        )
        assert {each.outcome for each in outcomes} == {"applied"}
        return seqs

    async def was_told_wrongly(self, number: str, count: int) -> None:
        """An earlier answer, of a registry that was restored since, left references here."""
        lines = tuple(
            Line(ref=ref(CARRIER, str(10**9 + place)), msisdn=number) for place in range(count)
        )
        told = Checked(identity_id=self.bob.user_id, changes=(), lines=lines)
        nothing = Question({}, ())
        contact_id = await self.contact()
        await self.alice.phonebook.apply_check(contact_id, told, nothing, datetime.now(UTC))

    async def looks(self) -> list[ChangeCode]:
        """Alice opens Bob's page; returns what it tells."""
        checked = await self.alice.check(await self.contact())
        return [change.code for change in checked.changes]

    async def is_refused(self) -> ErrorCode:
        """Alice opens Bob's page, and is refused."""
        with pytest.raises(CommandRefused) as refused:
            await self.looks()
        return refused.value.code

    async def wrong_references_left(self) -> int:
        """How many wrong references Alice may still send; uses them up."""
        left = 0
        wrong = Check(identity_id=self.bob.user_id, registrations=(ref(CARRIER, str(2 * 10**9)),))
        while await self._code_of(wrong) is ErrorCode.NOT_FOUND:
            left += 1
        return left

    async def _code_of(self, command: Check) -> ErrorCode:
        with pytest.raises(CommandRefused) as refused:
            await self.alice.request(command)
        return refused.value.code

    async def known(self) -> list[str]:
        """The numbers that the registry told Alice."""
        return [
            each.number for each in (await self.alice.phonebook.lines(await self.contact())).lines
        ]


@pytest_asyncio.fixture(loop_scope="module")
async def pair(system: System, tmp_path: Path) -> AsyncIterator[Pair]:
    async with AsyncExitStack() as running:
        people = People(system, tmp_path, running)
        alice, bob = await people.terminal("alice"), await people.terminal("bob")
        await bob.grant(alice.user_id)
        yield Pair(system, alice, bob)


async def test_references_on_a_card_cost_nothing_and_hide_nothing(pair: Pair) -> None:
    numbers = [new_number() for _ in range(WRONG_AN_HOUR + 1)]
    await pair.has(*numbers)
    await pair.bob_shows(*numbers, wrong_references=len(numbers))
    assert set(await pair.looks()) == {ChangeCode.UNCHANGED}
    assert set(await pair.known()) == set(numbers)
    assert await pair.wrong_references_left() == WRONG_AN_HOUR


async def test_references_that_are_not_found_are_asked_about_once(pair: Pair) -> None:
    number = new_number()
    (seq,) = await pair.has(number)
    await pair.bob_shows(number)
    await pair.was_told_wrongly(number, WRONG_AN_HOUR - 1)
    assert await pair.looks() == [ChangeCode.UNCHANGED]
    assert await pair.looks() == [ChangeCode.UNCHANGED]
    asked = await pair.alice.phonebook.question(await pair.contact())
    assert asked.registrations == {ref(CARRIER, seq): number}
    assert await pair.wrong_references_left() == 1


@pytest.mark.parametrize("wrong", [WRONG_AN_HOUR, WRONG_AN_HOUR + 1])
async def test_references_that_use_up_the_hour_are_not_sent_in_the_next_one(
    pair: Pair, wrong: int
) -> None:
    number = new_number()
    await pair.has(number)
    await pair.bob_shows(number)
    await pair.was_told_wrongly(number, wrong)
    assert await pair.is_refused() is ErrorCode.RATE_LIMITED
    asked = await pair.alice.phonebook.question(await pair.contact())
    assert (asked.registrations, asked.numbers) == ({}, (number,))


async def test_a_contact_who_is_not_to_be_seen_for_a_while_comes_back(pair: Pair) -> None:
    one, other = new_number(), new_number()
    await pair.has(one, other)
    await pair.bob_shows(one)
    assert await pair.looks() == [ChangeCode.NUMBER_ADDED, ChangeCode.UNCHANGED]
    known = await pair.known()
    await pair.bob.revoke_grant(pair.alice.user_id)
    for _ in range(2):
        assert await pair.is_refused() is ErrorCode.NOT_FOUND
        assert await pair.known() == known
    await pair.bob.grant(pair.alice.user_id)
    assert await pair.looks() == [ChangeCode.UNCHANGED, ChangeCode.UNCHANGED]
    assert await pair.wrong_references_left() == WRONG_AN_HOUR


@pytest.mark.claim("C4")
async def test_c4_each_of_as_many_numbers_as_a_carrier_may_have_is_told_as_added_once(
    pair: Pair,
) -> None:
    first, *added = (new_number() for _ in range(A_CARRIERS_LIMIT))
    await pair.has(first, *added)
    await pair.bob_shows(first)
    assert sorted(await pair.looks()) == [
        *[ChangeCode.NUMBER_ADDED for _ in added],
        ChangeCode.UNCHANGED,
    ]
    assert set(await pair.looks()) == {ChangeCode.UNCHANGED}
    contact_id = await pair.contact()
    lines = (await pair.alice.phonebook.lines(contact_id)).lines
    await pair.alice.set_dial_order(contact_id, reversed([each.ref for each in lines]))
    assert set(await pair.looks()) == {ChangeCode.UNCHANGED}
    assert await pair.known() == [each.number for each in reversed(lines)]
