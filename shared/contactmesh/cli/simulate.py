"""`contactmesh simulate`: carriers that live a day, for those who have none at hand."""

import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from contactmesh.carriers.feeding import FeedReport, Send
from contactmesh.carriers.simulator.days import Days
from contactmesh.carriers.simulator.happenings import Happening, Kind
from contactmesh.carriers.simulator.registry import NAMES
from contactmesh.carriers.simulator.runner import feed_days
from contactmesh.cli import texts
from contactmesh.cli.errors import SystemUnreachable
from contactmesh.cli.exit_codes import ExitCode
from contactmesh.cli.locating import (
    DataFolder,
    IdentityUrl,
    OperatorAccess,
    OperatorTokenFile,
    operator_access,
)
from contactmesh.cli.operator_client import OperatorClient
from contactmesh.cli.output import AsJson, error_console, print_json, print_table, print_text
from contactmesh.cli.running import async_command
from contactmesh.cli.terminal import texts as terminal_texts
from contactmesh.cli.terminal.connecting import keep_log_quiet
from contactmesh.contracts.carrier.feed import Fed, Feed
from contactmesh.contracts.identity import AddCarrier
from contactmesh.local.settings import default_data_folder
from contactmesh.terminal import NoReply, NotEnrolled, Terminal, TerminalFolder

app = typer.Typer(help=texts.HELP_SIMULATE, no_args_is_help=True)

MOST_PEOPLE: Final = 99_999
_CARRIERS: Final = "carriers"


@app.callback()
def simulate() -> None:
    """Keep `carrier` a sub-command while it is the only one."""


@app.command("carrier", help=texts.HELP_SIMULATE_CARRIER, epilog=texts.EXAMPLES_SIMULATE_CARRIER)
@async_command
async def carrier(
    people: Annotated[int, typer.Option(help=texts.HELP_PEOPLE, min=1, max=MOST_PEOPLE)] = 100,
    seed: Annotated[int, typer.Option(help=texts.HELP_SIMULATE_SEED, min=0)] = 1,
    hours: Annotated[float, typer.Option(help=texts.HELP_HOURS, min=0.01, max=24 * 366)] = 24.0,
    speed: Annotated[float | None, typer.Option(help=texts.HELP_SPEED, min=0.1)] = None,
    as_json: AsJson = False,
    data: DataFolder = None,
    identity_url: IdentityUrl = None,
    operator_token_file: OperatorTokenFile = None,
) -> None:
    """Play days of carriers to the registry."""
    keep_log_quiet()
    days = Days(people, seed, _before_midnight(hours), hours)
    access = operator_access(data, identity_url, operator_token_file)
    folder = (data or default_data_folder()) / _CARRIERS
    report, kinds, begun = FeedReport(), Counter[Kind](), time.perf_counter()
    try:
        async with _carriers(access, folder) as send:
            with _progress() as progress:
                task = progress.add_task(texts.SIMULATING, total=days.chances)

                def played(step: list[Happening]) -> None:
                    kinds.update(happening.kind for happening in step)
                    progress.advance(task, len(step))

                await feed_days(days, send, report, speed=speed, played=played)
    except NoReply as error:
        raise SystemUnreachable(terminal_texts.NO_REPLY.format(seconds=error.seconds)) from error
    seconds = time.perf_counter() - begun
    if as_json:
        print_json(_as_json(days, kinds, report, seconds))
    else:
        _tell(days, kinds, report, seconds)
    if report.rejected:
        raise typer.Exit(ExitCode.FAILED)


def _before_midnight(hours: float) -> datetime:
    """When days begin that end at the last midnight, so that a command repeated soon repeats."""
    midnight = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight - timedelta(hours=hours)


@asynccontextmanager
async def _carriers(access: OperatorAccess, folder: Path) -> AsyncIterator[dict[str, Send]]:
    """A connected terminal of each simulated carrier; they are added and enrolled if need be."""
    async with AsyncExitStack() as running:
        client = await running.enter_async_context(OperatorClient(access))
        known = {row.carrier_id for row in await client.carriers()}
        send: dict[str, Send] = {}
        for carrier_id, name in NAMES.items():
            if carrier_id not in known:
                await client.add_carrier(AddCarrier(carrier_id=carrier_id, name=name))
            place = folder / carrier_id
            try:
                TerminalFolder(place).read()
            except NotEnrolled:
                minted = await client.mint_for_carrier(carrier_id)
                await Terminal.enrol(
                    place, identity_url=access.identity_url, code=minted.code, name="simulator"
                )
            terminal = await running.enter_async_context(Terminal(place, pull=False))
            send[carrier_id] = _sender(terminal)
        yield send


def _sender(terminal: Terminal) -> Send:
    async def send(command: Feed) -> Fed:
        answer = await terminal.request(command)
        return Fed.model_validate(answer.payload())

    return send


def _progress() -> Progress:
    screen = error_console()
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=screen,
        transient=True,
        disable=not screen.is_terminal,
    )


def _tell(days: Days, kinds: Counter[Kind], report: FeedReport, seconds: float) -> None:
    print_table(
        texts.COLUMNS_HAPPENINGS,
        [(texts.HAPPENED[kind], str(kinds[kind])) for kind in Kind if kinds[kind]],
    )
    print_text(
        texts.SIMULATED.format(
            facts=report.outcomes.total(),
            people=days.people,
            first=days.identity(1),
            last=days.identity(days.people),
            seconds=seconds,
            applied=report.outcomes["applied"],
            same=report.outcomes["same"],
            rejected=report.outcomes["rejected"],
        )
    )


def _as_json(
    days: Days, kinds: Counter[Kind], report: FeedReport, seconds: float
) -> dict[str, object]:
    return {
        "people": days.people,
        "seed": days.seed,
        "start": days.start.isoformat(),
        "hours": days.hours,
        "identities": [days.identity(1), days.identity(days.people)],
        "happenings": {kind.value: kinds[kind] for kind in Kind},
        "outcomes": {
            outcome: report.outcomes[outcome] for outcome in ("applied", "same", "rejected")
        },
        "seconds": round(seconds, 3),
    }
