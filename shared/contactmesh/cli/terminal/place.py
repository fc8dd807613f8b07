"""Which of this machine's terminals a command is about, and the options that say so."""

import contextlib
import re
import shlex
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from contactmesh.cli.errors import WrongUsage
from contactmesh.cli.locating import DataFolder
from contactmesh.cli.running import with_options
from contactmesh.cli.terminal import texts
from contactmesh.cli.terminal.suggesting import for_terminal, suggested
from contactmesh.local.settings import default_data_folder
from contactmesh.terminal.credentials import Enrolment, TerminalFolder
from contactmesh.terminal.errors import FolderUnusable, NotEnrolled

ONLY: Final = "default"
"""The name of a terminal that was given none."""

_TERMINALS: Final = "terminals"
_NAME: Final = re.compile(r"\w[\w.@+-]{0,63}")

AsName = Annotated[
    str | None,
    typer.Option(
        "--as",
        metavar="NAME",
        envvar="CONTACTMESH_AS",
        help=texts.HELP_AS,
        rich_help_panel=texts.PANEL_WHICH,
    ),
]
Folder = Annotated[
    Path | None,
    typer.Option(
        "--terminal",
        metavar="DIR",
        envvar="CONTACTMESH_TERMINAL",
        help=texts.HELP_FOLDER,
        rich_help_panel=texts.PANEL_WHICH,
    ),
]


@dataclass(frozen=True)
class Place:
    """Where to look for terminals, and which one is wanted.

    Attributes:
        name: the terminal's name below the data folder, none if the user gave none.
        folder: the terminal's folder, none if it is to be found by its name.
        data: the data folder of the stack.
    """

    name: str | None
    folder: Path | None
    data: Path

    @classmethod
    def chosen(cls, name: str | None, folder: Path | None, data: Path | None) -> "Place":
        """The place that the options name.

        Raises:
            WrongUsage: the name cannot be one, or there are both a name and a folder.
        """
        if name is not None and folder is not None:
            raise WrongUsage(texts.NAME_AND_FOLDER)
        if name is not None and _NAME.fullmatch(name) is None:
            raise WrongUsage(texts.BAD_TERMINAL_NAME.format(name=name))
        return cls(name, folder, data or default_data_folder())

    def for_enrolling(self) -> TerminalFolder:
        """The folder in which a new terminal is to live."""
        return TerminalFolder(self.folder or self._terminals / (self.name or ONLY))

    def enrolled(self) -> tuple[TerminalFolder, Enrolment]:
        """The terminal that is wanted: without a name the only one there is.

        Raises:
            WrongUsage: there are several to choose from.
            NotEnrolled: there is none.
        """
        wanted = self._wanted()
        try:
            return wanted, wanted.read()
        except NotEnrolled as error:
            known = self._names()
            if self.name is None or self.name in known or not known:
                raise NotEnrolled(f"{error} {suggested(texts.HOW_TO_ENROL)}") from error
            raise NotEnrolled(
                texts.NO_SUCH_TERMINAL.format(name=self.name, names=", ".join(known))
            ) from error

    def _wanted(self) -> TerminalFolder:
        if self.folder is not None or self.name is not None:
            return self.for_enrolling()
        known = self._names()
        if len(known) > 1 and ONLY not in known:
            raise WrongUsage(texts.WHICH_TERMINAL.format(names=", ".join(known)))
        name = known[0] if len(known) == 1 else ONLY
        return TerminalFolder(self._terminals / name)

    def _names(self) -> list[str]:
        folders = self._terminals.iterdir() if self._terminals.is_dir() else ()
        return sorted(folder.name for folder in folders if folder.is_dir())

    @cached_property
    def names(self) -> dict[str, str]:
        """What the terminals of this machine are called, by their ids."""
        names = {}
        for name in self._names():
            with contextlib.suppress(NotEnrolled, FolderUnusable):
                enrolment = TerminalFolder(self._terminals / name).read()
                names[enrolment.credentials.terminal_id] = name
        return names

    @property
    def user_id(self) -> str:
        """Whose terminal is wanted.

        Raises:
            WrongUsage: there are several to choose from.
            NotEnrolled: there is none.
        """
        _, enrolment = self.enrolled()
        return enrolment.credentials.user_id

    @property
    def spelled(self) -> str:
        """The options that lead here again."""
        if self.folder is not None:
            return f"--terminal {shlex.quote(str(self.folder))}"
        name = "" if self.name is None else f"--as {self.name}"
        elsewhere = self.data != default_data_folder()
        return f"{name} --data {shlex.quote(str(self.data))}".strip() if elsewhere else name

    @property
    def _terminals(self) -> Path:
        return self.data / _TERMINALS


def at_a_terminal(
    function: Callable[..., Coroutine[Any, Any, None]],
) -> Callable[..., None]:
    """Let a coroutine function be a command, with the options that say which terminal it is about.

    They are the same for all commands and stand after the command's own options.

    Args:
        function: takes a `Place`, and then what the command's own arguments and options give.
    """
    options = {"as_name": AsName, "folder": Folder, "data": DataFolder}
    return with_options(function, options, _there)


@contextmanager
def _there(as_name: str | None, folder: Path | None, data: Path | None) -> Iterator[Place]:
    place = Place.chosen(as_name, folder, data)
    with for_terminal(place.spelled):
        yield place
