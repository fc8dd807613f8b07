"""What the registry makes of groups' events on a real database: as a whole, late, and again."""

import itertools
from collections.abc import AsyncIterator, Callable, Sequence

import pytest
import pytest_asyncio

from carrier_registry_service.repository.memberships import Memberships, StandingBlocks
from contactmesh.audience.model import Audience, base_of, begun, moved_on
from contactmesh.contracts.group.events import (
    AudienceBlock,
    AudienceEvent,
    AudienceMember,
    AudienceSnapshot,
    BlockLifted,
    BlockSet,
    GroupCreated,
    GroupDissolved,
    MemberJoined,
    MemberLeft,
    StandingBlockChanged,
)
from contactmesh.contracts.group.views import MemberState, Role
from contactmesh.storage.database import Collection, Database

pytestmark = pytest.mark.claim("C7")
G = "01234567-89ab-cdef-0123-456789abcdef"
Step = tuple[Audience, AudienceEvent]


@pytest_asyncio.fixture
async def database(database_url: str, database_prefix: str) -> AsyncIterator[Database]:
    async with Database(database_url, f"{database_prefix}registry") as database:
        await Memberships(database).prepare()
        yield database


def _joined(version: int, who: str) -> MemberJoined:
    return MemberJoined(
        group_id=G,
        audience_version=version,
        user_id=who,
        role=Role.INVITED,
        rev=version,
        group_name="g",
        owner_id="lin",
    )


def _left(version: int, who: str) -> MemberLeft:
    return MemberLeft(
        group_id=G, audience_version=version, user_id=who, state=MemberState.LEFT, rev=version
    )


def _set(version: int, setter: str, blocked: str) -> BlockSet:
    return BlockSet(group_id=G, audience_version=version, setter_id=setter, blocked_id=blocked)


def _lifted(version: int, setter: str, blocked: str) -> BlockLifted:
    return BlockLifted(
        group_id=G, audience_version=version, setter_id=setter, blocked_id=blocked, refresh=False
    )


HISTORY: tuple[AudienceEvent, ...] = (
    GroupCreated(
        group_id=G, audience_version=1, name="g", owner_id="lin", members=("lin", "bo", "mei")
    ),
    _set(2, "bo", "lin"),
    _joined(3, "ada"),
    _left(4, "bo"),
    _set(5, "mei", "ada"),
    _set(6, "ada", "mei"),
    _lifted(7, "ada", "mei"),
    _left(8, "ada"),
    _joined(9, "kit"),
    GroupDissolved(group_id=G, audience_version=10),
    _lifted(11, "mei", "ada"),
)
BLOCKED_AFTER = {2: {("bo", "lin")}, 5: {("bo", "lin"), ("mei", "ada")}, 11: {("bo", "lin")}}
MEMBERS_AFTER = {4: {"lin", "mei", "ada"}, 9: {"lin", "mei", "kit"}, 10: set(), 11: set()}
PAIRS = list(itertools.permutations(("lin", "bo", "mei", "ada", "kit"), 2))


def _steps(until: int = len(HISTORY)) -> list[Step]:
    steps: list[Step] = []
    audience: Audience | None = None
    for event in HISTORY[:until]:
        if isinstance(event, GroupCreated):
            audience = begun(event)
        else:
            assert audience is not None
            assert base_of(event) == audience.version
            audience = moved_on(audience, event)
        steps.append((audience, event))
    return steps


async def _told(database: Database) -> tuple[set[str], set[tuple[str, str]]]:
    """Who is a member of the group, and who blocks whom."""
    memberships = Memberships(database)
    users = sorted({user for pair in PAIRS for user in pair})
    groups = await memberships.of(users)
    return (
        {user for user, found in groups.items() if found},
        set(await memberships.blocks_among(PAIRS)),
    )


@pytest.mark.parametrize("until", [2, 4, 5, 9, 10, 11])
async def test_a_batch_leaves_what_its_events_leave_one_by_one(
    database: Database, until: int
) -> None:
    await Memberships(database).project(_steps(until))
    members, blocked = await _told(database)
    if until in MEMBERS_AFTER:
        assert members == MEMBERS_AFTER[until]
    if until in BLOCKED_AFTER:
        assert blocked == BLOCKED_AFTER[until]
    for step in _steps(until):
        await Memberships(database).project([step])
    assert await _told(database) == (members, blocked)


ORDERS: dict[str, Callable[[list[Step]], Sequence[Sequence[Step]]]] = {
    "each by itself": lambda steps: [[one] for one in steps],
    "the last one first": lambda steps: [[one] for one in reversed(steps)],
    "two halves, the later one first": lambda steps: [steps[5:], steps[:5]],
    "every other one late": lambda steps: [steps[1::2], steps[::2]],
    "all of it twice": lambda steps: [steps, steps],
    "as the end left the audience": lambda steps: [[(steps[-1][0], event)] for _, event in steps],
}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("until", [9, 11])
async def test_batches_may_come_in_any_order_and_again(
    database: Database, order: str, until: int
) -> None:
    for batch in ORDERS[order](_steps(until)):
        await Memberships(database).project(batch)
    blocked = {("bo", "lin")} if until == 11 else {("bo", "lin"), ("mei", "ada")}
    assert await _told(database) == (MEMBERS_AFTER[until], blocked)


@pytest.mark.parametrize("dissolved", [False, True])
async def test_an_audience_that_comes_whole_ends_what_it_does_not_hold(
    database: Database, dissolved: bool
) -> None:
    await Memberships(database).project(_steps(9))
    snapshot = AudienceSnapshot(
        group_id=G,
        audience_version=20,
        members=() if dissolved else (AudienceMember(user_id="kit", since=9),),
        blocks=(AudienceBlock(setter_id="bo", blocked_id="lin"),),
        dissolved=dissolved,
    )
    assert begun(snapshot).dissolved is dissolved
    await Memberships(database).project([(begun(snapshot), snapshot)])
    assert await _told(database) == (set() if dissolved else {"kit"}, {("bo", "lin")})


async def test_a_batch_of_events_is_written_as_one(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    trips: list[str] = []

    def counted(name: str) -> None:
        really = getattr(Collection, name)

        async def write(self: Collection, *args: object, **options: object) -> object:
            trips.append(name)
            return await really(self, *args, **options)

        monkeypatch.setattr(Collection, name, write)

    for name in ("update", "update_all", "update_each"):
        counted(name)
    await Memberships(database).project(_steps())
    assert trips == ["update_each", "update_each"], "the states, and who is left over"
    trips.clear()
    changes = [
        StandingBlockChanged(setter_id="lin", blocked_id=f"u{number}", blocked=True, rev=1)
        for number in range(100)
    ]
    await StandingBlocks(database).take(changes)
    assert trips == ["update_each"]


async def test_of_changes_between_two_people_the_latest_counts(database: Database) -> None:
    def change(rev: int) -> StandingBlockChanged:
        blocked = rev % 2 == 1
        return StandingBlockChanged(setter_id="lin", blocked_id="bo", blocked=blocked, rev=rev)

    blocks = StandingBlocks(database)
    pair = ("lin", "bo")
    await blocks.take([change(3), change(2), change(1)])
    assert await blocks.among([pair]) == {pair}
    await blocks.take([change(1), change(2)])
    assert await blocks.among([pair]) == {pair}
    await blocks.take([change(3), change(4)])
    assert await blocks.among([pair]) == frozenset()
    await blocks.take([])
