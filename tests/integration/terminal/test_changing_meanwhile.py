"""A contact that changes while pages are looked at comes again, and the later look counts.

The service answers by a script, so that the change comes between two pages of a few contacts.
"""

from collections.abc import Mapping

import pytest
from tests.integration.terminal.conftest import MakeTerminal
from tests.integration.terminal.scripted_service import ScriptedService
from tests.integration.terminal.test_laying_ready import SIM, accounts
from tests.wire import card_of

from contactmesh.contracts.envelope import Envelope
from contactmesh.contracts.multi_sim.commands import (
    Decide,
    DecisionTaken,
    ListAccounts,
    Pending,
    PendingItem,
    ShowPending,
)
from contactmesh.contracts.reply import Result
from contactmesh.terminal import AcceptOutcome, PendingChange, Terminal

pytestmark = [pytest.mark.claim("M6"), pytest.mark.usefixtures("queue")]

UID = "urn:example:an"
BEFORE, AFTER = "+8613800138000", "+8613700137000"


def _item(number: str | None) -> PendingItem:
    card = None if number is None else dict(card_of("an", number).to_json())
    return PendingItem(uid=UID, card=card)


def _pages(*items: PendingItem) -> Mapping[int, Pending]:
    """One contact a page, each page of a later revision, by the `after` that asks for it."""
    return {
        at: Pending(
            pending_rev=SIM.pending_rev + at,
            waiting=1,
            filling=False,
            items=(item,),
            after=at + 1 if at + 1 < len(items) else None,
        )
        for at, item in enumerate(items)
    }


def _shows(service: ScriptedService, *items: PendingItem) -> None:
    pages = _pages(*items)

    def shown(asked: Envelope) -> Result:
        return pages[asked.data["after"]]

    service.answer(ShowPending.TYPE, shown)


async def _number(terminal: Terminal) -> list[str]:
    """The numbers of all contacts of the phonebook."""
    return [
        phone.number
        for contact in await terminal.contacts()
        for phone in (contact.card.phones or {}).values()
    ]


@pytest.fixture
def service_of_a_sim(service: ScriptedService) -> ScriptedService:
    service.answer(ListAccounts.TYPE, lambda _: accounts(SIM))
    taken = DecisionTaken(settled=1, left=0, waiting=0, pending_rev=9)
    service.answer(Decide.TYPE, lambda _: taken)
    return service


@pytest.mark.parametrize(
    ("shown", "change", "numbers", "outcome"),
    [
        ((None, AFTER), PendingChange.CHANGED, [AFTER], AcceptOutcome(changed=1)),
        ((AFTER, None), PendingChange.REMOVED, [], AcceptOutcome(removed=1)),
        ((None, AFTER, None), PendingChange.REMOVED, [], AcceptOutcome(removed=1)),
    ],
    ids=["stored again", "removed", "removed again"],
)
async def test_of_two_looks_at_a_contact_the_later_one_counts(
    service_of_a_sim: ScriptedService,
    make_terminal: MakeTerminal,
    shown: tuple[str | None, ...],
    change: PendingChange,
    numbers: list[str],
    outcome: AcceptOutcome,
) -> None:
    service = service_of_a_sim
    async with make_terminal(reply_seconds=10.0) as terminal:
        _shows(service, _item(BEFORE))
        assert await terminal.accept_contacts(SIM.sim_id) == AcceptOutcome(added=1)
        _shows(service, *map(_item, shown))
        book = await terminal.pending(SIM.sim_id)
        assert [(one.uid, one.change) for one in book.contacts] == [(UID, change)]
        assert book.pending_rev == SIM.pending_rev, "what changed since the first look is not meant"
        service.received.clear()
        assert await terminal.accept_contacts(SIM.sim_id) == outcome
        assert await _number(terminal) == numbers
        revs = [one.data["pending_rev"] for one in service.commands(Decide.TYPE)]
        assert len(revs) == len(shown) - shown.count(None) + (shown[-1] is None)
        assert revs[-1] == SIM.pending_rev + len(shown) - 1
