"""A terminal that lost its contacts deletes nothing of the book (Y5)."""

from datetime import timedelta

import pytest
from tests.unit.sync_service.books import PHONE
from tests.unit.sync_service.terminals import Terminal, shared

from contactmesh.contracts.errors import ErrorCode


@pytest.mark.claim("Y5")
def test_nothing_is_deleted_because_it_is_absent() -> None:
    server, phone, _ = shared(*(f"c{number:02d}" for number in range(20)))
    empty = Terminal(server, PHONE, token=phone.token)
    empty.syncs()
    assert len(server.holds()) == 20


@pytest.mark.claim("Y5")
@pytest.mark.parametrize("most", [200, 6])
def test_deleting_over_half_of_a_book_asks_for_confirmation(most: int) -> None:
    server, phone, _ = shared(*(f"c{number:02d}" for number in range(20)))
    for uid in list(phone.holds())[:11]:
        phone.deletes(uid)
    if most == 6:
        phone.exchanges(most)
        assert len(server.holds()) == 14
    refused = server.refuses(phone.command(most))
    assert refused.code is ErrorCode.CONFLICT
    assert refused.details == {"deleted": 11, "of": 20}
    phone.syncs(confirm=True)
    assert len(server.holds()) == 9
    phone.deletes("c19")
    phone.syncs()
    assert len(server.holds()) == 8


@pytest.mark.claim("Y5")
@pytest.mark.parametrize(("entries", "deleted"), [(20, 10), (10, 10), (22, 11)])
def test_deleting_less_is_not_asked_for(entries: int, deleted: int) -> None:
    server, phone, _ = shared(*(f"c{number:02d}" for number in range(entries)))
    for uid in list(phone.holds())[:deleted]:
        phone.deletes(uid)
    phone.syncs()
    assert len(server.holds()) == entries - deleted


@pytest.mark.claim("Y5")
def test_deletions_of_an_hour_ago_count_no_more() -> None:
    server, phone, _ = shared(*(f"c{number:02d}" for number in range(20)))
    for uid in list(phone.holds())[:8]:
        phone.deletes(uid)
    phone.syncs()
    for uid in list(phone.holds())[:7]:
        phone.deletes(uid)
    assert server.refuses(phone.command()).details == {"deleted": 15, "of": 20}
    server.passes(timedelta(hours=1))
    phone.syncs()
    assert len(server.holds()) == 5
