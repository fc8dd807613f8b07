"""Publishing one's own card: change a number once, and it is right everywhere."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from pydantic import JsonValue

from contactmesh.cli.errors import WrongUsage
from contactmesh.cli.errors import told as told_of
from contactmesh.cli.exit_codes import ExitCode
from contactmesh.cli.output import AsJson, print_json, print_note, print_table
from contactmesh.cli.terminal import texts
from contactmesh.cli.terminal.connecting import connected
from contactmesh.cli.terminal.naming import contact_named, groups_named
from contactmesh.cli.terminal.own_card import (
    Edits,
    NumberNotThere,
    first_card,
    read_edits,
)
from contactmesh.cli.terminal.place import Place, at_a_terminal
from contactmesh.cli.terminal.suggesting import suggested
from contactmesh.cli.vcard_files import cards_of
from contactmesh.contacts import Card, digest, without_private_parts
from contactmesh.contracts.group.views import GroupSummary
from contactmesh.terminal import CommandRefused, NoReply, OwnCard, Terminal
from contactmesh.terminal.pulling import REFUSED

app = typer.Typer()


class Outcome(StrEnum):
    """What became of publishing to one group."""

    PUBLISHED = "published"
    UNCHANGED = "unchanged"
    SKIPPED = "skipped"
    REFUSED = "refused"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Told:
    """What became of publishing to one group, and why."""

    group: GroupSummary
    outcome: Outcome
    rev: int | None = None
    reason: str = ""


@app.command(
    "publish",
    help=texts.HELP_PUBLISH,
    epilog=texts.EXAMPLES_PUBLISH,
    rich_help_panel=texts.PANEL_SHARING,
)
@at_a_terminal
async def publish(
    place: Place,
    card: Annotated[
        Path | None,
        typer.Option(
            "--card",
            metavar="FILE",
            dir_okay=False,
            allow_dash=True,
            help=texts.HELP_CARD,
        ),
    ] = None,
    contact: Annotated[
        str | None, typer.Option("--contact", metavar="CONTACT", help=texts.HELP_CARD_CONTACT)
    ] = None,
    name: Annotated[str | None, typer.Option("--name", help=texts.HELP_CARD_NAME)] = None,
    number: Annotated[
        list[str] | None,
        typer.Option("--number", metavar="NEW | OLD=NEW", help=texts.HELP_CARD_NUMBER),
    ] = None,
    group: Annotated[
        list[str] | None, typer.Option("--group", metavar="GROUP", help=texts.HELP_CARD_GROUP)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Publish one's own card."""
    if card is not None and contact is not None:
        raise WrongUsage(texts.CARD_AND_CONTACT)
    _, enrolment = place.enrolled()
    edits = read_edits(name, number or (), enrolment.region)
    for new in edits.numbers:
        if new.doubtful:
            print_note(texts.DOUBTFUL.format(number=new.number))
    base = None if card is None else _card_of(card)
    async with connected(place) as terminal:
        try:
            await terminal.pull()  # another of the user's terminals may have published since
        except REFUSED as error:  # by one group, which is no reason to keep the card from others
            print_note(told_of(error))
        if contact is not None:
            base = without_private_parts((await contact_named(terminal.phonebook, contact)).card)
        groups = await groups_named(terminal, group or ())
        if not groups:
            raise WrongUsage(suggested(texts.NO_GROUP_TO_PUBLISH_TO))
        known = {own.group_id: own for own in await terminal.phonebook.own_cards()}
        plan = _Plan(edits, base, known, everywhere=not group)
        told = [await _publish(terminal, each, plan) for each in groups]
    _show(told, as_json)


class _Plan:
    """Which card each group is to have.

    A card that is given goes to every group. Without one, each group's own card is edited, so that
    a group which was shown less is not shown more.
    """

    def __init__(
        self, edits: Edits, base: Card | None, known: Mapping[str, OwnCard], *, everywhere: bool
    ) -> None:
        self._edits = edits
        self._now = datetime.now(UTC)
        self._known = known
        self._everywhere = everywhere
        self._base = None if base is None else edits.applied(base, self._now)
        if base is None and not known:
            self._base = first_card(edits, self._now)

    def rev(self, group_id: str) -> int | None:
        """The revision that the group's card has now."""
        own = self._known.get(group_id)
        return None if own is None else own.rev

    def card_for(self, group_id: str) -> Card | str:
        """The group's card; or why it gets none."""
        if self._base is not None:
            return self._base
        own = self._known.get(group_id)
        if own is None and self._edits and self._everywhere:
            return texts.NOT_SHARED_HERE
        if own is None:
            cards = {digest(each.card): each.card for each in self._known.values()}
            if len(cards) > 1:
                return texts.WHICH_CARD
            (card,) = cards.values()
        else:
            card = own.card
        return self._edits.applied(card, self._now)


async def _publish(terminal: Terminal, group: GroupSummary, plan: _Plan) -> Told:
    try:
        card = plan.card_for(group.group_id)
    except NumberNotThere as error:
        return Told(group, Outcome.SKIPPED, plan.rev(group.group_id), str(error))
    if isinstance(card, str):
        return Told(group, Outcome.SKIPPED, plan.rev(group.group_id), card)
    (publication,) = await terminal.publish(card, [group.group_id])
    match publication.error:
        case None:
            pass
        case CommandRefused(error=body):
            return Told(group, Outcome.REFUSED, reason=body.message)
        case NoReply(seconds=seconds):
            return Told(group, Outcome.UNKNOWN, reason=texts.NO_REPLY.format(seconds=seconds))
    unchanged = publication.rev == plan.rev(group.group_id)
    outcome = Outcome.UNCHANGED if unchanged else Outcome.PUBLISHED
    return Told(group, outcome, publication.rev)


def _card_of(file: Path) -> Card:
    cards = cards_of(str(file))
    if len(cards) != 1:
        raise WrongUsage(texts.ONE_CARD.format(file=file, count=len(cards)))
    return cards[0]


def _show(told: Sequence[Told], as_json: bool) -> None:
    if as_json:
        values: list[JsonValue] = [
            {
                "group_id": each.group.group_id,
                "name": each.group.name,
                "outcome": each.outcome.value,
                "rev": each.rev,
                "reason": each.reason or None,
            }
            for each in told
        ]
        print_json(values)
    else:
        print_table(
            texts.COLUMNS_PUBLISHED,
            [
                (each.group.name, texts.OUTCOMES[each.outcome], _audience(each), each.reason)
                for each in told
            ],
        )
        if all(each.outcome is Outcome.UNCHANGED for each in told):
            print_note(texts.NOTHING_TO_PUBLISH)
    outcomes = {each.outcome for each in told}
    if Outcome.UNKNOWN in outcomes:
        raise typer.Exit(ExitCode.UNREACHABLE)
    if Outcome.REFUSED in outcomes or outcomes == {Outcome.SKIPPED}:
        raise typer.Exit(ExitCode.FAILED)


def _audience(told: Told) -> str:
    return str(told.group.members - 1) if told.outcome is Outcome.PUBLISHED else ""
