"""Receiving what others change: once, or for as long as the command runs."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from datetime import UTC, datetime
from typing import Annotated, Final

import typer
from pydantic import JsonValue

from contactmesh.cli.output import AsJson, print_json, print_note, print_text
from contactmesh.cli.terminal import texts
from contactmesh.cli.terminal.connecting import connected, phonebook_of
from contactmesh.cli.terminal.naming import group_named
from contactmesh.cli.terminal.place import Place, at_a_terminal
from contactmesh.cli.terminal.sim_telling import KnownSims
from contactmesh.cli.terminal.sync_telling import telling_failing
from contactmesh.cli.terminal.telling import Teller, merged
from contactmesh.terminal import (
    CommandRefused,
    LargeRemovalWaiting,
    NoReply,
    SimContactsWaiting,
    Terminal,
    Update,
)
from contactmesh.terminal.pulling import REFUSED, Refused

app = typer.Typer()

_MOST_UPDATES: Final = 100_000


@app.command(
    "pull",
    help=texts.HELP_PULL,
    epilog=texts.EXAMPLES_PULL,
    rich_help_panel=texts.PANEL_TERMINAL,
)
@at_a_terminal
async def pull(
    place: Place,
    group: Annotated[
        str | None, typer.Option("--group", metavar="GROUP", help=texts.HELP_PULL_GROUP)
    ] = None,
    every: Annotated[
        int | None,
        typer.Option("--every", metavar="SECONDS", min=10, max=604_800, help=texts.HELP_EVERY),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Ask now for what changed."""
    async with _telling(place) as teller:
        async with connected(place) as terminal:
            stream = terminal.updates(buffer=_MOST_UPDATES)
            if every is not None:
                await terminal.set_pull_interval(every)
            found = None if group is None else await group_named(terminal, group)
            refused: Refused | None = None
            try:
                await terminal.pull(None if found is None else found.group_id)
            except REFUSED as error:  # of one group; what came of the others is told first
                refused = error
        # What was pushed meanwhile is told too; the stream has ended with the terminal.
        updates = [update async for update in stream]
        told = [await teller.told(update, datetime.now(UTC)) for update in merged(updates)]
    if as_json:
        changes: list[JsonValue] = [data for line, data in told if line is not None]
        print_json(changes)
    else:
        _print_pulled([line for line, _ in told if line is not None], every, whole=refused is None)
    if refused is not None:
        raise refused


@app.command(
    "watch",
    help=texts.HELP_WATCH,
    epilog=texts.EXAMPLES_WATCH,
    rich_help_panel=texts.PANEL_TERMINAL,
)
@at_a_terminal
async def watch(place: Place, as_json: AsJson = False) -> None:
    """Show what others change, as it arrives."""
    with _ended_by_signal():
        async with (
            _telling(place, watching=True) as teller,
            connected(place, pull=True) as terminal,
        ):
            print_note(texts.WATCHING.format(terminal_id=terminal.terminal_id))
            async with telling_failing(terminal.phonebook):
                await _follow(terminal, teller, as_json=as_json)


def _print_pulled(lines: Sequence[str], every: int | None, *, whole: bool) -> None:
    for line in lines:
        print_text(line)
    if every is not None:
        print_note(texts.INTERVAL_SET.format(seconds=every))
    if whole and not lines:
        print_note(texts.UP_TO_DATE)


@asynccontextmanager
async def _telling(place: Place, *, watching: bool = False) -> AsyncIterator[Teller]:
    """What tells updates; it knows what was shown before the terminal connected."""
    async with phonebook_of(place) as phonebook:
        teller = Teller(phonebook, watching=watching)
        await teller.begin()
        yield teller


async def _follow(terminal: Terminal, teller: Teller, *, as_json: bool) -> None:
    dropped = 0
    stream = terminal.updates(buffer=_MOST_UPDATES)
    async for update in stream:
        if _is_of_unknown_sim(update, teller.sims):
            with suppress(CommandRefused, NoReply):  # told without their names then
                teller.sims = await _known_sims(terminal)
        line, data = await teller.told(update, datetime.now(UTC))
        if as_json:
            print_json(data)
        elif line is not None:
            print_text(line)
        sys.stdout.flush()
        if stream.dropped > dropped:
            dropped = stream.dropped
            print_note(texts.DROPPED.format(count=dropped))


def _is_of_unknown_sim(update: Update, known: KnownSims) -> bool:
    return (
        isinstance(update, SimContactsWaiting | LargeRemovalWaiting)
        and update.sim_id not in known.names
    )


async def _known_sims(terminal: Terminal) -> KnownSims:
    return KnownSims.of((await terminal.accounts()).accounts, await terminal.auto_accepts())


@contextmanager
def _ended_by_signal() -> Iterator[None]:
    """Let Ctrl-C and SIGTERM end what is inside, cleanly."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    interrupted = False

    def interrupt() -> None:
        nonlocal interrupted
        interrupted = True
        if task is not None:
            task.cancel()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, interrupt)
    try:
        yield
    except asyncio.CancelledError:
        if not interrupted or task is None:
            raise
        task.uncancel()
