"""Opening a terminal for one command, or its phonebook alone."""

import logging
import sys
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from typing import Final

import structlog

from contactmesh.cli.errors import SystemUnreachable
from contactmesh.cli.output import error_console
from contactmesh.cli.terminal import texts
from contactmesh.cli.terminal.place import Place
from contactmesh.local.stack_info import kept_identity_url
from contactmesh.local.stack_lock import is_locked
from contactmesh.local.texts import NO_STACK_RUNS
from contactmesh.terminal import Enrolment, NoReply, Phonebook, Terminal

DEADLINE_SECONDS: Final = 20.0
"""How long a command is tried: a service that was killed is back by then."""


@asynccontextmanager
async def connected(
    place: Place,
    *,
    pull: bool = False,
    asks: bool = False,
    deadline_seconds: float = DEADLINE_SECONDS,
) -> AsyncIterator[Terminal]:
    """The terminal, connected.

    Args:
        place: which terminal.
        pull: whether it pulls by itself, and goes on until it is stopped.
        asks: whether the user is asked, or shown how far it is, meanwhile.
        deadline_seconds: how long each command is tried.

    Raises:
        SystemUnreachable: a command in it got no reply, or the system is one of this machine and
            does not run.
        NotEnrolled: there is no such terminal.
        TerminalInUse: another process runs it.
    """
    keep_log_quiet()
    folder, enrolment = place.enrolled()
    if not pull:  # one that watches is there when the system comes back
        _refuse_if_stopped(place, enrolment)
    try:
        with _waiting(shown=not pull and not asks):
            async with Terminal(
                folder.path, pull=pull, deadline_seconds=deadline_seconds
            ) as terminal:
                yield terminal
    except NoReply as error:
        raise SystemUnreachable(texts.NO_REPLY.format(seconds=error.seconds)) from error


def _refuse_if_stopped(place: Place, enrolment: Enrolment) -> None:
    """Do not wait for a system of this machine that does not run."""
    if enrolment.identity_url.rstrip("/") != kept_identity_url(place.data) or is_locked(place.data):
        return
    raise SystemUnreachable(NO_STACK_RUNS.format(data=place.data))


@asynccontextmanager
async def phonebook_of(place: Place) -> AsyncIterator[Phonebook]:
    """The phonebook without a connection, also beside a process that runs the terminal.

    Raises:
        NotEnrolled: there is no such terminal.
    """
    keep_log_quiet()
    folder, _ = place.enrolled()
    async with Terminal.phonebook_of(folder.path) as phonebook:
        yield phonebook


def keep_log_quiet() -> None:
    """Let the SDK's log tell of problems only, and on standard error."""
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR),
        # Asked for at each line, so that it goes to what standard error is then.
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
        cache_logger_on_first_use=False,
    )
    # A lost connection is no news: the terminal comes back by itself.
    for name in ("aio_pika", "aiormq", "mqtt"):
        logging.getLogger(name).setLevel(logging.CRITICAL)


def _waiting(*, shown: bool) -> AbstractContextManager[object]:
    screen = error_console()
    return screen.status(texts.WAITING) if shown and screen.is_terminal else nullcontext()
