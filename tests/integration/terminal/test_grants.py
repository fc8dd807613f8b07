"""The lists of who may look and who did, which the registry answers page by page (row C7)."""

from datetime import UTC, datetime

import pytest
from tests.integration.terminal.conftest import MakeTerminal
from tests.integration.terminal.scripted_service import ScriptedService

from contactmesh.contracts.carrier.access import Granted, GrantList, ListGrants, ListLooks, LookLog

pytestmark = [pytest.mark.usefixtures("queue"), pytest.mark.claim("C7")]


def granted(viewer_id: str) -> Granted:
    return Granted(viewer_id=viewer_id, details=True, state=False, usage=False)


async def test_all_pages_of_grants_are_one_list(
    make_terminal: MakeTerminal, service: ScriptedService
) -> None:
    service.answer_in_turn(
        ListGrants.TYPE,
        GrantList(grants=(granted("ada"), granted("bo")), has_more=True),
        GrantList(grants=(granted("kit"),), has_more=True),
        GrantList(grants=(), has_more=False),
    )
    async with make_terminal() as terminal:
        made = await terminal.grants()
    assert [one.viewer_id for one in made.grants] == ["ada", "bo", "kit"]
    assert not made.has_more
    asked = [command.data.get("after") for command in service.commands(ListGrants.TYPE)]
    assert asked == [None, "bo", "kit"]


async def test_a_page_of_looks_is_asked_for_by_time_and_length(
    make_terminal: MakeTerminal, service: ScriptedService
) -> None:
    service.answer_in_turn(ListLooks.TYPE, *(LookLog(looks=(), has_more=False),) * 2)
    before = datetime(2026, 11, 30, tzinfo=UTC)
    async with make_terminal() as terminal:
        await terminal.looks()
        await terminal.looks(before=before, limit=7)
    commands = [ListLooks.model_validate(one.data) for one in service.commands(ListLooks.TYPE)]
    assert [(one.before, one.limit) for one in commands] == [(None, 200), (before, 7)]
