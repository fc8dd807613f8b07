"""Finding what people name of SIM cards: a SIM, a carrier, a contact that waits."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from enum import StrEnum
from shlex import quote
from typing import Annotated, Final

import typer

from contactmesh.cli.errors import CommandError
from contactmesh.cli.terminal import sim_texts, space_texts
from contactmesh.cli.terminal.naming import by_id, one_named
from contactmesh.cli.terminal.suggesting import suggested
from contactmesh.contacts import match_key
from contactmesh.contracts.multi_sim.records import AccountView, SimView
from contactmesh.terminal import PendingContact, Terminal
from contactmesh.terminal.rules.ownership import plain_text

_LEAST_DIGITS: Final = 4
_SHOWN_DIGITS: Final = 4
_MOST_NEAR: Final = 3


class Switch(StrEnum):
    """What is set either way."""

    ON = "on"
    OFF = "off"

    @property
    def is_on(self) -> bool:
        """Whether it is set to happen."""
        return self is Switch.ON


SimName = Annotated[str, typer.Argument(metavar="SIM", help=sim_texts.HELP_SIM)]
OnOrOff = Annotated[Switch, typer.Argument(metavar="on|off", help=sim_texts.HELP_SWITCH)]
CarrierName = Annotated[str, typer.Argument(metavar="CARRIER", help=sim_texts.HELP_CARRIER)]


async def sim_here(terminal: Terminal, name: str, region: str | None) -> SimView:
    """A SIM that is in this terminal.

    Raises:
        NoSuchThing: none, or several, are named so.
        CommandError: it is in another terminal.
    """
    _, sim = find_sim((await terminal.accounts()).accounts, name, region)
    if sim.terminal_id != terminal.terminal_id:
        raise CommandError(suggested(sim_texts.ELSEWHERE, name=sim.name, sim=quote(sim.name)))
    return sim


def find_sim(
    accounts: Iterable[AccountView], name: str, region: str | None
) -> tuple[AccountView, SimView]:
    """A SIM by its name, the end of its ICCID, its number, or its id, with its account.

    Args:
        accounts: the user's accounts.
        name: what the user calls it.
        region: the country (ISO 3166) of numbers without a country code.

    Raises:
        NoSuchThing: none, or several, are named so.
    """
    known = [(account, sim) for account in accounts for sim in account.sims]
    sought, number = plain_text(name), match_key(name, region)
    found = (
        [each for each in known if plain_text(each[1].name) == sought]
        or [each for each in known if number is not None and each[1].msisdn == number]
        or [each for each in known if _ends(each[1], sought)]
        or by_id(known, name, lambda each: each[1].sim_id)
    )
    return one_named(
        name,
        found,
        sim_texts.NO_SIM,
        _told_apart,
        near=near(name, [sim.name for _, sim in known]),
    )


def find_account(accounts: Iterable[AccountView], name: str) -> AccountView:
    """The user's account at a carrier.

    Raises:
        NoSuchThing: there is none.
    """
    known, sought = list(accounts), plain_text(name)
    return one_named(
        name,
        [account for account in known if account.carrier_id == sought],
        sim_texts.NO_ACCOUNT,
        lambda account: account.carrier_id,
        near=near(name, [account.carrier_id for account in known]),
    )


def find_pending(contacts: Sequence[PendingContact], name: str, sim: SimView) -> PendingContact:
    """A contact that waits, by its name, its uid, or either end of it.

    Raises:
        NoSuchThing: none, or several, are named so.
    """
    sought = plain_text(name)
    found = [each for each in contacts if plain_text(each.display_name) == sought]
    return one_named(
        name,
        found or by_id(contacts, name, lambda each: plain_text(each.uid)),
        space_texts.NO_PENDING,
        lambda each: f"{each.uid} ({each.display_name})",
        near=near(name, [each.display_name for each in contacts]),
        sim=quote(sim.name),
    )


def near(name: str, known: Iterable[str]) -> str:
    """A question whether one of the names that are like it was meant; empty if none is."""
    plain = {plain_text(each): each for each in known}
    found = get_close_matches(plain_text(name), plain, n=_MOST_NEAR)
    names = sim_texts.OR.join(plain[each] for each in found)
    return sim_texts.NEAR.format(names=names) if found else ""


def _ends(sim: SimView, digits: str) -> bool:
    return len(digits) >= _LEAST_DIGITS and sim.iccid.casefold().endswith(digits)


def _told_apart(known: tuple[AccountView, SimView]) -> str:
    account, sim = known
    return sim_texts.TOLD_SIM.format(
        name=sim.name, end=sim.iccid[-_SHOWN_DIGITS:], carrier=account.carrier_id
    )
