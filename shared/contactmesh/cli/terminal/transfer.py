"""vCard files into the phonebook and out of it."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from io import BufferedIOBase
from pathlib import Path
from typing import Annotated, BinaryIO, Final, cast

import typer
from pydantic import BaseModel
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from contactmesh.cli.errors import WrongUsage
from contactmesh.cli.exit_codes import ExitCode
from contactmesh.cli.output import (
    AsJson,
    counted,
    error_console,
    print_json,
    print_note,
    print_table,
    print_text,
)
from contactmesh.cli.terminal import texts
from contactmesh.cli.terminal.connecting import phonebook_of
from contactmesh.cli.terminal.naming import contact_named
from contactmesh.cli.terminal.place import Place, at_a_terminal
from contactmesh.contacts import Damage, write_vcards
from contactmesh.terminal import Imported, Phonebook

app = typer.Typer()

_STANDARD: Final = Path("-")


class VcardVersion(StrEnum):
    """The versions that can be written."""

    V3 = "3.0"
    V4 = "4.0"


class DamagedCard(BaseModel):
    """A card that could not be imported, for scripts."""

    file: str
    line: int
    card: int
    reason: str
    hint: str

    @classmethod
    def of(cls, damage: Damage) -> "DamagedCard":
        """What is told of a damage."""
        return cls(
            file=damage.file,
            line=damage.line,
            card=damage.card,
            reason=damage.reason,
            hint=damage.hint,
        )


class ImportOutcome(BaseModel):
    """What an import did, for scripts."""

    added: int
    updated: int
    unchanged: int
    damaged: list[DamagedCard]


@app.command(
    "import",
    help=texts.HELP_IMPORT,
    epilog=texts.EXAMPLES_IMPORT,
    rich_help_panel=texts.PANEL_PHONEBOOK,
)
@at_a_terminal
async def import_files(
    place: Place,
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILES...", dir_okay=False, allow_dash=True, help=texts.HELP_IMPORT_FILES
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Import vCard files."""
    for file in files:
        if file != _STANDARD and not file.exists():
            raise WrongUsage(texts.NO_SUCH_FILE.format(file=file))
    async with phonebook_of(place) as phonebook:
        outcomes = [await _import(phonebook, file) for file in files]
    damages = [damage for outcome in outcomes for damage in outcome.damages]
    outcome = ImportOutcome(
        added=sum(each.added for each in outcomes),
        updated=sum(each.updated for each in outcomes),
        unchanged=sum(each.unchanged for each in outcomes),
        damaged=[DamagedCard.of(damage) for damage in damages],
    )
    if as_json:
        print_json(outcome)
    else:
        _show(outcome)
    if damages:
        raise typer.Exit(ExitCode.FAILED)


@app.command(
    "export",
    help=texts.HELP_EXPORT,
    epilog=texts.EXAMPLES_EXPORT,
    rich_help_panel=texts.PANEL_PHONEBOOK,
)
@at_a_terminal
async def export(
    place: Place,
    file: Annotated[
        Path, typer.Argument(dir_okay=False, allow_dash=True, help=texts.HELP_EXPORT_FILE)
    ] = _STANDARD,
    version: Annotated[
        VcardVersion, typer.Option("--version", help=texts.HELP_VCARD_VERSION)
    ] = VcardVersion.V4,
    contact: Annotated[
        list[str] | None, typer.Option("--contact", metavar="CONTACT", help=texts.HELP_EXPORT_ONLY)
    ] = None,
) -> None:
    """Export contacts as a vCard file."""
    async with phonebook_of(place) as phonebook:
        if contact:
            contacts = [await contact_named(phonebook, name) for name in contact]
        else:
            contacts = await phonebook.contacts()
    content = b"".join(write_vcards((each.card for each in contacts), version=version.value))
    if file == _STANDARD:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    file.write_bytes(content)
    print_note(texts.EXPORTED.format(contacts=counted(len(contacts), texts.CONTACTS), file=file))


async def _import(phonebook: Phonebook, file: Path) -> Imported:
    with _opened(file) as (source, progress):
        imported, _ = await phonebook.import_cards(source, file_name=str(file), progress=progress)
    return imported


@contextmanager
def _opened(file: Path) -> Iterator[tuple[BinaryIO, Callable[[int], None]]]:
    """The file and what shows how far it is read, on a terminal."""
    screen = error_console()
    progress = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=screen,
        transient=True,
        disable=not screen.is_terminal,
    )
    source: BufferedIOBase | BinaryIO
    if file == _STANDARD:
        name, source, cards = texts.STANDARD_INPUT, sys.stdin.buffer, None
    else:
        name, source = file.name, file.open("rb")
        # A pipe, as in <(zcat backup.vcf.gz), can be read once only.
        cards = cards_in(file) if screen.is_terminal and file.is_file() else None
    with progress:
        task = progress.add_task(name, total=cards)
        try:
            yield cast("BinaryIO", source), lambda done: progress.update(task, completed=done)
        finally:
            if file != _STANDARD:
                source.close()


def cards_in(file: Path) -> int | None:
    """About how many cards a file has, none if it does not look like any.

    Bytes would tell little: a whole file may be read before its first card is taken.
    """
    with file.open("rb") as lines:
        number = sum(line[:11].upper() == b"BEGIN:VCARD" for line in lines)
    return number or None


def _show(outcome: ImportOutcome) -> None:
    if outcome.damaged:
        print_table(texts.COLUMNS_DAMAGES, _damage_rows(outcome.damaged))
        print_text("")
    print_text(
        texts.IMPORTED.format(
            added=outcome.added, updated=outcome.updated, unchanged=outcome.unchanged
        )
        + (texts.IMPORT_DAMAGED.format(count=len(outcome.damaged)) if outcome.damaged else "")
    )


def _damage_rows(damages: Sequence[DamagedCard]) -> list[tuple[str, ...]]:
    return [
        (f"{damage.file}:{damage.line}", str(damage.card), damage.reason, damage.hint)
        for damage in damages
    ]
