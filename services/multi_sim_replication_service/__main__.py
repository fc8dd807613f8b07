"""`python -m multi_sim_replication_service`."""

import asyncio

from contactmesh.messaging.consumer import BatchConsumer
from contactmesh.messaging.publisher import Publisher
from contactmesh.messaging.relay import OutboxRelay
from contactmesh.messaging.topology import MAX_BODY_BYTES, MULTI_SIM
from contactmesh.runtime.commands import CommandHandler, utc_now
from contactmesh.runtime.logging import configure_logging
from contactmesh.runtime.process import TRANSIENT, ServiceProcess, run_until_signalled
from contactmesh.storage.database import Database
from contactmesh.storage.revoked import RevokedTerminals
from contactmesh.storage.unit_of_work import UnitOfWork
from multi_sim_replication_service.event_handler import SimEvents
from multi_sim_replication_service.forgetting import Forgetting
from multi_sim_replication_service.handlers import SimCommands
from multi_sim_replication_service.replication import Replication
from multi_sim_replication_service.repository.loading import Loading
from multi_sim_replication_service.repository.reading import Reading
from multi_sim_replication_service.settings import SimSettings

NAME = MULTI_SIM.service


async def main(stopping: asyncio.Event) -> None:
    """Serve until `stopping` is set."""
    settings = SimSettings()
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
        loading = Loading(database)
        reading = Reading(database)
        revoked = RevokedTerminals(database)
        unit_of_work = UnitOfWork(database)
        relay = OutboxRelay(unit_of_work.outbox, events, transient=TRANSIENT)
        commands = CommandHandler(
            SimCommands(loading, reading, limits), unit_of_work, replies, relay, revoked
        )
        replication = Replication(loading, unit_of_work, relay, limits, utc_now)

        async def prepare() -> None:
            await unit_of_work.prepare()
            await reading.prepare()

        await ServiceProcess(
            topology=MULTI_SIM,
            settings=settings,
            database=database,
            prepare=prepare,
            consumers=[
                BatchConsumer(
                    url,
                    MULTI_SIM.commands_queue,
                    commands,
                    replies,
                    name=NAME,
                    max_body=MAX_BODY_BYTES,
                    transient=TRANSIENT,
                ),
                BatchConsumer(
                    url,
                    MULTI_SIM.events_queue,
                    SimEvents(reading, replication, revoked, utc_now),
                    events,
                    name=NAME,
                    transient=TRANSIENT,
                ),
            ],
            background=[relay, Forgetting(reading, loading, unit_of_work, utc_now)],
        ).run(stopping)


if __name__ == "__main__":
    run_until_signalled(main)
