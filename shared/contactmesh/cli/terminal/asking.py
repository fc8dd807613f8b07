"""Asking before something is done that cannot be taken back."""

import sys
from typing import Annotated

import typer

from contactmesh.cli.errors import CommandError, WrongUsage
from contactmesh.cli.terminal import texts

SaidYes = Annotated[bool, typer.Option("--yes", "-y", help=texts.HELP_YES)]


def sure(question: str, yes: bool) -> None:
    """Go on only if the user is sure.

    Raises:
        CommandError: they are not.
        WrongUsage: nobody is there to ask.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        raise WrongUsage(texts.SAY_YES.format(question=question))
    if not typer.confirm(question, err=True):
        raise CommandError(texts.NOTHING_DONE)
