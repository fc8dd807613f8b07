"""An integrator in ten lines: every contact change of the scopes that it was granted."""

import asyncio
import json
import sys
from contextlib import suppress
from pathlib import Path

import aio_pika

from contactmesh.contracts.envelope import Envelope


async def main(amqp_url: str, queue_name: str) -> None:
    connection = await aio_pika.connect(amqp_url)
    channel = await connection.channel()
    queue = await channel.get_queue(queue_name, ensure=False)
    async with queue.iterator() as messages:
        async for message in messages:
            for event in Envelope.decode_all(message.body):
                print(event.type, event.subject, *event.data["changed_fields"], flush=True)
            await message.ack()


with suppress(KeyboardInterrupt):
    granted = json.loads(Path(sys.argv[1]).read_text())
    asyncio.run(main(granted["amqp_url"], granted["queue"]))
