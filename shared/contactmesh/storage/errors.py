"""The ways in which the database says no."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from pymongo.errors import (
    AutoReconnect,
    BulkWriteError,
    ConnectionFailure,
    DuplicateKeyError,
    ExecutionTimeout,
    OperationFailure,
    PyMongoError,
    WaitQueueTimeoutError,
)

DUPLICATE_KEY: Final = 11_000
WRITE_CONFLICT: Final = 112


class DatabaseUnavailable(Exception):
    """The database cannot be reached or does not answer. Try again later."""


class StaleState(Exception):
    """What a decision was based on has changed meanwhile, or was decided already. Load again."""


class Contended(StaleState):
    """Another transaction holds what this one needs, and has not ended yet.

    Mostly it ends in a moment. That of a process that was killed ends when the database gives it
    up, which takes MongoDB up to a minute.
    """


@contextmanager
def told_plainly() -> Iterator[None]:
    """Turn the driver's errors into ours; any other is a fault of the program and passes."""
    try:
        yield
    except DuplicateKeyError as error:
        raise StaleState("a document with this id is there already") from error
    except BulkWriteError as error:
        codes = {item.get("code") for item in error.details.get("writeErrors", [])}
        if codes == {DUPLICATE_KEY}:
            raise StaleState("a document is there already") from error
        if codes and codes <= {DUPLICATE_KEY, WRITE_CONFLICT}:
            raise Contended("another transaction was faster") from error
        raise
    except (AutoReconnect, ConnectionFailure, ExecutionTimeout, WaitQueueTimeoutError) as error:
        raise DatabaseUnavailable(f"The database is away: {type(error).__name__}.") from error
    except OperationFailure as error:
        if error.code == WRITE_CONFLICT or error.has_error_label("TransientTransactionError"):
            raise Contended("another transaction was faster") from error
        raise
    except PyMongoError as error:
        if error.has_error_label("TransientTransactionError"):
            raise DatabaseUnavailable("The database broke off a transaction.") from error
        raise
