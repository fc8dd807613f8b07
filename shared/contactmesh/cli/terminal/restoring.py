"""Letting a contact, or the whole address book, be again as it was."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final

import typer

from contactmesh.cli.errors import WrongUsage
from contactmesh.cli.output import (
    AsJson,
    counted,
    print_json,
    print_note,
    print_rows,
    print_text,
)
from contactmesh.cli.terminal import sync_texts, texts
from contactmesh.cli.terminal.asking import SaidYes, sure
from contactmesh.cli.terminal.connecting import connected
from contactmesh.cli.terminal.doing import progress_of
from contactmesh.cli.terminal.history import by_whom
from contactmesh.cli.terminal.naming import short_contact_id
from contactmesh.cli.terminal.place import Place, at_a_terminal
from contactmesh.cli.terminal.suggesting import suggested
from contactmesh.cli.terminal.sync_telling import sync_before, tell_waiting
from contactmesh.cli.terminal.times import read_moment, told, told_exactly
from contactmesh.cli.terminal.versions import (
    Entry,
    Numbered,
    changes,
    deleted_named,
    entry_named,
    find_version,
    versions_of,
)
from contactmesh.contacts import Card
from contactmesh.contracts.sync.records import Reason

app = typer.Typer()

_LONGEST_KEPT: Final = timedelta(days=60)
"""How long versions are kept at most, wherever it is set; what is older need not be asked about."""


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What is to be restored: a contact, those deleted to be listed, or the book.

    Attributes:
        at: the time of the book, none if it is not the book.
    """

    name: str | None
    number: int | None
    deleted: bool
    at: datetime | None


@app.command(
    "restore",
    help=sync_texts.HELP_RESTORE,
    epilog=sync_texts.EXAMPLES_RESTORE,
    rich_help_panel=sync_texts.PANEL_SYNC,
)
@at_a_terminal
async def restore(
    place: Place,
    name: Annotated[
        str | None, typer.Argument(metavar="CONTACT", help=sync_texts.HELP_RESTORE_CONTACT)
    ] = None,
    number: Annotated[
        int | None,
        typer.Option("--to", metavar="VERSION", min=1, help=sync_texts.HELP_RESTORE_TO),
    ] = None,
    deleted: Annotated[
        bool, typer.Option("--deleted", help=sync_texts.HELP_RESTORE_DELETED)
    ] = False,
    book: Annotated[bool, typer.Option("--book", help=sync_texts.HELP_RESTORE_BOOK)] = False,
    at: Annotated[
        str | None, typer.Option("--at", metavar="TIME", help=sync_texts.HELP_RESTORE_AT)
    ] = None,
    yes: SaidYes = False,
    as_json: AsJson = False,
) -> None:
    """Restore a contact, list those that were deleted, or restore the book."""
    wanted = _wanted(name, number, deleted, book, at)
    if wanted.at is not None:
        await _restore_book(place, wanted.at, yes, as_json)
    elif wanted.name is not None:
        await _restore_contact(place, wanted.name, wanted, as_json)
    else:
        await _list_deleted(place, as_json)


def _wanted(
    name: str | None, number: int | None, deleted: bool, book: bool, at: str | None
) -> _Wanted:
    """What the options ask for, together.

    Raises:
        WrongUsage: they do not fit together.
    """
    if book != (at is not None) or (book and (name is not None or deleted)):
        raise WrongUsage(sync_texts.BOOK_AND_AT)
    if number is not None and (name is None or deleted):
        raise WrongUsage(sync_texts.TO_OR_DELETED)
    if name is None and not deleted and not book:
        raise WrongUsage(sync_texts.WHAT_TO_RESTORE)
    now = datetime.now(UTC)
    moment = None if at is None else read_moment(at, now)
    if moment is not None and moment < now - _LONGEST_KEPT:
        raise WrongUsage(sync_texts.TOO_LONG_AGO.format(time=told(moment)))
    return _Wanted(name, number, deleted, moment)


async def _restore_book(place: Place, at: datetime, yes: bool, as_json: bool) -> None:
    sure(sync_texts.ASK_RESTORE_BOOK.format(time=told(at)), yes)
    async with connected(place, asks=True) as terminal:
        await sync_before(terminal)
        with progress_of(sync_texts.RESTORING, sync_texts.RESTORING_GOES_ON) as progress:
            book = await terminal.restore_book(at, lambda done: progress(done, None))
    if as_json:
        before = book.before.isoformat()
        print_json({"restored": book.restored, "at": at.isoformat(), "before": before})
    elif book.restored:
        contacts = counted(book.restored, texts.CONTACTS)
        print_text(sync_texts.BOOK_RESTORED.format(contacts=contacts, time=told(at)))
        print_note(suggested(sync_texts.TAKE_BACK, time=told_exactly(book.before)))
    else:
        print_note(sync_texts.BOOK_RESTORED_NOTHING.format(time=told(at)))


async def _restore_contact(place: Place, name: str, wanted: _Wanted, as_json: bool) -> None:
    async with connected(place) as terminal:
        await sync_before(terminal)
        find = deleted_named if wanted.deleted else entry_named
        entry = await find(terminal, name)
        versions = await versions_of(terminal, entry)
        chosen = find_version(versions, wanted.number, entry)
        await terminal.restore(entry.uid, chosen.version.rev)
    if as_json:
        print_json({"name": entry.name, "version": chosen.number, "rev": chosen.version.rev})
    else:
        _tell(entry, chosen, versions)


def _tell(entry: Entry, chosen: Numbered, versions: list[Numbered]) -> None:
    stood = next(one.version for one in versions if one.version.reason is Reason.CURRENT)
    if stood.rev == chosen.version.rev:
        print_note(sync_texts.ALREADY_SO.format(name=entry.name))
        return
    text = sync_texts.RESTORED_BACK if stood.deleted else sync_texts.RESTORED
    if chosen.version.deleted:
        text = sync_texts.RESTORED_DELETED
    print_text(text.format(name=entry.name, time=told(chosen.version.at)))
    if stood.card is not None and chosen.version.card is not None:
        before, after = map(Card.model_validate, (stood.card, chosen.version.card))
        for line in changes(before, after):
            print_text(sync_texts.RESTORED_LINE.format(line=line))


async def _list_deleted(place: Place, as_json: bool) -> None:
    async with connected(place) as terminal:
        await tell_waiting(terminal.phonebook)
        deleted = await terminal.deleted()
        here = terminal.terminal_id
    print_rows(
        deleted,
        sync_texts.COLUMNS_DELETED,
        lambda one: (
            one.name,
            told(one.at),
            by_whom(one.terminal_id, here, place),
            short_contact_id(one.uid),
        ),
        none=sync_texts.NONE_DELETED,
        as_json=as_json,
    )
    if deleted and not as_json:
        print_note(suggested(sync_texts.RESTORE_DELETED_NEXT))
