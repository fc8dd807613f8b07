"""The accounts that SIM cards make: what is in them, what they say, and what comes to them."""

from collections.abc import Mapping
from dataclasses import dataclass
from shlex import quote
from typing import Annotated

import typer
from pydantic import JsonValue, ValidationError

from contactmesh.cli.errors import WrongUsage
from contactmesh.cli.output import AsJson, print_json, print_note, print_table, print_text
from contactmesh.cli.terminal import sim_texts
from contactmesh.cli.terminal.connecting import connected
from contactmesh.cli.terminal.place import Place, at_a_terminal
from contactmesh.cli.terminal.sim_naming import CarrierName, OnOrOff, find_account
from contactmesh.cli.terminal.suggesting import suggested
from contactmesh.contracts.multi_sim.commands import AccountList
from contactmesh.contracts.multi_sim.records import AccountView, SimView, UserInformation

app = typer.Typer()


@app.command(
    "list",
    help=sim_texts.HELP_LIST,
    epilog=sim_texts.EXAMPLE_LIST,
    rich_help_panel=sim_texts.PANEL_CARDS,
)
@at_a_terminal
async def list_sims(place: Place, as_json: AsJson = False) -> None:
    """List accounts and SIMs."""
    async with connected(place) as terminal:
        listing = _Listing(
            await terminal.accounts(),
            terminal.terminal_id,
            await terminal.auto_accepts(),
            place.names,
        )
    if as_json:
        print_json(listing.for_scripts())
    elif listing.known.accounts:
        listing.show()
    else:
        print_note(suggested(sim_texts.NO_SIMS))


@app.command(
    "info",
    help=sim_texts.HELP_INFO,
    epilog=sim_texts.EXAMPLES_INFO,
    rich_help_panel=sim_texts.PANEL_CARDS,
)
@at_a_terminal
async def info(
    place: Place,
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help=sim_texts.HELP_INFO_NAME)
    ] = None,
    note: Annotated[str | None, typer.Option("--note", help=sim_texts.HELP_INFO_NOTE)] = None,
    as_json: AsJson = False,
) -> None:
    """Show or set what all accounts say of their user."""
    async with connected(place) as terminal:
        said = (await terminal.accounts()).information
        if name is not None or note is not None:
            said = _information(said, name, note)
            await terminal.set_information(said)
    if as_json:
        print_json({} if said is None else said)
    else:
        _show_information(said)


@app.command(
    "consent",
    help=sim_texts.HELP_CONSENT,
    epilog=sim_texts.EXAMPLE_CONSENT,
    rich_help_panel=sim_texts.PANEL_CARDS,
)
@at_a_terminal
async def consent(
    place: Place, carrier: CarrierName, agreed: OnOrOff, as_json: AsJson = False
) -> None:
    """Agree that contacts of other carriers come to this one."""
    async with connected(place) as terminal:
        account = find_account((await terminal.accounts()).accounts, carrier)
        await terminal.set_consent(account.carrier_id, agreed.is_on)
    if as_json:
        print_json({"carrier_id": account.carrier_id, "consent": agreed.is_on})
    else:
        print_text(sim_texts.CONSENTED[agreed.is_on].format(carrier=account.carrier_id))


@app.command(
    "follow-book",
    help=sim_texts.HELP_FOLLOW,
    epilog=sim_texts.EXAMPLE_FOLLOW,
    rich_help_panel=sim_texts.PANEL_CARDS,
)
@at_a_terminal
async def follow_book(
    place: Place, carrier: CarrierName, followed: OnOrOff, as_json: AsJson = False
) -> None:
    """Let an account's shared contacts follow the address book."""
    async with connected(place) as terminal:
        account = find_account((await terminal.accounts()).accounts, carrier)
        await terminal.follow_book(account.carrier_id, followed.is_on)
    if as_json:
        print_json({"carrier_id": account.carrier_id, "follows_book": followed.is_on})
    else:
        print_text(sim_texts.FOLLOWED[followed.is_on].format(carrier=account.carrier_id))


@dataclass(frozen=True, slots=True)
class _Listing:
    """The accounts, as this terminal sees them.

    Attributes:
        known: the accounts.
        terminal_id: which terminal it is.
        by_itself: the SIMs for which it accepts by itself.
        names: what the terminals of this machine are called, by their ids.
    """

    known: AccountList
    terminal_id: str
    by_itself: frozenset[str]
    names: Mapping[str, str]

    def show(self) -> None:
        """Show them to people: the accounts, the SIMs, and what to do about those that wait."""
        _show_information(self.known.information)
        print_text("")
        print_table(sim_texts.COLUMNS_ACCOUNTS, map(_account_row, self.known.accounts))
        sims = [(account, sim) for account in self.known.accounts for sim in account.sims]
        if not sims:
            print_note(suggested(sim_texts.NO_SIMS))
            return
        print_text("")
        print_table(sim_texts.COLUMNS_SIMS, [self._row(*each) for each in sims])
        for _, sim in sims:
            if self._has(sim) and sim.waiting:
                print_note(suggested(sim_texts.WAITS_HERE, sim=quote(sim.name)))

    def for_scripts(self) -> JsonValue:
        """The same for scripts."""
        accounts: list[JsonValue] = [
            {**account.payload(), "sims": [self._sim_json(sim) for sim in account.sims]}
            for account in self.known.accounts
        ]
        return {**self.known.payload(), "accounts": accounts}

    def _has(self, sim: SimView) -> bool:
        return sim.terminal_id == self.terminal_id

    def _where(self, sim: SimView) -> str:
        if self._has(sim):
            return sim_texts.HERE
        return self.names.get(sim.terminal_id, sim.terminal_id)

    def _accepts(self, sim: SimView) -> bool:
        return self._has(sim) and sim.sim_id in self.by_itself

    def _sim_json(self, sim: SimView) -> JsonValue:
        return {**sim.payload(), "here": self._has(sim), "auto_accept": self._accepts(sim)}

    def _row(self, account: AccountView, sim: SimView) -> tuple[str, ...]:
        waiting = str(sim.waiting)
        if sim.filling:
            waiting = sim_texts.FILLING.format(count=waiting)
        if self._accepts(sim):
            waiting = sim_texts.BY_ITSELF.format(waiting=waiting)
        return (
            sim.name,
            account.carrier_id,
            sim.msisdn or "",
            sim.iccid,
            self._where(sim),
            waiting,
        )


def _account_row(account: AccountView) -> tuple[str, ...]:
    return (
        account.carrier_id,
        account.identification_code,
        str(account.shared.contacts),
        str(account.private.contacts),
        sim_texts.SWITCHED[account.consent],
        sim_texts.SWITCHED[account.follows_book],
    )


def _show_information(said: UserInformation | None) -> None:
    if said is None:
        print_note(suggested(sim_texts.NO_INFORMATION))
        return
    text = sim_texts.INFORMATION_NOTE if said.note else sim_texts.INFORMATION
    print_text(text.format(name=said.name, note=said.note))


def _information(
    said: UserInformation | None, name: str | None, note: str | None
) -> UserInformation:
    """What is said from now on: what is not given stays."""
    if name is None and said is None:
        raise WrongUsage(sim_texts.NAME_FIRST)
    kept_name, kept_note = ("", "") if said is None else (said.name, said.note)
    try:
        return UserInformation(
            name=kept_name if name is None else name, note=kept_note if note is None else note
        )
    except ValidationError as error:
        raise WrongUsage(sim_texts.BAD_NAME) from error
