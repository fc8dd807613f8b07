"""The files that `contactmesh vcard` reads: vCard or JSContact, `-` for standard input."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from pydantic import ValidationError
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from contactmesh.cli.errors import CommandError, WrongUsage
from contactmesh.cli.output import error_console
from contactmesh.contacts import Card, Damage, Oddity, read_vcards

STANDARD_INPUT: Final = "-"
_LONG: Final = 4 * 1024 * 1024
_SPACE: Final = b" \t\r\n\xef\xbb\xbf"


def items_of(
    name: str,
    *,
    region: str | None = None,
    charset: str | None = None,
    on_oddity: Callable[[Oddity], None] | None = None,
) -> Iterator[Card | Damage]:
    """Yield the cards of a file, and what is damaged in it.

    Args:
        name: the file, `-` for standard input.
        region: the country of phone numbers without a country code.
        charset: the character set of cards that are not UTF-8 and name none.
        on_oddity: told of what is odd.

    Raises:
        WrongUsage: the file cannot be opened.
        CommandError: it is JSON but no JSContact.
    """
    with _opened(name) as file:
        start = file.peek(512)[:512].lstrip(_SPACE)
        if start[:1] in {b"{", b"["}:
            yield from _jscontact(name, file.read())
        else:
            yield from read_vcards(
                file,
                file_name=name,
                default_region=region,
                charset=charset,
                on_oddity=on_oddity,
            )


def cards_of(name: str, *, region: str | None = None, charset: str | None = None) -> list[Card]:
    """Return all cards of a file.

    Raises:
        CommandError: something in it is damaged.
    """
    cards: list[Card] = []
    for item in items_of(name, region=region, charset=charset):
        if isinstance(item, Damage):
            raise CommandError(f"{item}. See 'contactmesh vcard check {name}'.")
        cards.append(item)
    return cards


def _jscontact(name: str, data: bytes) -> Iterator[Card]:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise CommandError(f"{name} is no JSON: {error}. Write it anew and try again.") from error
    for number, each in enumerate(value if isinstance(value, list) else [value], 1):
        try:
            yield Card.model_validate(each)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = "/".join(str(part) for part in first["loc"])
            raise CommandError(
                f"{name}: card {number} is no JSContact: {where}: {first['msg']}. Correct it."
            ) from error


@contextmanager
def _opened(name: str) -> Iterator[io.BufferedReader]:
    if name == STANDARD_INPUT:
        source: BinaryIO = sys.stdin.buffer
        yield (
            source
            if isinstance(source, io.BufferedReader)
            else io.BufferedReader(io.BytesIO(source.read()))
        )
        return
    path = Path(name)
    try:
        raw = path.open("rb", buffering=0)
    except OSError as error:
        raise WrongUsage(f"{name} cannot be opened: {error.strerror}.") from error
    with raw:
        size = path.stat().st_size
        if size < _LONG or not sys.stderr.isatty():
            with path.open("rb") as file:
                yield file
            return
        bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            DownloadColumn(),
            TimeRemainingColumn(),
            console=error_console(),
            transient=True,
        )
        with bar, bar.wrap_file(raw, total=size, description=path.name) as counted:
            yield io.BufferedReader(counted)  # type: ignore[arg-type]
