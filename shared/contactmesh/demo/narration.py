"""Showing people what happens: headings, sentences, tables and progress bars."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.padding import Padding
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn
from rich.table import Table
from rich.text import Text

WIDTH_WHEN_PIPED = 80
WIDEST = 100
INDENT = 3


class Narrator:
    """Tells the story on standard output, or nothing at all.

    Args:
        silent: tell nothing.
    """

    def __init__(self, *, silent: bool = False) -> None:
        console = Console(highlight=False, quiet=silent)
        width = min(console.width, WIDEST) if sys.stdout.isatty() else WIDTH_WHEN_PIPED
        self._console = Console(highlight=False, quiet=silent, width=width)
        self._step = 0

    def title(self, text: str) -> None:
        """Say what all of it is about."""
        self._console.print(Text(text, style="bold"))

    def step(self, text: str) -> None:
        """Begin the next part."""
        self._step += 1
        self._console.print()
        self._console.print(Text(f"{self._step}. {text}", style="bold cyan"))

    def say(self, text: str) -> None:
        """Say a sentence or two."""
        self._say(text)

    def done(self, text: str) -> None:
        """Say what has been done."""
        self._say(text, Text("✓ ", "green"))

    def failed(self, text: str) -> None:
        """Say what is wrong."""
        self._say(text, Text("✗ ", "bold red"))

    def gap(self) -> None:
        """Leave a line free."""
        self._console.print()

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """Show rows under their titles; a cell that does not fit goes on in the next line."""
        table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
        for column in columns:
            table.add_column(column, overflow="fold")
        for row in rows:
            table.add_row(*(Text(cell) for cell in row))
        self._console.print()
        self._indented(table)

    def figures(self, rows: Iterable[tuple[str, str]]) -> None:
        """Show what was counted, one figure a line."""
        table = Table.grid(padding=(0, 2))
        table.add_column()
        table.add_column(justify="right")
        for name, value in rows:
            table.add_row(Text(name), Text(value, style="bold"))
        self._indented(table)

    @contextmanager
    def progress(self, text: str, total: int | None) -> Iterator[Callable[[str], None]]:
        """Show how far something is; call what is given after each part, with its name."""
        bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TextColumn("[dim]{task.fields[part]}"),
            console=self._console,
            transient=True,
            # A bar that is drawn once and for all would say nothing.
            disable=not self._console.is_terminal,
        )
        task = bar.add_task(text, total=total, part="")
        with bar:
            yield lambda part: bar.update(task, advance=1, part=part)

    def _say(self, text: str, mark: Text | None = None) -> None:
        mark = mark or Text()
        room = self._console.width - INDENT - mark.cell_len
        for number, line in enumerate(Text(text).wrap(self._console, room)):
            start = mark if number == 0 else Text(" " * mark.cell_len)
            self._console.print(Text(" " * INDENT) + start + line)

    def _indented(self, table: Table) -> None:
        self._console.print(Padding.indent(table, INDENT))
