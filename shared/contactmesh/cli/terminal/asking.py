"""Asking before something is done that cannot be taken back."""

import sys
from typing import Annotated

import typer

from contactmesh.cli.errors import CommandError, WrongUsage
from contactmesh.cli.terminal import texts

SaidYes = Annotated[bool, typer.Option("--yes", "-y", help=texts.HELP_YES)]


def sure(question: str, yes: bool, otherwise: str = texts.NOTHING_DONE) -> None:
    """Go on only if the user is sure.

    Args:
        question: what to ask.
        yes: whether they have said so already.
        otherwise: what to say if they are not.

    Raises:
        CommandError: they are not.
        WrongUsage: nobody is there to ask.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        raise WrongUsage(texts.SAY_YES.format(question=question))
    if not typer.confirm(question, err=True):
        raise CommandError(otherwise)
