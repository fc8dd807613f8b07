"""`contactmesh operator parked`: what could not be handled, for a person to decide."""

from typing import Annotated

import typer

from contactmesh.cli import texts
from contactmesh.cli.locating import DataFolder, broker_access
from contactmesh.cli.output import AsJson, local_time, print_rows
from contactmesh.cli.parking_client import PARKING_SUFFIX, ParkingClient
from contactmesh.cli.running import async_command

app = typer.Typer(help=texts.HELP_PARKED, no_args_is_help=True)


@app.command("list", help=texts.HELP_PARKED_LIST, epilog=texts.EXAMPLE_PARKED_LIST)
@async_command
async def list_parked(
    queue: Annotated[str | None, typer.Option("--queue", help=texts.HELP_QUEUE)] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help=texts.HELP_LIMIT)] = 100,
    as_json: AsJson = False,
    data: DataFolder = None,
) -> None:
    """List what is parked, with the reasons."""
    access = broker_access(data)
    async with ParkingClient(access.management_url, access.vhost) as client:
        queues = [queue.removesuffix(PARKING_SUFFIX)] if queue else await client.queues()
        messages = [message for name in queues for message in await client.parked(name, limit)]
    print_rows(
        messages,
        texts.COLUMNS_PARKED,
        lambda message: (
            message.queue,
            local_time(message.parked_at) if message.parked_at else "",
            message.routing_key or "",
            message.message_id or "",
            message.reason,
        ),
        none=texts.NOTHING_PARKED,
        as_json=as_json,
    )
