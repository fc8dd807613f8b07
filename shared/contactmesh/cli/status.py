"""`contactmesh status`: what runs, and whether it is ready."""

import asyncio
from typing import Annotated

import aiohttp
import typer
from pydantic import BaseModel
from tenacity import AsyncRetrying, retry_if_result, stop_after_delay, wait_fixed

from contactmesh.cli import texts
from contactmesh.cli.exit_codes import ExitCode
from contactmesh.cli.locating import DataFolder
from contactmesh.cli.output import AsJson, print_json, print_table
from contactmesh.cli.running import async_command
from contactmesh.local.errors import NoStackRunsError
from contactmesh.local.settings import default_data_folder
from contactmesh.local.stack_info import ServiceProcess, find_stack

app = typer.Typer()

PROBE_SECONDS = 2.0


class ServiceStatus(BaseModel):
    """One copy of a service, and what its readiness probe says."""

    name: str
    copy_number: int
    pid: int | None
    http_port: int
    state: str

    @property
    def ready(self) -> bool:
        """Whether it takes work."""
        return self.state == texts.STATE_READY


@app.command("status", help=texts.HELP_STATUS, epilog=texts.EXAMPLE_STATUS)
@async_command
async def status(
    wait: Annotated[float, typer.Option("--wait", min=0, help=texts.HELP_STATUS_WAIT)] = 0,
    as_json: AsJson = False,
    data: DataFolder = None,
) -> None:
    """Show every service of the running system and whether it is ready."""
    folder = data or default_data_folder()
    asking = AsyncRetrying(
        retry=retry_if_result(lambda rows: not rows or not all(row.ready for row in rows)),
        stop=stop_after_delay(wait),
        wait=wait_fixed(0.2),
        retry_error_callback=lambda state: state.outcome.result() if state.outcome else [],
    )

    async def ask() -> list[ServiceStatus]:
        try:
            services = find_stack(folder).services
        except NoStackRunsError:
            if wait == 0:
                raise
            return []
        async with aiohttp.ClientSession() as session:
            return await asyncio.gather(*(_probe(session, service) for service in services))

    rows: list[ServiceStatus] = await asking(ask)
    if not rows:
        find_stack(folder)
    if as_json:
        print_json(rows)
    else:
        print_table(
            texts.COLUMNS_STATUS,
            [
                (
                    f"{row.name}#{row.copy_number}",
                    row.state,
                    str(row.pid or "-"),
                    str(row.http_port),
                )
                for row in rows
            ],
        )
    if not all(row.ready for row in rows):
        raise typer.Exit(ExitCode.FAILED)


def _row(row: ServiceStatus) -> tuple[str, str, str, str]:
    return f"{row.name}#{row.copy_number}", row.state, str(row.pid or "-"), str(row.http_port)


async def _probe(session: aiohttp.ClientSession, service: ServiceProcess) -> ServiceStatus:
    url = f"http://127.0.0.1:{service.http_port}/readyz"
    timeout = aiohttp.ClientTimeout(total=PROBE_SECONDS)
    try:
        async with session.get(url, timeout=timeout) as answer:
            text = (await answer.text()).strip()
            state = texts.STATE_READY if answer.status == 200 else text
    except (aiohttp.ClientError, TimeoutError):
        state = texts.STATE_SILENT
    return ServiceStatus(
        name=service.name,
        copy_number=service.copy_number,
        pid=service.pid,
        http_port=service.http_port,
        state=state,
    )
