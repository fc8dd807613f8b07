"""An attack by trying people and references in turn, with copies of the registry (row C7)."""

import asyncio
from collections import Counter

import pytest
from tests.integration.carrier_registry_service.carrying import (
    ask,
    began,
    carrier_of,
    feeds,
    new_number,
    new_seq,
    ref,
)
from tests.wire import System

from contactmesh.contracts.carrier.access import Grant
from contactmesh.contracts.carrier.check import Check
from contactmesh.contracts.errors import ErrorCode
from contactmesh.contracts.reply import Reply

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.claim("C7")]
PEOPLE_A_DAY, WRONG_AN_HOUR = 25, 6


def codes(replies: list[Reply]) -> Counter[ErrorCode | None]:
    return Counter(None if reply.error is None else reply.error.code for reply in replies)


async def test_trying_people_in_turn_learns_nothing_and_soon_ends(system: System) -> None:
    mobile = await carrier_of(system, "cn-mobile")
    attacker = await system.terminal("attacker")
    there = [system.new_user("someone") for _ in range(20)]
    await feeds(mobile, *(began(new_seq(), who, new_number()) for who in there))
    nobody = [system.new_user("nobody") for _ in there]
    tried = [who for pair in zip(there, nobody, strict=True) for who in pair]
    replies = list(await asyncio.gather(*(ask(attacker, who) for who in tried)))
    assert codes(replies) == {
        ErrorCode.NOT_FOUND: PEOPLE_A_DAY,
        ErrorCode.RATE_LIMITED: len(tried) - PEOPLE_A_DAY,
    }
    refusals = [reply.error for reply in replies if reply.error is not None]
    assert len({one.message for one in refusals if one.code is ErrorCode.NOT_FOUND}) == 1
    waits = [one.details for one in refusals if one.code is ErrorCode.RATE_LIMITED]
    assert all(set(wait) == {"retry_after_seconds"} for wait in waits)
    assert all(0 < wait["retry_after_seconds"] <= 86_400 for wait in waits)
    assert codes([await ask(attacker, attacker)]) == {None: 1}, "oneself does not count"
    other = await system.another_terminal(attacker.user_id)
    assert codes([await ask(other, system.new_user("nobody"))]) == {ErrorCode.RATE_LIMITED: 1}


async def test_trying_references_in_turn_soon_ends_exactly_at_the_limit(system: System) -> None:
    mobile = await carrier_of(system, "cn-mobile")
    lin, attacker = await system.terminals("lin", "attacker")
    seq = new_seq()
    await feeds(mobile, began(seq, lin.user_id, new_number()))
    await lin.does(Grant(viewer_id=attacker.user_id))
    wrong = [ref("cn-mobile", str(10**9 + number)) for number in range(20)]
    replies = list(await asyncio.gather(*(ask(attacker, lin, one) for one in wrong)))
    assert codes(replies) == {
        ErrorCode.NOT_FOUND: WRONG_AN_HOUR,
        ErrorCode.RATE_LIMITED: len(wrong) - WRONG_AN_HOUR,
    }
    locked = await ask(attacker, lin, ref("cn-mobile", seq))
    assert codes([locked]) == {ErrorCode.RATE_LIMITED: 1}


async def test_one_check_cannot_try_more_references_than_the_hour_allows(system: System) -> None:
    lin, attacker = await system.terminals("lin", "attacker")
    await lin.does(Grant(viewer_id=attacker.user_id))
    wrong = [ref("cn-mobile", str(10**9 + number)) for number in range(WRONG_AN_HOUR + 1)]
    assert codes([await ask(attacker, lin, *wrong)]) == {ErrorCode.RATE_LIMITED: 1}


async def test_the_same_command_again_counts_once_and_has_the_same_answer(system: System) -> None:
    attacker = await system.terminal("attacker")
    command = Check(identity_id=system.new_user("nobody"))
    for number in range(1, PEOPLE_A_DAY + 10):
        await attacker.send_command(command, "the-same-id")
        reply = await attacker.reply_to("the-same-id", number=number)
        assert codes([reply]) == {ErrorCode.NOT_FOUND: 1}
    assert codes([await ask(attacker, system.new_user("nobody"))]) == {ErrorCode.NOT_FOUND: 1}
