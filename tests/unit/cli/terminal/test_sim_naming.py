"""Naming SIMs, carriers and contacts that wait, as people do."""

import pytest

from contactmesh.cli.terminal.naming import NoSuchThing
from contactmesh.cli.terminal.sim_naming import find_account, find_pending, find_sim
from contactmesh.contracts.multi_sim.records import AccountView, SimView, SpaceView
from contactmesh.terminal import PendingChange, PendingContact

WORK = "11111111-aaaa-4aaa-8aaa-aaaaaaaaaaaa"
HOME = "22222222-aaaa-4aaa-8aaa-aaaaaaaaaaaa"
OLD = "33333333-aaaa-4aaa-8aaa-aaaaaaaaaaaa"


def sim(sim_id: str, iccid: str, name: str, msisdn: str | None = None) -> SimView:
    return SimView(
        sim_id=sim_id,
        iccid=iccid,
        name=name,
        terminal_id="li-wei_aaaaaaaa",
        msisdn=msisdn,
        pending_rev=0,
        waiting=0,
    )


def account(carrier_id: str, *sims: SimView) -> AccountView:
    return AccountView(
        carrier_id=carrier_id,
        account_id=WORK,
        identification_code="K7QA-3MZD-PX2T",
        consent=False,
        follows_book=False,
        shared=SpaceView(rev=0, contacts=0),
        private=SpaceView(rev=0, contacts=0),
        sims=sims,
    )


ACCOUNTS = (
    account("cn-mobile", sim(WORK, "89860012345678901238", "工作 ＳＩＭ", "+8613800138000")),
    account(
        "cn-unicom",
        sim(HOME, "89860198765432109875", "Home"),
        sim(OLD, "89860098765432101238", "home"),
    ),
)
WAITING = (
    PendingContact("urn:uuid:ABCD-0001", "张伟", PendingChange.ADDED),
    PendingContact("urn:uuid:abcd-0002", "Ann Smith", PendingChange.REMOVED),
    PendingContact("urn:uuid:abcd-0003", "Ann Smith", PendingChange.CHANGED),
)


@pytest.mark.parametrize(
    "name",
    ["工作 SIM", "工作  sim", "138 0013 8000", "+8613800138000", "345678901238", WORK, "11111111"],
)
def test_a_sim_is_found_by_name_number_end_of_iccid_and_id(name: str) -> None:
    found_account, found = find_sim(ACCOUNTS, name, "CN")
    assert (found_account.carrier_id, found.sim_id) == ("cn-mobile", WORK)


@pytest.mark.parametrize("name", ["home", "1238"])
def test_what_several_sims_are_called_tells_them_apart(name: str) -> None:
    with pytest.raises(NoSuchThing, match=r"home \(ICCID …1238, cn-unicom\)"):
        find_sim(ACCOUNTS, name, "CN")


@pytest.mark.parametrize("name", ["朋友", "238", "", "+8613800138001"])
def test_what_no_sim_is_called_says_where_to_look(name: str) -> None:
    with pytest.raises(NoSuchThing, match="sim list"):
        find_sim(ACCOUNTS, name, "CN")


def test_a_name_that_is_like_one_is_asked_back() -> None:
    with pytest.raises(NoSuchThing, match="Did you mean 工作 ＳＩＭ"):
        find_sim(ACCOUNTS, "工作SIM", "CN")
    with pytest.raises(NoSuchThing, match="Did you mean cn-mobile"):
        find_account(ACCOUNTS, "cn-mobil")
    with pytest.raises(NoSuchThing, match="Did you mean Ann Smith"):
        find_pending(WAITING, "ann smit", ACCOUNTS[1].sims[0])


def test_an_account_is_found_by_its_carrier() -> None:
    assert find_account(ACCOUNTS, "CN-Unicom") is ACCOUNTS[1]


@pytest.mark.parametrize("name", ["张伟", "urn:uuid:abcd-0001", "abcd-0001"])
def test_a_contact_that_waits_is_found_by_name_and_uid(name: str) -> None:
    assert find_pending(WAITING, name, ACCOUNTS[0].sims[0]) is WAITING[0]


def test_contacts_of_one_name_that_wait_are_told_apart_by_uid() -> None:
    with pytest.raises(NoSuchThing, match=r"abcd-0002 \(Ann Smith\)"):
        find_pending(WAITING, "Ann Smith", ACCOUNTS[0].sims[0])
