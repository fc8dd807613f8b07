"""One stack at a time on a data folder."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from contactmesh.local import texts
from contactmesh.local.errors import StackRunsAlreadyError

# Somebody who only asks holds the lock for an instant; a stack holds it for as long as it runs.
_PATIENCE_SECONDS = 0.5
_POLL_SECONDS = 0.02


@contextmanager
def stack_lock(data: Path) -> Iterator[None]:
    """Keep other stacks off the folder ``data``; the kernel lets go when this process dies.

    Raises:
        StackRunsAlreadyError: A stack runs there.
    """
    file = _open(data)
    try:
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while not _locks(file, fcntl.LOCK_EX):
            if time.monotonic() > deadline:
                raise StackRunsAlreadyError(texts.STACK_RUNS_ALREADY.format(data=data))
            time.sleep(_POLL_SECONDS)
        yield
    finally:
        os.close(file)


def is_locked(data: Path) -> bool:
    """Tell whether a stack runs on the folder ``data``."""
    try:
        file = _open(data)
    except FileNotFoundError:
        return False
    try:
        return not _locks(file, fcntl.LOCK_SH)
    finally:
        os.close(file)


def _open(data: Path) -> int:
    return os.open(data / "lock", os.O_RDWR | os.O_CREAT, 0o600)


def _locks(file: int, kind: int) -> bool:
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
