"""Syncing the address book, by hand and by itself."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated, Final

import typer
from pydantic import JsonValue

from contactmesh.cli.errors import SystemUnreachable, WrongUsage
from contactmesh.cli.exit_codes import ExitCode
from contactmesh.cli.output import AsJson, counted, print_json, print_note, print_table, print_text
from contactmesh.cli.terminal import sync_texts, texts
from contactmesh.cli.terminal.connecting import connected, phonebook_of
from contactmesh.cli.terminal.doing import asking_before_removals, progress_of
from contactmesh.cli.terminal.naming import short_contact_id
from contactmesh.cli.terminal.place import Place, at_a_terminal
from contactmesh.cli.terminal.suggesting import suggested
from contactmesh.cli.terminal.sync_telling import tell_failing, told_schedule
from contactmesh.cli.terminal.times import read_clock, read_interval, told_clock
from contactmesh.terminal import Arrival, Arrived, Rejected, Schedule, SyncOutcome

app = typer.Typer()

_MOST_NAMED: Final = 5
"""Up to how many contacts that were received are named."""


@app.command(
    "sync",
    help=sync_texts.HELP_SYNC,
    epilog=sync_texts.EXAMPLES_SYNC,
    rich_help_panel=sync_texts.PANEL_SYNC,
)
@at_a_terminal
async def sync(
    place: Place,
    every: Annotated[
        str | None, typer.Option("--every", metavar="INTERVAL", help=sync_texts.HELP_SYNC_EVERY)
    ] = None,
    at: Annotated[
        str | None, typer.Option("--at", metavar="HH:MM", help=sync_texts.HELP_SYNC_AT)
    ] = None,
    off: Annotated[bool, typer.Option("--off", help=sync_texts.HELP_SYNC_OFF)] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help=sync_texts.HELP_SYNC_YES)] = False,
    as_json: AsJson = False,
) -> None:
    """Sync the address book."""
    chosen = _schedule(every, at, off)
    async with _failures_kept(place), connected(place, asks=not off) as terminal:
        if chosen is not None:
            await terminal.set_sync_schedule(every=chosen.every, at=chosen.at)
            print_note(told_schedule(chosen))

        async def carry_out(removals: bool) -> SyncOutcome:
            with progress_of(sync_texts.SYNCING, sync_texts.SYNC_GOES_ON) as progress:
                return await terminal.sync(removals=removals, progress=progress)

        outcome = None
        if not off:
            outcome = await asking_before_removals(
                carry_out, sync_texts.ASK_REMOVALS_SYNC, sync_texts.NOT_SYNCED, yes=yes
            )
        schedule = (await terminal.phonebook.sync_state()).schedule
    if as_json:
        print_json(_json(outcome, schedule))
    elif outcome is not None:
        _show(outcome)
    if outcome is not None and outcome.rejected:
        raise typer.Exit(ExitCode.FAILED)


@asynccontextmanager
async def _failures_kept(place: Place) -> AsyncIterator[None]:
    """Say since when syncing fails, and keep it if the system cannot even be reached."""
    async with phonebook_of(place) as phonebook:
        await tell_failing(phonebook)
        try:
            yield
        except SystemUnreachable as error:
            await phonebook.sync_failed(datetime.now(UTC), str(error))
            raise


def _schedule(every: str | None, at: str | None, off: bool) -> Schedule | None:
    """What the options choose, none if they choose nothing."""
    if sum((every is not None, at is not None, off)) > 1:
        raise WrongUsage(sync_texts.ONE_SCHEDULE)
    if every is not None:
        return Schedule(every=read_interval(every))
    if at is not None:
        return Schedule(at=read_clock(at))
    return Schedule() if off else None


def _json(outcome: SyncOutcome | None, schedule: Schedule) -> dict[str, JsonValue]:
    at = None if schedule.at is None else told_clock(schedule.at)
    done = {} if outcome is None else asdict(outcome)
    return {**done, "schedule": {"every_seconds": schedule.every, "at": at}}


def _show(outcome: SyncOutcome) -> None:
    text = sync_texts.SYNCED.format(sent=outcome.sent, received=outcome.received)
    deleted = sum(one.change is Arrival.DELETED for one in outcome.arrived)
    for count, more in (
        (deleted, sync_texts.SYNCED_DELETED),
        (outcome.merged, sync_texts.SYNCED_MERGED),
        (outcome.conflicts, sync_texts.SYNCED_CONFLICTS),
        (len(outcome.rejected), sync_texts.SYNCED_REJECTED),
    ):
        if count:
            text += more.format(count=count, contacts=counted(count, texts.CONTACTS))
    if outcome.sent or outcome.received or outcome.rejected:
        print_text(text)
        _name_arrived(outcome.arrived)
    else:
        print_note(sync_texts.SYNCED_NOTHING)
    if outcome.full and not outcome.received:
        print_note(sync_texts.SYNCED_FULL)
    if outcome.rejected:
        print_table(
            sync_texts.COLUMNS_REJECTED, [(_name(one), one.problem) for one in outcome.rejected]
        )
        print_note(sync_texts.CHANGE_THEM)
    if outcome.conflicts:
        print_note(suggested(sync_texts.CONFLICTS_NEXT))


def _name_arrived(arrived: Sequence[Arrived]) -> None:
    """Name what was received, if it is little."""
    if len(arrived) <= _MOST_NAMED:
        for one in arrived:
            print_text(sync_texts.ARRIVED[one.change].format(name=one.display_name))


def _name(rejected: Rejected) -> str:
    deleted = sync_texts.A_DELETED_CONTACT.format(uid=short_contact_id(rejected.uid))
    return rejected.display_name or deleted
