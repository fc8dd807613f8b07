"""Two terminals edit one contact (Y4)."""

from itertools import permutations

import pytest
from tests.unit.sync_service.books import LAPTOP, PHONE, TABLET, card
from tests.unit.sync_service.terminals import BIRTHDAY, MOBILE, Terminal, all_sync, shared

from contactmesh.contracts.sync.commands import SetPolicy
from contactmesh.contracts.sync.records import ConflictKind, Outcome, Policy


@pytest.mark.claim("Y4")
@pytest.mark.parametrize("phone_first", [True, False])
def test_the_same_field_has_one_winner_and_the_loser_is_kept_and_shown(phone_first: bool) -> None:
    server, phone, tablet = shared("an")
    phone.edits("an", name={"full": "earlier"}, kind="individual")
    server.passes()
    tablet.edits("an", name={"full": "later"})
    server.passes()
    first, second = (phone, tablet) if phone_first else (tablet, phone)
    first.syncs()
    second.syncs()
    assert second.outcomes() == {"an": Outcome.CONFLICT}
    first.syncs()
    assert phone.holds() == tablet.holds() == server.holds()
    assert server.holds()["an"]["name"] == {"full": "later"}
    assert server.holds()["an"]["kind"] == "individual"
    (conflict,) = server.conflicts()
    assert (conflict.kind, conflict.path) == (ConflictKind.FIELD, "name")
    assert (conflict.kept, conflict.lost) == ({"full": "later"}, {"full": "earlier"})
    assert conflict.lost_by == PHONE
    (lost,) = [one for one in server.history("an") if one.rev == conflict.lost_rev]
    assert lost.card is not None
    assert lost.card["name"] == {"full": "earlier"}


@pytest.mark.claim("Y4")
@pytest.mark.parametrize("phone_first", [True, False])
def test_at_the_same_time_the_terminal_decides(phone_first: bool) -> None:
    server, phone, tablet = shared("an")
    for terminal in (phone, tablet):
        terminal.edits("an", name={"full": terminal.terminal_id})
    all_sync([phone, tablet] if phone_first else [tablet, phone])
    assert server.holds()["an"]["name"] == {"full": max(PHONE, TABLET)}


@pytest.mark.claim("Y4")
@pytest.mark.parametrize("phone_first", [True, False])
def test_what_a_terminal_cannot_hold_it_has_not_removed(phone_first: bool) -> None:
    server, phone, tablet = shared("an")
    tablet.supports = frozenset({"name", "phones"})
    tablet.edits("an", name={"full": "An Li"}, anniversaries=None)
    phone.edits("an", phones={"m": MOBILE})
    all_sync([phone, tablet] if phone_first else [tablet, phone])
    expected = card("an", "An Li", phones={"m": MOBILE}, anniversaries=BIRTHDAY)
    assert server.holds() == {"an": expected}
    assert phone.holds() == {"an": expected}
    assert server.conflicts() == []


@pytest.mark.claim("Y4")
@pytest.mark.parametrize("order", list(permutations(range(3))))
@pytest.mark.parametrize("policy", Policy)
@pytest.mark.parametrize("deleted", [False, True])
def test_what_two_have_done_alike_counts_from_the_later_one(
    order: tuple[int, ...], policy: Policy, deleted: bool
) -> None:
    server, phone, tablet = shared("an", "bo")
    server.does(SetPolicy(policy=policy))
    all_sync([phone, tablet])
    terminals = [phone, Terminal(server, LAPTOP).begins(), tablet]
    for terminal, name in zip(terminals, ("alike", "between", "alike"), strict=True):
        server.passes()
        if deleted and name == "alike":
            terminal.deletes("an")
        else:
            terminal.edits("an", name={"full": name})
    for at in order:
        server.passes()
        terminals[at].syncs()
    all_sync(terminals)
    names = {uid: one["name"]["full"] for uid, one in server.holds().items()}
    alike = {"an": "alike", "bo": "bo"}
    gone = {"bo": "bo"} if policy is Policy.LATEST_WINS else {"an": "between", "bo": "bo"}
    assert names == (gone if deleted else alike)
