"""One group that cannot be pulled keeps no other from it."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.unit.terminal.cards import CLUB, FAMILY, card, member, page

from contactmesh.contracts.command import Command
from contactmesh.contracts.errors import ErrorBody, ErrorCode
from contactmesh.contracts.group.commands import GroupList, Pull
from contactmesh.contracts.group.views import GroupSummary, Role
from contactmesh.local.waiting import until
from contactmesh.terminal.errors import CommandRefused, UnreadableReply
from contactmesh.terminal.phonebook import Phonebook
from contactmesh.terminal.pulling import Puller, R
from contactmesh.terminal.updates import Update

REFUSED = CommandRefused(ErrorBody(code=ErrorCode.INTERNAL, message="Broken."))
UNREADABLE = UnreadableReply("Update the terminal.")


class Service:
    """Answers for two groups, one of which is broken."""

    def __init__(self, error: Exception) -> None:
        self.error: Exception | None = error

    async def __call__(self, command: Command, result: type[R]) -> R:
        answer = self._listing() if not isinstance(command, Pull) else self._page(command)
        assert isinstance(answer, result)
        return answer

    def _page(self, command: Pull) -> object:
        if command.group_id == FAMILY and self.error is not None:
            raise self.error
        bob = member("bob", 2, card("bob", "Bob"))
        return page(member("alice", 0), bob, group_id=command.group_id)

    @staticmethod
    def _listing() -> GroupList:
        return GroupList(
            groups=tuple(
                GroupSummary(
                    group_id=group_id,
                    name="Group",
                    owner_id="alice",
                    role=Role.CREATOR,
                    joined_at=datetime.now(UTC),
                    members=2,
                )
                for group_id in (FAMILY, CLUB)
            ),
            invitations=(),
        )


@pytest.fixture
async def phonebook(tmp_path: Path) -> AsyncIterator[Phonebook]:
    async with Phonebook(tmp_path / "phonebook.sqlite3", "alice", None) as opened:
        yield opened


def ignored(_: Iterable[Update]) -> None:
    """Take what changed."""


@pytest.mark.parametrize("error", [REFUSED, UNREADABLE])
async def test_the_groups_behind_a_broken_one_are_pulled_and_it_is_told(
    phonebook: Phonebook, error: Exception
) -> None:
    with pytest.raises(type(error)):
        await Puller(phonebook, Service(error), ignored).pull_all()
    (bob,) = await phonebook.contacts()
    assert bob.groups == (CLUB,)


@pytest.mark.parametrize("error", [REFUSED, UNREADABLE])
@pytest.mark.parametrize("woken", [None, (FAMILY, CLUB)])
async def test_a_broken_group_takes_no_wake_up_from_another_and_is_pulled_when_it_works(
    phonebook: Phonebook, error: Exception, woken: tuple[str, ...] | None
) -> None:
    service = Service(error)
    puller = Puller(phonebook, service, ignored)
    running = asyncio.create_task(puller.run())

    async def club_is_here() -> bool:
        return bool(await phonebook.contacts())

    async def both_are_here() -> bool:
        return (await phonebook.contacts())[0].groups == (FAMILY, CLUB)

    try:
        puller.wake(woken)
        await until(club_is_here, seconds=5)
        service.error = None
        puller.wake((FAMILY,))
        await until(both_are_here, seconds=5)
    finally:
        running.cancel()
