"""An integrator in ten lines: a queue of one's own that gets every contact change."""

import asyncio
import sys
from contextlib import suppress

import aio_pika

from contactmesh.contracts.envelope import Envelope


async def main(amqp_url: str) -> None:
    connection = await aio_pika.connect(amqp_url)
    channel = await connection.channel()
    queue = await channel.declare_queue("crm", durable=True, arguments={"x-queue-type": "quorum"})
    await queue.bind("contactmesh.events", "contact.changed.#")
    async with queue.iterator() as messages:
        async for message in messages:
            for event in Envelope.decode_all(message.body):
                print(event.type, event.subject, *event.data["changed_fields"], flush=True)
            await message.ack()


with suppress(KeyboardInterrupt):
    asyncio.run(main(*sys.argv[1:]))
