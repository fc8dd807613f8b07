"""Commands that waited together are decided as one unit of work, on the real database (Y3, Y6)."""

from datetime import UTC, datetime

import pytest
from tests.integration.sync_service.books import contact, uid_of
from tests.integration.sync_service.copies import SyncCopy

from contactmesh.contracts.sync.commands import Exchange, Exchanged
from contactmesh.contracts.sync.records import Change
from contactmesh.storage.database import Database

TERMINALS = ("lin_aaaaaaaa", "lin_bbbbbbbb", "lin_cccccccc")


def _exchange(token: str | None, *names: str) -> Exchange:
    now = datetime.now(UTC)
    changes = tuple(
        Change(uid=uid_of(name), updated_at=now, card=contact(name, "1")) for name in names
    )
    return Exchange(token=token, changes=changes, sent_at=now)


@pytest.mark.claim("Y3")
@pytest.mark.claim("Y6")
async def test_terminals_in_step_that_all_send_together_are_each_served(
    database_url: str, database_prefix: str
) -> None:
    """The first one moves the book on; the tokens of the others were good when they were loaded."""
    async with Database(database_url, f"{database_prefix}sync") as database:
        copy = SyncCopy(database)
        await copy.reading.prepare()
        await copy.unit_of_work.prepare()
        begun = await copy.does(TERMINALS[0], _exchange(None, "an"))
        assert begun.error is None
        token = Exchanged.model_validate(begun.result).token
        asked = [(one, _exchange(token, one[-1])) for one in TERMINALS]
        replies = await copy.batch(*asked)
        assert [reply.error for reply in replies] == [None] * len(TERMINALS)
