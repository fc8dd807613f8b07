"""`python -m fanout_service`."""

import asyncio

from contactmesh.audience.following import Healing
from contactmesh.audience.storage import Audiences, HeldEvents
from contactmesh.messaging.consumer import BatchConsumer
from contactmesh.messaging.publisher import Publisher
from contactmesh.messaging.topology import FANOUT
from contactmesh.runtime.logging import configure_logging
from contactmesh.runtime.process import TRANSIENT, ServiceProcess, run_until_signalled
from contactmesh.runtime.settings import ServiceSettings
from contactmesh.storage.database import Database
from fanout_service.handlers import FanOut
from fanout_service.repository import Terminals

NAME = FANOUT.service


async def main(stopping: asyncio.Event) -> None:
    """Serve until `stopping` is set."""
    settings = ServiceSettings()
    configure_logging(NAME, settings.log_format, settings.log_level)
    url = settings.amqp_url.get_secret_value()
    async with (
        Database(
            settings.mongodb_url.get_secret_value(), settings.database_prefix + NAME
        ) as database,
        Publisher(url, f"{NAME} pushes") as publisher,
    ):
        held = HeldEvents(database)
        terminals = Terminals(database)
        audiences = Audiences(database)
        fan_out = FanOut(audiences, held, terminals, publisher)

        async def prepare() -> None:
            await audiences.prepare()
            await held.prepare()
            await terminals.prepare()

        await ServiceProcess(
            topology=FANOUT,
            settings=settings,
            database=database,
            prepare=prepare,
            consumers=[
                BatchConsumer(
                    url, FANOUT.events_queue, fan_out, publisher, name=NAME, transient=TRANSIENT
                )
            ],
            background=[Healing(fan_out.heal)],
        ).run(stopping)


if __name__ == "__main__":
    run_until_signalled(main)
