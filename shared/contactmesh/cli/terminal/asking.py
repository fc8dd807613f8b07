"""Asking before something is done that cannot be taken back."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
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
    with _interruptible():
        agreed = typer.confirm(question, err=True)
    if not agreed:
        raise CommandError(otherwise)


@contextmanager
def _interruptible() -> Iterator[None]:
    """Let Ctrl-C end the question at once: a running event loop would only take note of it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
