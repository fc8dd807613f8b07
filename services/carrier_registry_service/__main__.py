"""`python -m carrier_registry_service`."""

import asyncio

from carrier_registry_service.carriers import known_carriers
from carrier_registry_service.event_handler import RegistryEvents
from carrier_registry_service.handlers import RegistryCommands
from carrier_registry_service.repository.dial_orders import DialOrders
from carrier_registry_service.repository.loading import Loading
from carrier_registry_service.repository.memberships import Memberships, StandingBlocks
from carrier_registry_service.repository.reading import Reading
from carrier_registry_service.settings import RegistrySettings
from contactmesh.audience.following import Healing
from contactmesh.audience.storage import Audiences, HeldEvents
from contactmesh.messaging.consumer import BatchConsumer
from contactmesh.messaging.publisher import Publisher
from contactmesh.messaging.relay import OutboxRelay
from contactmesh.messaging.topology import MAX_BODY_BYTES, REGISTRY
from contactmesh.runtime.commands import CommandHandler
from contactmesh.runtime.logging import configure_logging
from contactmesh.runtime.process import TRANSIENT, ServiceProcess, run_until_signalled
from contactmesh.storage.database import Database
from contactmesh.storage.revoked import RevokedTerminals
from contactmesh.storage.unit_of_work import UnitOfWork

NAME = REGISTRY.service


async def main(stopping: asyncio.Event) -> None:
    """Serve until `stopping` is set."""
    settings = RegistrySettings()
    configure_logging(NAME, settings.log_format, settings.log_level)
    url = settings.amqp_url.get_secret_value()
    async with (
        Database(
            settings.mongodb_url.get_secret_value(), settings.database_prefix + NAME
        ) as database,
        Publisher(url, f"{NAME} replies") as replies,
        Publisher(url, f"{NAME} events") as events,
    ):
        terms = settings.terms(known_carriers().today)
        reading = Reading(database)
        memberships = Memberships(database)
        dial_orders = DialOrders(database, terms.rules)
        audiences = Audiences(database)
        held = HeldEvents(database)
        revoked = RevokedTerminals(database)
        unit_of_work = UnitOfWork(database)
        relay = OutboxRelay(unit_of_work.outbox, events, transient=TRANSIENT)
        commands = CommandHandler(
            RegistryCommands(Loading(database), reading, terms),
            unit_of_work,
            replies,
            relay,
            revoked,
        )
        learning = RegistryEvents(
            memberships,
            StandingBlocks(database),
            dial_orders,
            revoked,
            audiences,
            held,
            events,
        )

        async def prepare() -> None:
            await unit_of_work.prepare()
            await reading.prepare()
            await memberships.prepare()
            await dial_orders.prepare()
            await audiences.prepare()
            await held.prepare()

        await ServiceProcess(
            topology=REGISTRY,
            settings=settings,
            database=database,
            prepare=prepare,
            consumers=[
                BatchConsumer(
                    url,
                    REGISTRY.commands_queue,
                    commands,
                    replies,
                    name=NAME,
                    max_body=MAX_BODY_BYTES,
                    transient=TRANSIENT,
                ),
                BatchConsumer(
                    url,
                    REGISTRY.events_queue,
                    learning,
                    events,
                    name=NAME,
                    transient=TRANSIENT,
                ),
            ],
            background=[relay, Healing(learning.heal)],
        ).run(stopping)


if __name__ == "__main__":
    run_until_signalled(main)
