"""A terminal that begins anew doubles nothing and brings nothing back (Y4, Y5)."""

import pytest
from tests.unit.sync_service.books import DAY, LAPTOP, SECOND, card
from tests.unit.sync_service.terminals import BIRTHDAY, DESK, Terminal, shared

from contactmesh.contracts.sync.records import Outcome


@pytest.mark.claim("Y4")
def test_a_reinstalled_terminal_sends_the_same_contacts_and_nothing_is_doubled() -> None:
    server, phone, _ = shared(*(f"c{number:03d}" for number in range(200)))
    fresh = Terminal(server, LAPTOP, token=server.lists())
    for uid, kept in phone.contacts.items():
        assert kept.card is not None
        fresh.makes(
            uid, kept.card["name"]["full"], phones=kept.card["phones"], anniversaries=BIRTHDAY
        )
    told = len(server.told)
    fresh.syncs()
    assert set(fresh.outcomes().values()) == {Outcome.SAME}
    assert len(server.holds()) == 200
    assert len(server.told) == told


@pytest.mark.claim("Y4")
def test_two_of_one_name_who_share_a_landline_stay_two() -> None:
    server, _, tablet = shared("an")
    for uid in ("li-1", "li-2"):
        tablet.makes(uid, "Li", phones={"home": DESK})
    tablet.syncs()
    assert {"li-1", "li-2"} <= set(server.holds())


@pytest.mark.claim("Y5")
@pytest.mark.parametrize("days", [0, 40])
def test_a_reinstalled_terminal_does_not_bring_back_what_was_deleted_meanwhile(days: int) -> None:
    server, phone, _ = shared("an")
    before = server.holds()["an"]
    phone.deletes("an")
    phone.syncs()
    server.passes(days * DAY)
    fresh = Terminal(server, LAPTOP, token=server.lists())
    fresh.makes("an", before["name"]["full"], phones=before["phones"], anniversaries=BIRTHDAY)
    fresh.syncs()
    assert fresh.outcomes() == {"an": Outcome.SUPERSEDED}
    assert fresh.holds() == server.holds() == {}
    server.passes(SECOND)
    fresh.makes("an", "somebody new")
    fresh.syncs()
    assert fresh.holds() == server.holds() == {"an": card("an", "somebody new")}
