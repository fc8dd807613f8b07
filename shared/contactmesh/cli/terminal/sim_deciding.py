"""Deciding on what waits for a SIM: accepting, declining, accepting by itself."""

import asyncio
from dataclasses import asdict, fields
from typing import Annotated

import typer

from contactmesh.cli.errors import CommandError
from contactmesh.cli.output import AsJson, counted, print_json, print_note, print_table, print_text
from contactmesh.cli.terminal import sim_texts, space_texts, texts
from contactmesh.cli.terminal.asking import SaidYes
from contactmesh.cli.terminal.cards import seen
from contactmesh.cli.terminal.connecting import connected
from contactmesh.cli.terminal.doing import asking_before_removals, progress_of
from contactmesh.cli.terminal.field_names import field_name, said
from contactmesh.cli.terminal.place import Place, at_a_terminal
from contactmesh.cli.terminal.sim_naming import OnOrOff, SimName, find_pending, sim_here
from contactmesh.contracts.multi_sim.records import SimView
from contactmesh.terminal import AcceptingCancelled, AcceptOutcome, Terminal, TerminalError

app = typer.Typer()

Chosen = Annotated[
    list[str] | None,
    typer.Argument(metavar="CONTACT...", help=space_texts.HELP_PENDING_CONTACTS),
]
LookedAt = Annotated[
    int | None, typer.Option("--rev", metavar="N", min=0, help=space_texts.HELP_PENDING_REV)
]


@app.command(
    "accept",
    help=space_texts.HELP_ACCEPT,
    epilog=space_texts.EXAMPLES_ACCEPT,
    rich_help_panel=sim_texts.PANEL_BOOK,
)
@at_a_terminal
async def accept(
    place: Place,
    sim: SimName,
    contacts: Chosen = None,
    rev: LookedAt = None,
    yes: SaidYes = False,
    as_json: AsJson = False,
) -> None:
    """Take what waits for a SIM into the phonebook."""
    _, enrolment = place.enrolled()
    async with connected(place, asks=True) as terminal:
        found = await sim_here(terminal, sim, enrolment.region)
        uids = await _uids(terminal, found, contacts)
        done = AcceptOutcome()

        async def carry_out(removals: bool) -> None:
            nonlocal done
            try:
                with progress_of(
                    space_texts.ACCEPTING, space_texts.GOES_ON, space_texts.STOPPING
                ) as progress:
                    accepted = await terminal.accept_contacts(
                        found.sim_id, uids, pending_rev=rev, removals=removals, progress=progress
                    )
            except (TerminalError, AcceptingCancelled) as broken_off:
                if broken_off.accepted is not None:
                    done = _together(done, broken_off.accepted)
                raise
            done = _together(done, accepted)

        try:
            await asking_before_removals(
                carry_out,
                space_texts.ASK_REMOVALS_ACCEPT,
                space_texts.REMOVALS_WAIT,
                yes=yes,
            )
        except (CommandError, TerminalError, asyncio.CancelledError):
            # What was accepted is done all the same, and a value that it replaced is shown once.
            if done != AcceptOutcome():
                _tell_accepted(done, as_json)
            raise
    if done == AcceptOutcome() and not as_json:
        print_note(space_texts.NOTHING_WAITS.format(name=found.name))
    else:
        _tell_accepted(done, as_json)


@app.command(
    "decline",
    help=space_texts.HELP_DECLINE,
    epilog=space_texts.EXAMPLES_DECLINE,
    rich_help_panel=sim_texts.PANEL_BOOK,
)
@at_a_terminal
async def decline(
    place: Place,
    sim: SimName,
    contacts: Chosen = None,
    rev: LookedAt = None,
    as_json: AsJson = False,
) -> None:
    """Leave what waits for a SIM out of the phonebook."""
    _, enrolment = place.enrolled()
    async with connected(place, asks=True) as terminal:
        found = await sim_here(terminal, sim, enrolment.region)
        uids = await _uids(terminal, found, contacts)
        with progress_of(space_texts.DECLINING, space_texts.GOES_ON) as progress:
            declined = await terminal.decline_contacts(
                found.sim_id, uids, pending_rev=rev, progress=progress
            )
    if as_json:
        print_json({"sim_id": found.sim_id, "declined": declined})
    elif declined:
        print_text(space_texts.DECLINED.format(contacts=counted(declined, texts.CONTACTS)))
    else:
        print_note(space_texts.NOTHING_WAITS.format(name=found.name))


@app.command(
    "auto-accept",
    help=space_texts.HELP_AUTO_ACCEPT,
    epilog=space_texts.EXAMPLE_AUTO_ACCEPT,
    rich_help_panel=sim_texts.PANEL_BOOK,
)
@at_a_terminal
async def auto_accept(
    place: Place, sim: SimName, accepted: OnOrOff, as_json: AsJson = False
) -> None:
    """Accept what waits for a SIM by itself."""
    _, enrolment = place.enrolled()
    async with connected(place) as terminal:
        found = await sim_here(terminal, sim, enrolment.region)
        await terminal.set_auto_accept(found.sim_id, accepted.is_on)
    if as_json:
        print_json({"sim_id": found.sim_id, "auto_accept": accepted.is_on})
    else:
        print_text(space_texts.AUTO_ACCEPTS[accepted.is_on].format(name=found.name))


async def _uids(terminal: Terminal, sim: SimView, names: list[str] | None) -> list[str] | None:
    if not names:
        return None
    named = (await terminal.pending(sim.sim_id, names)).contacts
    if {each.uid for each in named} == set(names):
        return names
    waiting = (await terminal.pending(sim.sim_id)).contacts
    return [find_pending(waiting, name, sim).uid for name in names]


def _together(first: AcceptOutcome, then: AcceptOutcome) -> AcceptOutcome:
    return AcceptOutcome(
        **{
            each.name: getattr(first, each.name) + getattr(then, each.name)
            for each in fields(AcceptOutcome)
        }
    )


def _tell_accepted(done: AcceptOutcome, as_json: bool) -> None:
    if as_json:
        print_json(asdict(done))
        return
    text = space_texts.ACCEPTED.format(
        added=done.added, changed=done.changed, removed=done.removed, same=done.same
    )
    if done.kept:
        text += space_texts.ACCEPTED_KEPT.format(count=done.kept)
    print_text(text)
    if done.overwritten:
        print_note(space_texts.OVERWRITTEN)
        print_table(
            space_texts.COLUMNS_OVERWRITTEN,
            [
                (each.display_name, field_name(each.field), seen(said(each.value)))
                for each in done.overwritten
            ],
        )
