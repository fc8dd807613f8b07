"""What a SIM's account holds: storing there, and having it laid ready for the SIM."""

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from shlex import quote
from typing import Annotated, Final

import typer
from rich.status import Status

from contactmesh.cli.exit_codes import ExitCode
from contactmesh.cli.output import (
    AsJson,
    counted,
    error_console,
    print_json,
    print_note,
    print_text,
)
from contactmesh.cli.terminal import sim_texts, space_texts, texts
from contactmesh.cli.terminal.asking import SaidYes
from contactmesh.cli.terminal.connecting import connected
from contactmesh.cli.terminal.doing import asking_before_removals, progress_of
from contactmesh.cli.terminal.naming import contact_named
from contactmesh.cli.terminal.place import Place, at_a_terminal
from contactmesh.cli.terminal.sim_naming import SimName, find_account, sim_here
from contactmesh.cli.terminal.sim_telling import told_waiting
from contactmesh.cli.terminal.suggesting import suggested
from contactmesh.contracts.multi_sim.records import AccountView, SimView, SpaceKind
from contactmesh.terminal import (
    SimContactsWaiting,
    StoreOutcome,
    Terminal,
    Update,
    UpdateStream,
)

app = typer.Typer()

_MOST_UPDATES: Final = 100_000
_LOOK_AGAIN: Final = 5.0
"""Seconds without a word after which to look whether the SIM is here still."""


@app.command(
    "store",
    help=space_texts.HELP_STORE,
    epilog=space_texts.EXAMPLES_STORE,
    rich_help_panel=sim_texts.PANEL_BOOK,
)
@at_a_terminal
async def store(
    place: Place,
    sim: SimName,
    contacts: Annotated[
        list[str] | None,
        typer.Argument(metavar="CONTACT...", help=space_texts.HELP_STORED_CONTACTS),
    ] = None,
    private: Annotated[
        bool, typer.Option("--private/--shared", help=space_texts.HELP_PRIVATE)
    ] = False,
    yes: SaidYes = False,
    as_json: AsJson = False,
) -> None:
    """Store the phonebook in a SIM's account."""
    _, enrolment = place.enrolled()
    space = SpaceKind.PRIVATE if private else SpaceKind.SHARED
    async with connected(place, asks=True) as terminal:
        found = await sim_here(terminal, sim, enrolment.region)
        ids = await _ids(terminal, contacts)

        async def carry_out(removals: bool) -> StoreOutcome:
            with progress_of(space_texts.STORING, space_texts.GOES_ON) as progress:
                return await terminal.store(
                    found.sim_id, space, ids, removals=removals, progress=progress
                )

        stored = await asking_before_removals(
            carry_out, space_texts.ASK_REMOVALS_STORE, texts.NOTHING_DONE, yes=yes
        )
    if as_json:
        print_json(asdict(stored))
    else:
        _show(stored, private=private)
        if stored.waiting:
            print_note(suggested(space_texts.DECIDE_FIRST, sim=quote(found.name)))
    if stored.too_large or stored.unfit_uid:
        raise typer.Exit(ExitCode.FAILED)


@app.command(
    "update",
    help=space_texts.HELP_UPDATE,
    epilog=space_texts.EXAMPLES_UPDATE,
    rich_help_panel=sim_texts.PANEL_BOOK,
)
@at_a_terminal
async def update(
    place: Place,
    sim: SimName,
    from_carrier: Annotated[
        str | None, typer.Option("--from", metavar="CARRIER", help=space_texts.HELP_FROM)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Ask for what an account holds."""
    _, enrolment = place.enrolled()
    async with connected(place, asks=True) as terminal:
        found = await sim_here(terminal, sim, enrolment.region)
        accounts, source = (await terminal.accounts()).accounts, None
        if from_carrier is not None:
            source = find_account(accounts, from_carrier).carrier_id
        with _status() as status:
            stream = terminal.updates(buffer=_MOST_UPDATES)
            await terminal.request_update(found.sim_id, source)
            waiting = await laid_ready(
                terminal, found, stream, status, _held(accounts, found, source)
            )
    if as_json:
        print_json({"sim_id": found.sim_id, "waiting": waiting})
    elif not waiting:
        print_text(space_texts.NOTHING_WAITS.format(name=found.name))
    else:
        print_text(told_waiting(found.model_copy(update={"waiting": waiting})))
        print_note(suggested(space_texts.DECIDE_NEXT, sim=quote(found.name)))


async def _ids(terminal: Terminal, names: list[str] | None) -> list[str] | None:
    if not names:
        return None
    return [(await contact_named(terminal.phonebook, name)).contact_id for name in names]


@contextmanager
def _status() -> Iterator[Status]:
    screen = error_console()
    status = Status(texts.WAITING, console=screen)
    with status if screen.is_terminal else nullcontext():
        yield status


async def moved_here(terminal: Terminal, sim: SimView) -> int:
    """Say that a SIM is in this terminal, and how many contacts wait for it there.

    What this terminal has not got yet is laid ready from then on.
    """
    with _status() as status:
        stream = terminal.updates(buffer=_MOST_UPDATES)
        await terminal.move_sim(sim.sim_id)
        moved = await sim_here(terminal, sim.sim_id, None)
        if not moved.filling:
            return moved.waiting
        return await laid_ready(terminal, moved, stream, status)


def _held(accounts: Iterable[AccountView], sim: SimView, source: str | None) -> int:
    """How many contacts the account holds of which those laid ready are part."""
    asked = (
        each
        for each in accounts
        if each.carrier_id == source or (source is None and sim in each.sims)
    )
    return sum(each.shared.contacts + each.private.contacts for each in asked)


async def laid_ready(
    terminal: Terminal, sim: SimView, stream: UpdateStream, status: Status, held: int = 0
) -> int:
    """How many contacts wait once all that was asked for is laid ready.

    Args:
        terminal: where the SIM is.
        sim: for which SIM.
        stream: what the terminal is told since before it was asked for.
        status: shows how far it is.
        held: how many contacts there are at most to be laid ready, if that is known.

    Raises:
        NoSuchThing: the SIM was removed meanwhile.
        CommandError: it is in another terminal now, which is told instead of this one.
    """
    try:
        while True:
            told = await _next(stream)
            if told is not None:
                if not isinstance(told, SimContactsWaiting) or told.sim_id != sim.sim_id:
                    continue
                text = (
                    space_texts.LAYING_READY_OF
                    if told.waiting <= held
                    else space_texts.LAYING_READY
                )
                so_far = counted(told.waiting, texts.CONTACTS)
                status.update(text.format(contacts=so_far, held=held))
                if told.filling:
                    continue
            # What was on its way before the update was asked for says nothing of it.
            now = await sim_here(terminal, sim.sim_id, None)
            if not now.filling:
                return now.waiting
    except asyncio.CancelledError:
        print_note(suggested(space_texts.GOES_ON_THERE, sim=quote(sim.name)))
        raise


async def _next(stream: UpdateStream) -> Update | None:
    """What is told next; nothing if it takes long, or if nothing more will be."""
    try:
        async with asyncio.timeout(_LOOK_AGAIN):
            return await anext(stream, None)
    except TimeoutError:
        return None


def _show(stored: StoreOutcome, *, private: bool) -> None:
    text = space_texts.STORED.format(
        written=stored.written, removed=stored.removed, same=stored.same
    )
    for count, more in (
        (stored.moved, space_texts.STORED_MOVED[private]),
        (stored.private, space_texts.STORED_PRIVATE),
        (stored.left_out, space_texts.STORED_NOT_OWN),
        (stored.waiting, space_texts.STORED_WAITING),
    ):
        if count:
            text += more.format(count=count)
    print_text(text)
    if stored.too_large:
        print_note(space_texts.TOO_LARGE.format(names=", ".join(stored.too_large)))
    if stored.unfit_uid:
        print_note(space_texts.UNFIT_UID.format(names=", ".join(stored.unfit_uid)))
