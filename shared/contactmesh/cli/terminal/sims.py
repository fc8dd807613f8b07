"""SIM cards: registering one, moving it to this terminal, replacing and removing it."""

from itertools import chain, count
from shlex import quote
from typing import Annotated
from unicodedata import normalize

import typer
from pydantic import JsonValue, TypeAdapter, ValidationError

from contactmesh.cli.errors import WrongUsage
from contactmesh.cli.output import AsJson, counted, print_json, print_note, print_pairs, print_text
from contactmesh.cli.terminal import sim_texts, space_texts, texts
from contactmesh.cli.terminal.asking import SaidYes, sure
from contactmesh.cli.terminal.connecting import connected
from contactmesh.cli.terminal.own_card import for_others
from contactmesh.cli.terminal.place import Place, at_a_terminal
from contactmesh.cli.terminal.sim_naming import CarrierName, SimName, find_sim
from contactmesh.cli.terminal.sim_spaces import moved_here
from contactmesh.cli.terminal.sim_telling import told_waiting
from contactmesh.cli.terminal.suggesting import suggested
from contactmesh.contacts import match_key
from contactmesh.contacts.errors import IdentifierError
from contactmesh.contacts.identifiers import read_iccid
from contactmesh.contracts.carrier.records import CarrierId
from contactmesh.contracts.multi_sim.commands import AccountList, SimRegistered
from contactmesh.contracts.multi_sim.records import Name, SimView, UserInformation
from contactmesh.terminal import Terminal

app = typer.Typer()

Iccid = Annotated[str, typer.Argument(metavar="ICCID", help=sim_texts.HELP_ICCID)]


@app.command(
    "add",
    help=sim_texts.HELP_ADD,
    epilog=sim_texts.EXAMPLES_ADD,
    rich_help_panel=sim_texts.PANEL_CARDS,
)
@at_a_terminal
async def add(
    place: Place,
    carrier: CarrierName,
    iccid: Iccid,
    name: Annotated[str | None, typer.Option("--name", help=sim_texts.HELP_SIM_NAME)] = None,
    number: Annotated[
        str | None, typer.Option("--number", metavar="NUMBER", help=sim_texts.HELP_SIM_NUMBER)
    ] = None,
    yes: SaidYes = False,
    as_json: AsJson = False,
) -> None:
    """Register a SIM in this terminal."""
    _, enrolment = place.enrolled()
    carrier_id, plain = _carrier(carrier), _iccid(iccid, yes)
    msisdn = None if number is None else _msisdn(number, enrolment.region)
    async with connected(place, asks=not yes) as terminal:
        known = await terminal.accounts()
        if not yes:
            await _sure_of(terminal, known, carrier_id)
        called = _sim_name(name, known, carrier_id, plain)
        registered = await terminal.register_sim(
            carrier_id,
            plain,
            called,
            msisdn=msisdn,
            registration_seq=await _registration_seq(terminal, carrier_id, msisdn),
            # What the accounts say already may have been changed elsewhere meanwhile.
            information=None
            if known.information
            else UserInformation(name=enrolment.credentials.display_name),
        )
    if as_json:
        print_json(registered)
    else:
        _show_registered(registered, carrier_id, called)
        _suggest_next(known, carrier_id, called)


@app.command(
    "move",
    help=sim_texts.HELP_MOVE,
    epilog=sim_texts.EXAMPLE_MOVE,
    rich_help_panel=sim_texts.PANEL_CARDS,
)
@at_a_terminal
async def move(place: Place, sim: SimName, as_json: AsJson = False) -> None:
    """Say that a SIM is in this terminal."""
    _, enrolment = place.enrolled()
    async with connected(place, asks=True) as terminal:
        _, found = find_sim((await terminal.accounts()).accounts, sim, enrolment.region)
        waiting = await moved_here(terminal, found)
    if as_json:
        print_json({**_told(found, "moved"), "waiting": waiting})
        return
    print_text(sim_texts.MOVED.format(name=found.name))
    if waiting:
        print_text(told_waiting(found.model_copy(update={"waiting": waiting})))
        print_note(suggested(space_texts.DECIDE_NEXT, sim=quote(found.name)))


@app.command(
    "replace",
    help=sim_texts.HELP_REPLACE,
    epilog=sim_texts.EXAMPLE_REPLACE,
    rich_help_panel=sim_texts.PANEL_CARDS,
)
@at_a_terminal
async def replace(
    place: Place, sim: SimName, iccid: Iccid, yes: SaidYes = False, as_json: AsJson = False
) -> None:
    """Say that the carrier replaced a SIM."""
    _, enrolment = place.enrolled()
    plain = _iccid(iccid, yes)
    async with connected(place) as terminal:
        _, found = find_sim((await terminal.accounts()).accounts, sim, enrolment.region)
        await terminal.replace_sim(found.sim_id, plain)
    _tell(found, "replaced", sim_texts.REPLACED.format(name=found.name, iccid=plain), as_json)


@app.command(
    "remove",
    help=sim_texts.HELP_REMOVE,
    epilog=sim_texts.EXAMPLE_REMOVE,
    rich_help_panel=sim_texts.PANEL_CARDS,
)
@at_a_terminal
async def remove(place: Place, sim: SimName, yes: SaidYes = False, as_json: AsJson = False) -> None:
    """Remove a SIM."""
    _, enrolment = place.enrolled()
    async with connected(place, asks=not yes) as terminal:
        account, found = find_sim((await terminal.accounts()).accounts, sim, enrolment.region)
        ask = sim_texts.ASK_REMOVE_WAITING if found.waiting else sim_texts.ASK_REMOVE
        waiting = counted(found.waiting, texts.CONTACTS)
        sure(ask.format(name=found.name, contacts=waiting), yes)
        await terminal.remove_sim(found.sim_id)
    text = sim_texts.REMOVED.format(name=found.name, carrier=account.carrier_id)
    _tell(found, "removed", text, as_json)


def _carrier(text: str) -> str:
    try:
        return TypeAdapter(CarrierId).validate_python(text.strip())
    except ValidationError as error:
        raise WrongUsage(sim_texts.BAD_CARRIER.format(name=text)) from error


async def _sure_of(terminal: Terminal, known: AccountList, carrier_id: str) -> None:
    """Go on only if the carrier is one of the user's, or is meant: a slip would make an account."""
    carriers = {account.carrier_id for account in known.accounts}
    if carrier_id in carriers:
        return
    carriers |= {each.line.ref.carrier_id for each in (await terminal.own_lines()).lines}
    if carrier_id in carriers:
        return
    text = sim_texts.ASK_CARRIER if carriers else sim_texts.ASK_FIRST_CARRIER
    sure(text.format(carrier=carrier_id, carriers=", ".join(sorted(carriers))), yes=False)


def _iccid(text: str, yes: bool) -> str:
    try:
        iccid = read_iccid(normalize("NFKC", text))
    except IdentifierError as error:
        raise WrongUsage(sim_texts.BAD_ICCID.format(iccid=text)) from error
    if iccid.luhn_ok is False:
        sure(sim_texts.ASK_CHECK_DIGIT.format(iccid=iccid.value), yes)
    return iccid.value


def _msisdn(text: str, region: str | None) -> str | None:
    return match_key(for_others(text, None, region).number, region)


async def _registration_seq(terminal: Terminal, carrier_id: str, msisdn: str | None) -> str | None:
    """The number's registration, with which the SIM goes when the number is given on."""
    if msisdn is None:
        return None
    lines = (each.line for each in (await terminal.own_lines()).lines)
    found = (line.ref for line in lines if line.msisdn == msisdn)
    return next((ref.registration_seq for ref in found if ref.carrier_id == carrier_id), None)


def _sim_name(given: str | None, known: AccountList, carrier_id: str, iccid: str) -> str:
    """As it is given; else what the SIM is called already; else after its carrier."""
    if given is not None:
        try:
            return TypeAdapter(Name).validate_python(given)
        except ValidationError as error:
            raise WrongUsage(sim_texts.BAD_NAME) from error
    sims = [sim for account in known.accounts for sim in account.sims]
    for sim in sims:
        if sim.iccid == iccid:
            return sim.name
    taken = {sim.name for sim in sims}
    numbered = (sim_texts.DEFAULT_NAME.format(carrier=carrier_id, number=n) for n in count(2))
    return next(name for name in chain((carrier_id,), numbered) if name not in taken)


def _show_registered(registered: SimRegistered, carrier_id: str, name: str) -> None:
    text = sim_texts.ADDED_ACCOUNT if registered.created else sim_texts.JOINED_ACCOUNT
    print_text(text.format(carrier=carrier_id))
    print_pairs(
        (
            (sim_texts.SHOW_SIM, name),
            (sim_texts.SHOW_ACCOUNT, registered.account_id),
            (sim_texts.SHOW_CODE, registered.identification_code),
        )
    )


def _suggest_next(known: AccountList, carrier_id: str, name: str) -> None:
    print_note(suggested(sim_texts.ADDED_NEXT, sim=quote(name)))
    account = next((one for one in known.accounts if one.carrier_id == carrier_id), None)
    if account is not None and account.shared.contacts:
        print_note(suggested(sim_texts.UPDATE_NEXT, sim=quote(name)))
    elsewhere = any(one.carrier_id != carrier_id for one in known.accounts)
    if elsewhere and not (account is not None and account.consent):
        print_note(suggested(sim_texts.AGREE_NEXT, carrier=carrier_id))


def _tell(sim: SimView, outcome: str, text: str, as_json: bool) -> None:
    if as_json:
        print_json(_told(sim, outcome))
    else:
        print_text(text)


def _told(sim: SimView, outcome: str) -> dict[str, JsonValue]:
    return {"sim_id": sim.sim_id, "name": sim.name, "outcome": outcome}
