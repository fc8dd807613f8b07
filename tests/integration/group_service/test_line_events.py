"""Line events on the wire: two copies take them in, in any order and more than once (row C2)."""

import secrets
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from random import Random

import pytest
import pytest_asyncio
from tests.backends import Backends
from tests.wire import System, number_of, running_system

from contactmesh.contracts.carrier.records import Line, RegistrationRef
from contactmesh.contracts.contact import ContactChanged, LineReplaced, Origin, Scope
from contactmesh.contracts.envelope import Envelope
from contactmesh.contracts.group.commands import Block

pytestmark = pytest.mark.asyncio(loop_scope="module")

KEY = "contact.changed.line"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def system(
    backends: Backends, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[System]:
    """Every service as a process, group_service twice."""
    folder = tmp_path_factory.mktemp("system")
    async with running_system(backends, folder, scale={"group_service": 2}) as running:
        yield running


def number(index: int) -> str:
    return f"+861380000{index:04d}"


def line(index: int) -> Line:
    ref = RegistrationRef(carrier_id="cn-mobile", registration_seq=str(index))
    return Line(ref=ref, msisdn=number(index))


def replaced(owner_id: str, before: int, after: int | None) -> bytes:
    changed = ContactChanged(
        scope=Scope.LINE,
        owner_id=owner_id,
        uid=owner_id,
        rev=before * 2 + (after is not None),
        origin=Origin(service="carrier_registry_service"),
        lines=(LineReplaced(before=line(before), after=None if after is None else line(after)),),
    )
    envelope = Envelope.of(
        changed, id=secrets.token_hex(12), source="/services/test", time=datetime.now(UTC)
    )
    return envelope.encode()


@pytest.mark.claim("C2")
async def test_c2_a_chain_of_changes_in_any_order_ends_at_the_live_number(system: System) -> None:
    owner, viewer, blocked = await system.terminals("owner", "viewer", "blocked")
    group_id = await owner.creates(viewer, blocked)
    await owner.publishes(group_id, number(1))
    await blocked.until_pushed(owner, group_id, number(1))
    await owner.does(Block(user_id=blocked.user_id, group_id=group_id))
    last = 12
    events = [replaced(owner.user_id, index, index + 1) for index in range(1, last)]
    events += [replaced(owner.user_id, index, None) for index in range(1, last, 3)]
    Random(1).shuffle(events)
    await system.publish_events([(KEY, event) for event in (*events, *reversed(events))])
    # Meanwhile the card may have no number at all, when a withdrawal is learnt first.
    await viewer.until(lambda: viewer.ever_saw(number(last)))
    await owner.until(lambda: owner.ever_saw(number(last)))
    seen = (await viewer.pulls(group_id))[owner.user_id]
    assert number_of(seen.card) == number(last)
    kept = (await blocked.pulls(group_id))[owner.user_id]
    assert number_of(kept.card) == number(1)
    assert not blocked.ever_saw(number(last))


async def test_a_number_of_nobody_in_a_group_changes_nothing(system: System) -> None:
    owner, viewer = await system.terminals("owner", "viewer")
    group_id = await owner.creates(viewer)
    await owner.publishes(group_id, number(50))
    await viewer.until_pushed(owner, group_id, number(50))
    stranger = system.new_user("stranger")
    await system.publish_events([(KEY, replaced(stranger, 50, 51))])
    await system.publish_events([(KEY, replaced(owner.user_id, 50, 52))])
    await viewer.until_pushed(owner, group_id, number(52))
    assert number(51) not in viewer.pushed_numbers(owner, group_id)


async def test_a_malformed_line_event_is_parked_and_the_next_one_taken(system: System) -> None:
    owner, viewer = await system.terminals("owner", "viewer")
    group_id = await owner.creates(viewer)
    await owner.publishes(group_id, number(60))
    broken = replaced(owner.user_id, 60, 61).replace(b'"owner_id"', b'"owner"')
    await system.publish_events([(KEY, broken), (KEY, replaced(owner.user_id, 60, 62))])
    await viewer.until_pushed(owner, group_id, number(62))
    parked = await system.parked("group_service.events")
    assert parked.body == broken
