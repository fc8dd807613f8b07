"""`python -m group_service`."""

import asyncio

from contactmesh.messaging.consumer import BatchConsumer
from contactmesh.messaging.publisher import Publisher
from contactmesh.messaging.relay import OutboxRelay
from contactmesh.messaging.topology import GROUP, MAX_BODY_BYTES
from contactmesh.runtime.commands import CommandHandler
from contactmesh.runtime.logging import configure_logging
from contactmesh.runtime.process import TRANSIENT, ServiceProcess, run_until_signalled
from contactmesh.storage.database import Database
from contactmesh.storage.revoked import RevokedTerminals
from contactmesh.storage.unit_of_work import UnitOfWork
from group_service.card_handler import CardChanges
from group_service.event_handler import GroupEvents
from group_service.handlers import GroupCommands
from group_service.repository.cleaning import Cleaning
from group_service.repository.loading import Loading
from group_service.repository.reading import Reading
from group_service.settings import GroupSettings

NAME = GROUP.service


async def main(stopping: asyncio.Event) -> None:
    """Serve until `stopping` is set."""
    settings = GroupSettings()
    configure_logging(NAME, settings.log_format, settings.log_level)
    url = settings.amqp_url.get_secret_value()
    async with (
        Database(
            settings.mongodb_url.get_secret_value(), settings.database_prefix + NAME
        ) as database,
        Publisher(url, f"{NAME} replies") as replies,
        Publisher(url, f"{NAME} events") as events,
    ):
        reading = Reading(database)
        revoked = RevokedTerminals(database)
        unit_of_work = UnitOfWork(database)
        relay = OutboxRelay(unit_of_work.outbox, events, transient=TRANSIENT)
        loading = Loading(database)
        limits = settings.limits()
        commands = CommandHandler(
            GroupCommands(
                loading,
                reading,
                limits,
                settings.cursor_key(),
            ),
            unit_of_work,
            replies,
            relay,
            revoked,
        )

        async def prepare() -> None:
            await unit_of_work.prepare()
            await reading.prepare()

        await ServiceProcess(
            topology=GROUP,
            settings=settings,
            database=database,
            prepare=prepare,
            consumers=[
                BatchConsumer(
                    url,
                    GROUP.commands_queue,
                    commands,
                    replies,
                    name=NAME,
                    max_body=MAX_BODY_BYTES,
                    transient=TRANSIENT,
                ),
                BatchConsumer(
                    url,
                    GROUP.events_queue,
                    GroupEvents(
                        reading,
                        Cleaning(database),
                        revoked,
                        CardChanges(loading, unit_of_work, relay, limits),
                        events,
                    ),
                    events,
                    name=NAME,
                    transient=TRANSIENT,
                ),
            ],
            background=[relay],
        ).run(stopping)


if __name__ == "__main__":
    run_until_signalled(main)
