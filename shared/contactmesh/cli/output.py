"""How commands show things: tables for people, JSON for scripts, errors in one line.

Results go to standard output and all else to standard error, so that a pipe gets results only.
"""

import json
import sys
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Annotated, Final, TypeVar

import typer
from pydantic import BaseModel
from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from contactmesh.cli import texts

AsJson = Annotated[bool, typer.Option("--json", help=texts.HELP_JSON)]
"""The option of every command whose output a script may want to read."""

Row = TypeVar("Row")

_UNPIPED_WIDTH: Final = 100_000
# They change the order in which a terminal shows what stands around them.
_REORDERING: Final = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def console() -> Console:
    """Standard output. What is not read by a person is neither wrapped nor cut."""
    return Console(
        highlight=False, width=None if sys.stdout.isatty() else _UNPIPED_WIDTH, soft_wrap=True
    )


def error_console() -> Console:
    """Standard error, for progress, notes and errors."""
    return Console(stderr=True, highlight=False, soft_wrap=True)


def harmless(text: str) -> str:
    """Text that somebody else wrote, unable to move the cursor or to reorder a line."""
    return "".join(
        "\N{REPLACEMENT CHARACTER}"
        if unicodedata.category(character) == "Cc" or character in _REORDERING
        else character
        for character in text
    )


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print rows under their column titles, lined up whatever script they are written in.

    Where the screen is too narrow for that, each value stands beside its title.
    """
    cells = [[Text(harmless(cell)) for cell in row] for row in rows]
    screen = Console(highlight=False, width=None if sys.stdout.isatty() else _UNPIPED_WIDTH)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in cells:
        table.add_row(*row)
    unbounded = screen.options.update_width(_UNPIPED_WIDTH)
    if Measurement.get(screen, unbounded, table).minimum <= screen.width:
        screen.print(table)
    else:
        screen.print(_one_below_the_other(columns, cells))


def _one_below_the_other(columns: Sequence[str], rows: Sequence[Sequence[Text]]) -> Table:
    """Rows on a screen on which not even single words fit beside each other."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(overflow="fold")
    for row in rows:
        if grid.row_count:
            grid.add_row()
        for column, cell in zip(columns, row, strict=True):
            if cell.plain:
                grid.add_row(column, cell)
    return grid


def print_rows(
    rows: Sequence[Row],
    columns: Sequence[str],
    cells: Callable[[Row], Sequence[str]],
    *,
    none: str,
    as_json: bool,
) -> None:
    """Print a list: as a table for people, who are told if there is nothing in it.

    Args:
        rows: what is in it.
        columns: the table's titles.
        cells: a row of the table.
        none: what to say if nothing is in it.
        as_json: whether a script reads it.
    """
    if as_json:
        print_json(rows)
    elif rows:
        print_table(columns, map(cells, rows))
    else:
        print_note(none)


def print_pairs(pairs: Sequence[tuple[str, str]]) -> None:
    """Print values behind their names, lined up whatever script they are written in."""
    widest = max(cell_len(name) for name, _ in pairs)
    for name, value in pairs:
        print_text(f"{set_cell_size(name, widest)}  {value}")


def print_text(text: str) -> None:
    """Print text for people; it may hold what somebody else wrote."""
    console().print(Text("\n".join(harmless(line) for line in text.split("\n"))))


def print_json(value: object) -> None:
    """Print models and JSON values as one line of JSON, every script readable as it is."""
    sys.stdout.write(json.dumps(_json_value(value), ensure_ascii=False) + "\n")


def print_note(text: str) -> None:
    """Say something beside the result."""
    error_console().print(Text(harmless(text), style="dim"))


def print_error(message: str) -> None:
    """Say in one line what went wrong."""
    prefix = Text(texts.ERROR_PREFIX, style="bold red")
    error_console().print(prefix + Text(f" {harmless(message)}", style="not bold default"))


def counted(count: int, forms: tuple[str, str]) -> str:
    """A number of things: the first form is for one, the second, with `{count}`, for others."""
    one, others = forms
    return one if count == 1 else others.format(count=count)


def local_time(moment: str) -> str:
    """A moment in ISO 8601, as the clock here shows it."""
    return datetime.fromisoformat(moment).astimezone().strftime("%Y-%m-%d %H:%M %Z")


def _json_value(value: object) -> object:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True, exclude_none=True)
    if isinstance(value, (list, tuple)):
        return [_json_value(item) for item in value]
    if isinstance(value, dict):
        return {name: _json_value(item) for name, item in value.items()}
    return value
