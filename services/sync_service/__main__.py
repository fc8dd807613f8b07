"""`python -m sync_service`."""

import asyncio

from contactmesh.messaging.consumer import BatchConsumer
from contactmesh.messaging.publisher import Publisher
from contactmesh.messaging.relay import OutboxRelay
from contactmesh.messaging.topology import MAX_BODY_BYTES, SYNC
from contactmesh.runtime.commands import CommandHandler, utc_now
from contactmesh.runtime.logging import configure_logging
from contactmesh.runtime.process import TRANSIENT, ServiceProcess, run_until_signalled
from contactmesh.storage.database import Database
from contactmesh.storage.revoked import RevokedTerminals
from contactmesh.storage.unit_of_work import UnitOfWork
from sync_service.event_handler import SyncEvents
from sync_service.handlers import SyncCommands
from sync_service.repository.loading import Loading
from sync_service.repository.reading import Reading
from sync_service.settings import SyncSettings

NAME = SYNC.service


async def main(stopping: asyncio.Event) -> None:
    """Serve until `stopping` is set."""
    settings = SyncSettings()
    configure_logging(NAME, settings.log_format, settings.log_level)
    url = settings.amqp_url.get_secret_value()
    async with (
        Database(
            settings.mongodb_url.get_secret_value(), settings.database_prefix + NAME
        ) as database,
        Publisher(url, f"{NAME} replies") as replies,
        Publisher(url, f"{NAME} events") as events,
    ):
        limits = settings.limits()
        reading = Reading(database)
        revoked = RevokedTerminals(database)
        unit_of_work = UnitOfWork(database)
        relay = OutboxRelay(unit_of_work.outbox, events, transient=TRANSIENT)
        commands = CommandHandler(
            SyncCommands(Loading(database, limits), reading, limits, settings.cursor_key()),
            unit_of_work,
            replies,
            relay,
            revoked,
        )

        async def prepare() -> None:
            await unit_of_work.prepare()
            await reading.prepare()

        await ServiceProcess(
            topology=SYNC,
            settings=settings,
            database=database,
            prepare=prepare,
            consumers=[
                BatchConsumer(
                    url,
                    SYNC.commands_queue,
                    commands,
                    replies,
                    name=NAME,
                    max_body=MAX_BODY_BYTES,
                    transient=TRANSIENT,
                ),
                BatchConsumer(
                    url,
                    SYNC.events_queue,
                    SyncEvents(reading, revoked, events, utc_now),
                    events,
                    name=NAME,
                    transient=TRANSIENT,
                ),
            ],
            background=[relay],
        ).run(stopping)


if __name__ == "__main__":
    run_until_signalled(main)
