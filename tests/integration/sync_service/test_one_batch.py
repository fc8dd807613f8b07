"""Commands that waited together are decided as one unit of work, on the real database (Y3, Y6)."""

from datetime import UTC, datetime

import pytest
from tests.integration.sync_service.books import contact, uid_of
from tests.integration.sync_service.copies import SyncCopy

from contactmesh.contracts.reply import Reply
from contactmesh.contracts.sync.commands import Exchange, Exchanged
from contactmesh.contracts.sync.records import Change, Outcome
from contactmesh.storage.database import Database

TERMINALS = ("lin_aaaaaaaa", "lin_bbbbbbbb", "lin_cccccccc")


def _exchange(
    token: str | None, name: str, *, number: str = "1", base_rev: int | None = None
) -> Exchange:
    now = datetime.now(UTC)
    change = Change(uid=uid_of(name), base_rev=base_rev, updated_at=now, card=contact(name, number))
    return Exchange(token=token, changes=(change,), sent_at=now)


def _granted(reply: Reply) -> Exchanged:
    assert reply.error is None
    return Exchanged.model_validate(reply.result)


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
        token = _granted(await copy.does(TERMINALS[0], _exchange(None, "an"))).token
        asked = [(one, _exchange(token, one[-1])) for one in TERMINALS]
        replies = await copy.batch(*asked)
        assert [reply.error for reply in replies] == [None] * len(TERMINALS)


@pytest.mark.claim("Y3")
async def test_what_two_terminals_made_alike_is_found_as_either_ones(
    database_url: str, database_prefix: str
) -> None:
    async with Database(database_url, f"{database_prefix}sync") as database:
        copy = SyncCopy(database)
        await copy.reading.prepare()
        await copy.unit_of_work.prepare()
        first, second, third = TERMINALS
        begun = _granted(await copy.does(first, _exchange(None, "an")))
        rev = begun.results[0].rev
        sent = _exchange(begun.token, "an", number="2", base_rev=rev)
        outcomes = [_granted(await copy.does(one, sent)) for one in (first, second)]
        assert [one.results[0].outcome for one in outcomes] == [Outcome.APPLIED, Outcome.SAME]
        rev = outcomes[0].results[0].rev
        after = _exchange(outcomes[0].token, "an", number="3", base_rev=rev)
        _granted(await copy.does(third, after))
        for one in (first, second):
            again = _granted(await copy.does(one, sent)).results[0]
            assert again.outcome is Outcome.MERGED
            assert again.card == contact("an", "3")
