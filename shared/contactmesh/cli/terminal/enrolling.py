"""A terminal's beginning, and how it is now."""

import contextlib
import re
import socket
import time
from datetime import datetime
from typing import Annotated, Final

import typer
from phonenumbers import SUPPORTED_REGIONS
from pydantic import BaseModel

from contactmesh.cli.errors import SystemUnreachable, WrongUsage
from contactmesh.cli.exit_codes import ExitCode
from contactmesh.cli.locating import IdentityUrl, identity_url
from contactmesh.cli.output import AsJson, counted, print_json, print_note, print_pairs, print_text
from contactmesh.cli.terminal import sync_texts, texts
from contactmesh.cli.terminal.connecting import connected, keep_log_quiet, phonebook_of
from contactmesh.cli.terminal.place import Place, at_a_terminal
from contactmesh.cli.terminal.suggesting import suggested
from contactmesh.cli.terminal.sync_telling import told_state
from contactmesh.contracts.identity import Transport
from contactmesh.terminal import (
    AlreadyEnrolled,
    AuthenticationRefused,
    CommandRefused,
    NotEnrolled,
    SyncState,
    Terminal,
    TerminalError,
    TerminalInUse,
)

app = typer.Typer()

_PATIENCE_SECONDS: Final = 8.0
_FOR_A_HINT_SECONDS: Final = 3.0


class Shown(BaseModel):
    """What `show` tells.

    Attributes:
        connection: `works`, or why it does not: `in use`, `refused`, `unreachable`.
        round_trip_ms: how long a question to group_service and its answer took.
        last_sync_at: when the address book was synced, none if it never was.
    """

    user_id: str
    display_name: str
    terminal_id: str
    queue: str
    folder: str
    identity_url: str
    transport: Transport
    broker_url: str
    mqtt_url: str | None
    region: str | None
    contacts: int
    groups: int
    pull_interval_seconds: int
    connection: str
    round_trip_ms: int | None = None
    last_sync_at: datetime | None = None


@app.command(
    "enrol",
    help=texts.HELP_ENROL,
    epilog=texts.EXAMPLE_ENROL,
    rich_help_panel=texts.PANEL_TERMINAL,
)
@at_a_terminal
async def enrol(
    place: Place,
    code: Annotated[str, typer.Argument(help=texts.HELP_CODE)],
    name: Annotated[str | None, typer.Option("--name", help=texts.HELP_TERMINAL_NAME)] = None,
    region: Annotated[
        str | None, typer.Option("--region", metavar="COUNTRY", help=texts.HELP_REGION)
    ] = None,
    transport: Annotated[
        Transport,
        typer.Option("--transport", envvar="CONTACTMESH_TRANSPORT", help=texts.HELP_TRANSPORT),
    ] = Transport.AMQP,
    url: IdentityUrl = None,
    as_json: AsJson = False,
) -> None:
    """Enrol a new terminal."""
    keep_log_quiet()
    country = _country(region)
    folder = place.for_enrolling()
    _refuse_if_taken(place)
    terminal = await Terminal.enrol(
        folder.path,
        identity_url=identity_url(url, place.data),
        code=code.strip(),
        name=name or place.name or socket.gethostname(),
        region=country,
        transport=transport,
    )
    if as_json:
        print_json(
            {
                "user_id": terminal.user_id,
                "terminal_id": terminal.terminal_id,
                "folder": str(folder.path),
            }
        )
        return
    enrolment = folder.read()
    print_text(
        texts.ENROLLED.format(
            name=enrolment.credentials.display_name,
            user_id=terminal.user_id,
            terminal_id=terminal.terminal_id,
        )
    )
    print_note(await _next(place))


async def _next(place: Place) -> str:
    """What to do first: whoever imports what their address book has gets it twice."""
    try:
        async with connected(place, deadline_seconds=_FOR_A_HINT_SECONDS) as terminal:
            entries = sum(book.entries for book in (await terminal.books()).books)
    except (TerminalError, SystemUnreachable):  # no hint is worth failing for
        entries = 0
    if entries == 0:
        return suggested(texts.ENROLLED_NEXT)
    return suggested(texts.ENROLLED_SYNC, contacts=counted(entries, texts.CONTACTS))


async def show_terminal(place: Place, *, as_json: bool) -> None:
    """Show who the terminal is and whether its connection works."""
    folder, enrolment = place.enrolled()
    async with phonebook_of(place) as phonebook:
        contacts = len(await phonebook.contacts())
        groups = len(await phonebook.groups())
        interval = await phonebook.pull_interval()
        sync = await phonebook.sync_state()
    connection, milliseconds = await _connection(place)
    who = enrolment.credentials
    shown = Shown(
        **who.model_dump(exclude={"secret"}),
        folder=str(folder.path),
        identity_url=enrolment.identity_url,
        transport=enrolment.transport,
        region=enrolment.region,
        contacts=contacts,
        groups=groups,
        pull_interval_seconds=interval,
        connection=connection,
        round_trip_ms=milliseconds,
        last_sync_at=sync.last_sync_at,
    )
    if as_json:
        print_json(shown)
    else:
        _show(shown, sync)
    if connection == texts.UNREACHABLE:
        raise typer.Exit(ExitCode.UNREACHABLE)
    if connection == texts.REFUSED:
        raise typer.Exit(ExitCode.FAILED)


async def _connection(place: Place) -> tuple[str, int | None]:
    try:
        async with connected(place, deadline_seconds=_PATIENCE_SECONDS) as terminal:
            begun = time.perf_counter()
            # Also an answer that refuses, as to a carrier's terminal, has been there and back.
            with contextlib.suppress(CommandRefused):
                await terminal.groups()
            return texts.WORKS, round((time.perf_counter() - begun) * 1000)
    except TerminalInUse:
        return texts.IN_USE, None
    except AuthenticationRefused:
        return texts.REFUSED, None
    except SystemUnreachable:
        return texts.UNREACHABLE, None


def _show(shown: Shown, sync: SyncState) -> None:
    connection = texts.CONNECTIONS.get(shown.connection, shown.connection)
    if shown.round_trip_ms is not None:
        connection = texts.ROUND_TRIP.format(state=connection, milliseconds=shown.round_trip_ms)
    rows = [
        (texts.SHOW_USER, f"{shown.display_name} ({shown.user_id})"),
        (texts.SHOW_TERMINAL, shown.terminal_id),
        (texts.SHOW_CONNECTION, connection),
        (texts.SHOW_QUEUE, shown.queue),
        (texts.SHOW_BROKER, _broker(shown)),
        (texts.SHOW_IDENTITY, shown.identity_url),
        (texts.SHOW_FOLDER, shown.folder),
        (texts.SHOW_REGION, shown.region or texts.NO_REGION),
        (texts.SHOW_PHONEBOOK, _counts(shown)),
        (texts.SHOW_INTERVAL, texts.EVERY.format(seconds=shown.pull_interval_seconds)),
        (sync_texts.SHOW_SYNC, told_state(sync)),
    ]
    print_pairs(rows)


def _broker(shown: Shown) -> str:
    return (shown.mqtt_url or "") if shown.transport is Transport.MQTT else shown.broker_url


def _counts(shown: Shown) -> str:
    contacts = counted(shown.contacts, texts.CONTACTS)
    return f"{contacts}, {counted(shown.groups, texts.GROUPS)}"


def _refuse_if_taken(place: Place) -> None:
    folder = place.for_enrolling()
    try:
        known = folder.read()
    except NotEnrolled:
        return
    raise AlreadyEnrolled(
        texts.ALREADY_ENROLLED.format(folder=folder.path, terminal=known.credentials.terminal_id)
    )


def _country(region: str | None) -> str | None:
    if region is None:
        return None
    country = region.strip().upper()
    if not re.fullmatch("[A-Z]{2}", country) or country not in SUPPORTED_REGIONS:
        raise WrongUsage(texts.BAD_REGION.format(region=region))
    return country
