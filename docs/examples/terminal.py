"""A terminal in ten lines: publish one's own card, then print what others change."""

import asyncio
import sys
from contextlib import suppress

from contactmesh.contacts import Card
from contactmesh.terminal import ContactUpdated, Terminal


async def main(identity_url: str, code: str, folder: str) -> None:
    card = Card.model_validate(
        {"name": {"full": "张伟"}, "phones": {"m": {"number": "+8613800138000"}}}
    )
    enrolled = await Terminal.enrol(folder, identity_url=identity_url, code=code, name="my bot")
    async with enrolled as terminal:
        await terminal.create_group("家人", members=["bob"])
        await terminal.publish(card)
        async for update in terminal.updates():
            if isinstance(update, ContactUpdated):
                print(update.display_name, *update.changed_fields, flush=True)


with suppress(KeyboardInterrupt):
    asyncio.run(main(*sys.argv[1:]))
