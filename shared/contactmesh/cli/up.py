"""`contactmesh up`: a whole system on this machine, for as long as the command runs."""

import asyncio
import os
import shlex
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console, RenderableType
from rich.markup import escape
from rich.panel import Panel
from rich.progress import Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from contactmesh.cli.errors import WrongUsage
from contactmesh.cli.exit_codes import ExitCode
from contactmesh.local import texts
from contactmesh.local.errors import StackSettingsError
from contactmesh.local.log_view import LogView
from contactmesh.local.settings import StackSettings, default_data_folder
from contactmesh.local.stack import Stack, Step
from contactmesh.runtime.settings import LogLevel

app = typer.Typer()


@app.command("up")
def up(
    data: Annotated[
        Path | None,
        typer.Option(help=texts.HELP_DATA, show_default=texts.DEFAULT_DATA),
    ] = None,
    scale: Annotated[
        list[str] | None, typer.Option(metavar="NAME=N", help=texts.HELP_SCALE)
    ] = None,
    log_level: Annotated[LogLevel, typer.Option(help=texts.HELP_LOG_LEVEL)] = LogLevel.INFO,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help=texts.HELP_QUIET)] = False,
) -> None:
    """Start a whole ContactMesh here: broker, database and every service. Ctrl-C stops it.

    A broker in AMQP_URL or a database in MONGODB_URL is used instead of starting one.
    """
    copies = dict(_copies(argument) for argument in scale or [])
    try:
        settings = StackSettings(
            data=data or default_data_folder(), scale=copies, log_level=log_level
        )
    except StackSettingsError as error:
        raise WrongUsage(str(error)) from error
    if not asyncio.run(_Session(settings, quiet=quiet).run()):
        raise typer.Exit(ExitCode.INTERRUPTED)


def _copies(argument: str) -> tuple[str, int]:
    name, _, number = argument.partition("=")
    if not number.isascii() or not number.isdigit():
        raise typer.BadParameter(texts.BAD_SCALE.format(argument=argument), param_hint="--scale")
    return name, int(number)


class _Screen(Console):
    """Standard output, which may go away: the system runs on without anybody watching."""

    def show(self, *content: RenderableType, unbroken: bool = False) -> None:
        """Print if there is still somebody to see it; `unbroken` leaves long lines whole."""
        with suppress(OSError):  # the terminal was closed
            self.print(*content, soft_wrap=unbroken)

    def on_broken_pipe(self) -> None:
        """Print to nowhere from now on, rather than end the program in the middle of its work."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


class _Session:
    """One run of the command: what is shown, and what Ctrl-C does."""

    def __init__(self, settings: StackSettings, *, quiet: bool) -> None:
        self._screen = _Screen()
        self._quiet = quiet
        # While the system starts, the progress display tells what goes well.
        self._chatter = settings.log_level is LogLevel.DEBUG
        self._view = LogView(self._screen, from_level="warning", chatter=self._chatter)
        self._view.settled = False
        self._progress = Progress(
            SpinnerColumn(finished_text="[green]✓[/]"),
            TextColumn("{task.description}"),
            TimeElapsedColumn(),
            console=self._screen,
            disable=quiet,
        )
        self._tasks: dict[str, TaskID] = {}
        self._stack = Stack(settings, log_reader=self._read, watcher=self._watch)
        self._interrupted = False

    async def run(self) -> bool:
        """Run until a signal asks to stop; a second one hastens the stopping.

        Returns:
            Whether everything ran before it was asked to stop.
        """
        ran = False
        loop = asyncio.get_running_loop()
        task = asyncio.current_task()

        def interrupt() -> None:
            if self._interrupted:
                self._stack.hasten()
            elif task is not None:
                self._interrupted = True
                self._view.settled = False
                task.cancel()
                self._end_progress()
                self._screen.show(texts.STOPPING)

        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, interrupt)
        try:
            self._progress.start()
            async with self._stack:
                self._end_progress()
                ran = True
                if not self._quiet:
                    self._tell_how_to_go_on()
                    self._view = LogView(self._screen, chatter=self._chatter)
                self._view.settled = True
                await asyncio.Event().wait()
        except asyncio.CancelledError:
            if not self._interrupted:
                raise
            self._screen.show(texts.STOPPED)
        finally:
            self._end_progress()
        return ran

    def _end_progress(self) -> None:
        if self._progress.live.is_started:
            with suppress(OSError):  # the terminal was closed
                self._progress.stop()

    def _read(self, process: str, line: str) -> None:
        with suppress(OSError):  # the terminal was closed
            self._view.show(process, line)

    def _watch(self, name: str, step: Step) -> None:
        if step is Step.STARTING:
            self._tasks[name] = self._progress.add_task(name, total=1)
        elif step is Step.READY:
            self._progress.update(self._tasks[name], completed=1)

    def _tell_how_to_go_on(self) -> None:
        data = self._stack.settings.data
        elsewhere = (
            "" if data == default_data_folder().absolute() else f" --data {shlex.quote(str(data))}"
        )
        places = Table.grid(padding=(0, 2))
        places.add_column()
        places.add_column(overflow="fold")
        for name, place in (
            (texts.UP_SERVICES, str(len(self._stack.services))),
            (texts.UP_IDENTITY, self._stack.identity_url),
            (texts.UP_BROKER, self._stack.terminal_amqp_url),
            (texts.UP_DATA, str(data)),
        ):
            places.add_row(f"[dim]{name}[/]", escape(place))
        self._screen.show(Panel(places, title=texts.UP_TITLE, expand=False))
        # Never broken, so that each command can be copied from any window.
        going_on = texts.UP_GOING_ON.format(data=elsewhere)
        self._screen.show(Text(going_on), unbroken=True)
