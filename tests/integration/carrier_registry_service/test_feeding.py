"""The feed on the wire: repeats, any order, in bulk, and by whom."""

import asyncio

import pytest
from tests.integration.carrier_registry_service.carrying import (
    began,
    carrier_of,
    check,
    day,
    ended,
    feeds,
    new_number,
    new_seq,
    ref,
)
from tests.wire import DEADLINE, System, number_of

from contactmesh.contracts.carrier.access import ListOwnLines, OwnLines
from contactmesh.contracts.carrier.check import ChangeCode
from contactmesh.contracts.carrier.feed import MOST_ENTRIES, Ended, Feed, FeedEntry, StateSeen
from contactmesh.contracts.carrier.records import EndReason, NetworkState, ShownState
from contactmesh.contracts.errors import ErrorCode
from contactmesh.contracts.group.commands import CreateGroup
from contactmesh.contracts.identifiers import carrier_of as carrier_id_of
from contactmesh.contracts.identifiers import user_of

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_the_life_of_a_number_backwards_and_twice(system: System) -> None:
    mobile = await carrier_of(system, "cn-mobile")
    lin = await system.terminal("lin")
    old, new = new_seq(), new_seq()
    life: list[FeedEntry] = [
        began(old, lin.user_id, new_number()),
        ended(old, 5),
        began(new, lin.user_id, number := new_number(), 5, ref("cn-mobile", old)),
        StateSeen(registration_seq=new, state=NetworkState.SUSPENDED, at=day(6)),
    ]
    for entry in reversed(life):
        (outcome,) = await feeds(mobile, entry)
        assert outcome.outcome == "applied", outcome
    assert {one.outcome for one in await feeds(mobile, *life)} == {"same"}
    checked = await check(lin, lin, ref("cn-mobile", old))
    assert [(one.code, one.number_changed) for one in checked.changes] == [
        (ChangeCode.NUMBER_CHANGED, True)
    ]
    own = await lin.does(ListOwnLines())
    assert isinstance(own, OwnLines)
    (line,) = own.lines
    assert line.line.msisdn == number
    assert line.state is not None
    assert (line.state.state, line.network_state) == (
        ShownState.UNREACHABLE,
        NetworkState.SUSPENDED,
    )


async def test_a_full_feed_is_taken_in_one_go_and_stands_or_falls_entry_by_entry(
    system: System,
) -> None:
    mobile = await carrier_of(system, "cn-mobile")
    seqs = [new_seq() for _ in range(MOST_ENTRIES - 1)]
    people = [system.new_user("someone") for _ in seqs]
    entries = [began(seq, who, new_number()) for seq, who in zip(seqs, people, strict=True)]
    outcomes = await feeds(mobile, *entries, began(seqs[0], "somebody-else", new_number()))
    assert [one.outcome for one in outcomes] == ["applied"] * len(seqs) + ["rejected"]
    assert outcomes[-1].error is not None
    assert outcomes[-1].error.code is ErrorCode.CONFLICT


async def test_a_carrier_cannot_speak_of_anothers_registrations(system: System) -> None:
    mobile, unicom = await asyncio.gather(
        carrier_of(system, "cn-mobile"), carrier_of(system, "cn-unicom")
    )
    lin = await system.terminal("lin")
    seq, number = new_seq(), new_number()
    await feeds(mobile, began(seq, lin.user_id, number))
    entry = Ended(registration_seq=seq, valid_to=day(1), reason=EndReason.CANCELLED)
    await feeds(unicom, entry)
    assert [line.msisdn for line in (await check(lin, lin)).lines] == [number]
    stolen = began(new_seq(), "somebody-else", number, 5, ref("cn-mobile", seq))
    (outcome,) = await feeds(unicom, stolen)
    assert outcome.outcome == "applied", "whose the other one is, is not told"
    assert [line.msisdn for line in (await check(lin, lin)).lines] == [number]


async def test_only_carriers_feed_and_carriers_do_nothing_else(system: System) -> None:
    mobile, lin = await asyncio.gather(carrier_of(system, "cn-mobile"), system.terminal("lin"))
    assert carrier_id_of(user_of(mobile.id)) == "cn-mobile"
    feed = Feed(entries=(began(new_seq(), lin.user_id, new_number()),))
    assert (await lin.refused(feed)).code is ErrorCode.PERMISSION_DENIED
    for command in (CreateGroup(name="carriers"), ListOwnLines()):
        assert (await mobile.refused(command)).code is ErrorCode.PERMISSION_DENIED
    assert (await check(lin, lin)).lines == ()


async def test_copies_of_the_registry_and_two_carriers_at_once_lose_no_fact(
    system: System,
) -> None:
    mobile, unicom, lin = await asyncio.gather(
        carrier_of(system, "cn-mobile"), carrier_of(system, "cn-unicom"), system.terminal("lin")
    )
    facts = []
    live = []
    for _ in range(12):
        gone, stands, number = new_seq(), new_seq(), new_number()
        live.append(number)
        facts += [
            feeds(mobile, began(gone, lin.user_id, number)),
            feeds(mobile, ended(gone, 9, EndReason.PORTED_OUT)),
            feeds(unicom, began(stands, lin.user_id, number, 9, ref("cn-mobile", gone))),
        ]
    await asyncio.gather(*facts)
    checked = await check(lin, lin)
    assert sorted(line.msisdn for line in checked.lines) == sorted(live)
    assert all(line.ported for line in checked.lines)


async def test_copies_of_the_registry_that_begin_one_number_for_two_people_leave_it_with_one(
    system: System,
) -> None:
    mobile = await carrier_of(system, "cn-mobile")
    lin, mei = await system.terminals("lin", "mei")
    numbers = [new_number() for _ in range(12)]
    olders = [(new_seq(), lin.user_id, number, 0) for number in numbers]
    newers = [(new_seq(), mei.user_id, number, 9) for number in numbers]
    begins = [one for pair in zip(olders, newers, strict=True) for one in pair]
    outcomes = await asyncio.gather(*(feeds(mobile, began(*one)) for one in begins))
    assert {one.outcome for told in outcomes for one in told} == {"applied"}
    assert (await check(lin, lin)).lines == ()
    assert sorted(line.msisdn for line in (await check(mei, mei)).lines) == sorted(numbers)


@pytest.mark.claim("C2+")
async def test_a_number_that_is_begun_for_somebody_else_leaves_the_first_ones_card(
    system: System,
) -> None:
    mobile = await carrier_of(system, "cn-mobile")
    lin, bo, mei = await system.terminals("lin", "bo", "mei")
    group_id = await lin.creates(bo)
    number, old = new_number(), new_seq()
    await feeds(mobile, began(old, lin.user_id, number))
    await lin.publishes(group_id, number)
    await bo.until_pushed(lin, group_id, number)
    await feeds(mobile, began(new_seq(), mei.user_id, number, 90))
    async with asyncio.timeout(DEADLINE):
        while True:
            # A pull beside a change may leave who is changing to the next one.
            seen = (await bo.pulls(group_id)).get(lin.user_id)
            if seen is not None and number not in str(seen.card):
                break
    (change,) = (await check(bo, lin, ref("cn-mobile", old))).changes
    assert (change.code, change.line) == (ChangeCode.NUMBER_WITHDRAWN, None)
    assert [line.msisdn for line in (await check(mei, mei)).lines] == [number]


@pytest.mark.claim("C2")
async def test_a_changed_number_reaches_the_phonebooks_of_a_group(system: System) -> None:
    mobile = await carrier_of(system, "cn-mobile")
    lin, bo = await system.terminals("lin", "bo")
    group_id = await lin.creates(bo)
    before, after = new_number(), new_number()
    old, new = new_seq(), new_seq()
    await feeds(mobile, began(old, lin.user_id, before))
    await lin.publishes(group_id, before)
    await bo.until_pushed(lin, group_id, before)
    await feeds(mobile, ended(old, 5), began(new, lin.user_id, after, 5, ref("cn-mobile", old)))
    await bo.until_pushed(lin, group_id, after)
    assert number_of((await bo.pulls(group_id))[lin.user_id].card) == after
    checked = await check(bo, lin, ref("cn-mobile", old))
    assert [line.msisdn for line in checked.lines] == [after], "both say the same"
