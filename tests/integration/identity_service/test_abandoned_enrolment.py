"""An enrolment that died between the queue and the commit leaves nothing behind."""

from datetime import UTC, datetime

from tests.backends import Broker

from contactmesh.contracts.identity import Credentials
from contactmesh.local.waiting import until
from contactmesh.messaging.connection import declare_terminal_queue
from contactmesh.messaging.topology import terminal_queue
from contactmesh.storage.database import Database
from identity_service.domain.upkeep import Upkeep, if_abandoned
from identity_service.repository import Repository

from .conftest import RunIdentity, connect
from .test_revoking import gone, queue_exists

PATIENCE = 20


async def test_queue_without_a_terminal_is_cleared_away_and_others_stay(
    run_identity: RunIdentity, broker: Broker, database_url: str, database_prefix: str
) -> None:
    abandoned, started = "ada_aaaaaaaa", "ada_bbbbbbbb"
    long_ago = datetime.fromtimestamp(0, UTC)
    async with run_identity() as identity:
        enrolled: Credentials = await identity.enrolled("ada")
    async with Database(database_url, f"{database_prefix}identity_service") as database:
        repository = Repository(database)
        for terminal_id in (abandoned, started):
            await declare_terminal_queue(broker.url, terminal_id, "ada")
        await repository.note_upkeep(Upkeep(abandoned, long_ago, long_ago))
        await repository.note_upkeep(if_abandoned(started, datetime.now(UTC)))
        await repository.note_upkeep(Upkeep(enrolled.terminal_id, long_ago, long_ago))
        async with run_identity():
            await until(lambda: gone(broker, terminal_queue(abandoned)), seconds=PATIENCE)

            async def settled() -> bool:
                return not await repository.upkeep_due(datetime.now(UTC), limit=10)

            await until(settled, seconds=PATIENCE)
            assert await queue_exists(broker, terminal_queue(started))
            assert await queue_exists(broker, enrolled.queue)
            async with await connect(enrolled):
                pass
