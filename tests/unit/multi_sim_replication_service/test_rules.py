"""Accounts, SIM cards and spaces by the rules alone (rows M1-M6)."""

import pytest
from tests.unit.multi_sim_replication_service.spaces import (
    BO,
    LIN,
    MOBILE,
    PHONE,
    TABLET,
    TELECOM,
    UNICOM,
    Spaces,
    iccid,
)

from contactmesh.contracts.carrier.events import RegistrationRecycled
from contactmesh.contracts.carrier.records import RegistrationRef
from contactmesh.contracts.command import Command
from contactmesh.contracts.errors import ErrorCode, Refusal
from contactmesh.contracts.multi_sim.commands import (
    Decide,
    MoveSim,
    RegisterSim,
    RemoveSim,
    ReplaceSim,
    RequestUpdate,
    SetInformation,
    SimRegistered,
    Store,
    StoredChange,
)
from contactmesh.contracts.multi_sim.events import SimRemoved, SpaceChanged
from contactmesh.contracts.multi_sim.records import SpaceKind, UserInformation
from multi_sim_replication_service.domain.documents import NO_CONTACT, Limits
from multi_sim_replication_service.domain.storing import MOST_WHOLE


def _refusal(
    spaces: Spaces, command: Command, terminal: str = PHONE, user: str = LIN
) -> tuple[ErrorCode, str]:
    with pytest.raises(Refusal) as caught:
        spaces.does(command, terminal, user)
    return caught.value.body.code, caught.value.body.message


@pytest.mark.claim("M1")
@pytest.mark.claim("M2")
def test_the_first_sim_makes_the_account_and_the_next_one_joins_it() -> None:
    spaces = Spaces()
    first = spaces.does(RegisterSim(carrier_id=MOBILE, iccid=iccid(1), name="one"))
    second = spaces.does(RegisterSim(carrier_id=MOBILE, iccid=iccid(2), name="two"), TABLET)
    other = spaces.does(RegisterSim(carrier_id=UNICOM, iccid=iccid(3), name="three"))
    assert isinstance(first, SimRegistered)
    assert isinstance(second, SimRegistered)
    assert isinstance(other, SimRegistered)
    assert (first.created, second.created, other.created) == (True, False, True)
    assert first.account_id == second.account_id != other.account_id
    assert first.identification_code == second.identification_code != other.identification_code
    assert len({first.sim_id, second.sim_id, other.sim_id}) == 3


@pytest.mark.claim("M1")
def test_all_accounts_carry_the_information_that_was_said_last() -> None:
    spaces = Spaces()
    spaces.does(
        RegisterSim(
            carrier_id=MOBILE,
            iccid=iccid(1),
            name="one",
            information=UserInformation(name="林晓雨"),
        )
    )
    spaces.registers(UNICOM, 2)
    assert spaces.state.user(LIN).information == UserInformation(name="林晓雨")
    spaces.does(SetInformation(information=UserInformation(name="Lin", note="moved")))
    assert spaces.state.user(LIN).information == UserInformation(name="Lin", note="moved")


@pytest.mark.claim("M2")
def test_a_sim_is_known_by_its_iccid_moves_and_is_replaced() -> None:
    spaces = Spaces()
    sim = spaces.registers(MOBILE, 1)
    assert spaces.registers(MOBILE, 1, TABLET) == sim
    assert spaces.sim(sim).terminal_id == TABLET
    spaces.does(MoveSim(sim_id=sim))
    assert spaces.sim(sim).terminal_id == PHONE
    spaces.does(ReplaceSim(sim_id=sim, iccid=iccid(9)), TABLET)
    assert spaces.registers(MOBILE, 9) == sim
    elsewhere = RegisterSim(carrier_id=UNICOM, iccid=iccid(9), name="nine")
    assert _refusal(spaces, elsewhere)[0] is ErrorCode.CONFLICT
    other = spaces.registers(MOBILE, 2)
    taken = ReplaceSim(sim_id=other, iccid=iccid(9))
    assert _refusal(spaces, taken)[0] is ErrorCode.CONFLICT


@pytest.mark.claim("M2")
def test_accounts_sims_and_contacts_have_their_quotas() -> None:
    spaces = Spaces(limits=Limits(accounts=1, sims=1, contacts=1))
    sim = spaces.registers(MOBILE, 1)
    for carrier_id in (MOBILE, UNICOM):
        command = RegisterSim(carrier_id=carrier_id, iccid=iccid(2), name="two")
        assert _refusal(spaces, command)[0] is ErrorCode.QUOTA_EXCEEDED
    spaces.stores(sim, {"an": "1"})
    with pytest.raises(Refusal) as caught:
        spaces.stores(sim, {"bo": "2"})
    assert caught.value.body.code is ErrorCode.QUOTA_EXCEEDED
    spaces.stores(sim, {"an": None, "bo": "2"})
    assert set(spaces.holds(MOBILE)) == {"bo"}


@pytest.mark.claim("M3")
def test_a_private_contact_stays_in_its_private_space() -> None:
    spaces = Spaces()
    here, there = spaces.registers(MOBILE, 1), spaces.registers(UNICOM, 2)
    beside = spaces.registers(MOBILE, 3)
    spaces.agrees(MOBILE, UNICOM)
    spaces.settle()
    before = list(spaces.published)
    spaces.stores(here, {"an": "1"}, SpaceKind.PRIVATE)
    assert spaces.published == before, "nobody is told"
    assert set(spaces.holds(MOBILE, SpaceKind.PRIVATE)) == {"an"}
    assert spaces.holds(MOBILE) == spaces.holds(UNICOM) == {}
    assert spaces.waits(there) == spaces.waits(beside) == {}


@pytest.mark.claim("M4")
def test_a_shared_contact_comes_to_agreeing_accounts_and_is_told_once() -> None:
    spaces = Spaces()
    here, there = spaces.registers(MOBILE, 1), spaces.registers(UNICOM, 2)
    beside, outside = spaces.registers(MOBILE, 3), spaces.registers(TELECOM, 4)
    spaces.agrees(MOBILE, UNICOM)
    spaces.settle()
    spaces.stores(here, {"an": "1", "bo": "2"})
    spaces.settle()
    assert spaces.holds(MOBILE) == spaces.holds(UNICOM) != {}
    assert spaces.holds(TELECOM) == {}, "nobody agreed"
    assert spaces.waits(here) == spaces.waits(outside) == {}, "it has seen what it stored"
    assert spaces.waits(there) == spaces.waits(beside) == spaces.holds(MOBILE)
    assert sum(isinstance(one, SpaceChanged) for one in spaces.published) == 1, "no echo"
    told = [one.pending for sim in (there, beside) for one in spaces.told_of(sim)]
    assert [one.waiting for one in told if one is not None] == [2, 2]
    assert all(one.card is None for one in spaces.told_of(there))


@pytest.mark.claim("M4")
def test_the_same_contents_are_copied_nowhere() -> None:
    spaces = Spaces()
    here, there = spaces.registers(MOBILE, 1), spaces.registers(UNICOM, 2)
    spaces.agrees(UNICOM)
    spaces.stores(there, {"an": "1"})
    spaces.stores(here, {"an": "1"})
    spaces.settle()
    assert spaces.waits(there) == {}
    assert spaces.told_of(there) == []
    again = spaces.stores(here, {"an": "1"})
    assert (again.written, again.same) == (0, 1)
    assert spaces.under_way == []


@pytest.mark.claim("M4")
def test_without_consent_nothing_more_arrives_and_what_came_stays() -> None:
    spaces = Spaces()
    here = spaces.registers(MOBILE, 1)
    spaces.registers(UNICOM, 2)
    spaces.agrees(UNICOM)
    spaces.stores(here, {"an": "1"})
    spaces.settle()
    spaces.stores(here, {"bo": "2"})
    spaces.agrees(UNICOM, consent=False)
    spaces.settle()
    assert set(spaces.holds(UNICOM)) == {"an"}
    spaces.stores(here, {"an": None})
    spaces.settle()
    spaces.agrees(UNICOM)
    spaces.settle()
    assert set(spaces.holds(UNICOM)) == {"bo"}, "caught up, removals too"


@pytest.mark.claim("M4")
def test_a_whole_book_removes_what_it_does_not_name() -> None:
    spaces = Spaces()
    sim = spaces.registers(MOBILE, 1)
    spaces.stores(sim, {"an": "1", "bo": "2"})
    stored = spaces.stores(sim, {"bo": "2", "chen": "3"}, whole=True)
    assert (stored.written, stored.removed, stored.same) == (1, 1, 1)
    assert set(spaces.holds(MOBILE)) == {"bo", "chen"}


@pytest.mark.claim("M4")
def test_a_book_that_is_too_large_to_be_whole_goes_in_pages() -> None:
    spaces = Spaces()
    sim = spaces.registers(MOBILE, 1)
    for first in range(0, MOST_WHOLE, 200):
        spaces.stores(sim, {f"c{number}": "1" for number in range(first, first + 200)})
    assert spaces.stores(sim, {"c0": "1"}, whole=True).removed == MOST_WHOLE - 1
    for first in range(0, MOST_WHOLE, 200):
        spaces.stores(sim, {f"c{number}": "1" for number in range(first, first + 200)})
    spaces.stores(sim, {"one more": "1"})
    command = Store(sim_id=sim, space=SpaceKind.SHARED, changes=(), whole=True)
    with pytest.raises(Refusal) as caught:
        spaces.does(command)
    (field,) = caught.value.body.details["fields"]
    assert caught.value.body.code is ErrorCode.INVALID_ARGUMENT
    assert field["path"] == "/data/whole"
    assert "more than 2000 contacts: store it in pages" in field["problem"]
    assert len(spaces.holds(MOBILE)) == MOST_WHOLE + 1, "nothing was removed"


@pytest.mark.claim("M5")
def test_an_update_from_another_account_goes_through_the_own_one() -> None:
    spaces = Spaces()
    here, there = spaces.registers(MOBILE, 1), spaces.registers(UNICOM, 2)
    spaces.stores(there, {f"c{number}": "1" for number in range(5)})
    spaces.settle()
    command = RequestUpdate(sim_id=here, from_carrier_id=UNICOM)
    code, message = _refusal(spaces, command)
    assert code is ErrorCode.PERMISSION_DENIED
    assert "consent" in message
    unknown = RequestUpdate(sim_id=here, from_carrier_id=TELECOM)
    assert _refusal(spaces, unknown)[0] is ErrorCode.NOT_FOUND
    spaces.agrees(MOBILE)
    spaces.under_way.clear()
    spaces.does(command)
    assert spaces.sim(here).filling
    spaces.settle()
    assert not spaces.sim(here).filling
    assert spaces.holds(MOBILE) == spaces.waits(here) == spaces.holds(UNICOM)


@pytest.mark.claim("M5")
def test_a_new_sim_gets_what_its_account_holds() -> None:
    spaces = Spaces()
    old = spaces.registers(MOBILE, 1)
    spaces.stores(old, {f"c{number}": "1" for number in range(5)})
    new = spaces.registers(MOBILE, 2, TABLET)
    assert spaces.sim(new).filling
    spaces.settle()
    assert spaces.waits(new) == spaces.holds(MOBILE)
    assert spaces.sim(new).waiting == 5
    assert spaces.waits(old) == {}


@pytest.mark.claim("M6")
@pytest.mark.parametrize("accept", [True, False])
def test_what_was_decided_is_gone_and_does_not_come_back(accept: bool) -> None:
    spaces = Spaces()
    here, there = spaces.registers(MOBILE, 1), spaces.registers(MOBILE, 2)
    spaces.stores(here, {"an": "1", "bo": "2"})
    taken = spaces.decides(there, accept=accept)
    assert (taken.settled, taken.left, taken.waiting) == (2, 0, 0)
    assert spaces.waits(there) == {}
    spaces.does(RequestUpdate(sim_id=there))
    spaces.settle()
    assert spaces.waits(there) == {}, "the same contents"
    spaces.stores(here, {"an": None})
    assert spaces.waits(there) == {"an": NO_CONTACT}
    spaces.stores(here, {"an": "1"})
    assert spaces.waits(there) == {}, "it has that"
    spaces.stores(here, {"an": "3"})
    assert set(spaces.waits(there)) == {"an"}, "other contents are news"


@pytest.mark.claim("M6")
def test_a_decision_settles_only_what_was_looked_at() -> None:
    spaces = Spaces()
    here, there = spaces.registers(MOBILE, 1), spaces.registers(MOBILE, 2)
    spaces.stores(here, {"an": "1", "bo": "2"})
    looked_at = spaces.sim(there).pending_rev
    spaces.stores(here, {"an": "3"})
    named = Decide(sim_id=there, pending_rev=looked_at, accept=True, uids=("an", "bo"))
    with pytest.raises(Refusal) as caught:
        spaces.does(named)
    assert caught.value.body.code is ErrorCode.CONFLICT
    assert caught.value.body.details == {"current_rev": spaces.sim(there).pending_rev}
    assert set(spaces.waits(there)) == {"an", "bo"}, "nothing was settled"
    taken = spaces.decides(there, accept=True, rev=looked_at)
    assert (taken.settled, taken.waiting) == (1, 1)
    assert set(spaces.waits(there)) == {"an"}


@pytest.mark.claim("M6")
def test_only_the_terminal_that_holds_a_sim_stores_asks_and_decides_for_it() -> None:
    spaces = Spaces()
    sim = spaces.registers(MOBILE, 1)
    for command in (
        Store(sim_id=sim, space=SpaceKind.SHARED, changes=()),
        RequestUpdate(sim_id=sim),
        Decide(sim_id=sim, pending_rev=0, accept=True),
    ):
        code, message = _refusal(spaces, command, TABLET)
        assert code is ErrorCode.PERMISSION_DENIED
        assert "Move it here" in message
        stranger = _refusal(spaces, command, "bo_aaaaaaaa", BO)
        assert stranger == _refusal(
            spaces, command.model_copy(update={"sim_id": "0" * 36}), "bo_aaaaaaaa", BO
        )
        assert stranger[0] is ErrorCode.NOT_FOUND


def test_a_removed_or_recycled_sim_is_gone_with_what_waits() -> None:
    spaces = Spaces()
    here = spaces.registers(MOBILE, 1)
    lost = spaces.does(
        RegisterSim(carrier_id=MOBILE, iccid=iccid(2), name="two", registration_seq="7")
    )
    assert isinstance(lost, SimRegistered)
    gone = spaces.registers(MOBILE, 3)
    spaces.stores(here, {"an": "1"})
    spaces.does(RemoveSim(sim_id=gone), TABLET)
    ref = RegistrationRef(carrier_id=MOBILE, registration_seq="7")
    view_id = spaces.sim(lost.sim_id).view_id
    spaces.deliver(RegistrationRecycled(owner_id=LIN, ref=ref))
    removed = SimRemoved(owner_id=LIN, carrier_id=MOBILE, sim_id=lost.sim_id, view_id=view_id)
    assert spaces.published.count(removed) == 1
    assert [sim.sim_id for sim in spaces.account(MOBILE).sims] == [here]
    spaces.settle()
    assert spaces.waits(gone) == spaces.waits(lost.sim_id) == {}
    assert set(spaces.holds(MOBILE)) == {"an"}, "the account stays"


@pytest.mark.parametrize(
    "changes",
    [
        (StoredChange(uid="an"), StoredChange(uid="an")),
        (
            StoredChange.model_validate(
                {"uid": "an", "card": {"@type": "Card", "version": "1.0", "uid": "bo"}}
            ),
        ),
    ],
    ids=["named twice", "another's card"],
)
def test_a_page_that_contradicts_itself_is_refused(changes: tuple[StoredChange, ...]) -> None:
    spaces = Spaces()
    sim = spaces.registers(MOBILE, 1)
    command = Store(sim_id=sim, space=SpaceKind.SHARED, changes=changes)
    assert _refusal(spaces, command)[0] is ErrorCode.INVALID_ARGUMENT
