"""Suggesting commands to people, so that they can be run as they are printed."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_which = ContextVar("which terminal", default="")


@contextmanager
def for_terminal(options: str) -> Iterator[None]:
    """Let what is suggested inside be about one terminal.

    Args:
        options: those that lead to it, empty if it is found without.
    """
    token = _which.set(f" {options}" if options else "")
    try:
        yield
    finally:
        _which.reset(token)


def suggested(text: str, **values: object) -> str:
    """A text with commands in it, each with the options that lead to the same terminal.

    Args:
        text: has `{which}` behind every command.
        values: what else it has a place for.
    """
    return text.format(which=_which.get(), **values)
