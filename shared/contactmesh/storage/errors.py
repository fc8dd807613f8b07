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
    WriteConcernError,
)

DUPLICATE_KEY: Final = 11_000
WRITE_CONFLICT: Final = 112
NOT_NOW: Final = frozenset(
    {
        11,  # UserNotFound
        13,  # Unauthorized
        18,  # AuthenticationFailed
        24,  # LockTimeout
        46,  # LockBusy
        50,  # MaxTimeMSExpired
        64,  # WriteConcernTimeout
        79,  # UnknownReplWriteConcern
        100,  # UnsatisfiableWriteConcern
        133,  # FailedToSatisfyReadPreference
        134,  # ReadConcernMajorityNotAvailableYet
        202,  # NetworkInterfaceExceededTimeLimit
        262,  # ExceededTimeLimit
        365,  # TemporarilyUnavailable
        391,  # ReauthenticationRequired
        14_031,  # OutOfDiskSpace
    }
)
"""Codes that say something about the state of the database and nothing about what it was told.

An account that is not allowed is one of them: a member that has just taken over may not know it
yet, and if the settings are wrong, then they are so for every message alike.
"""


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
        unconfirmed = error.details.get("writeConcernErrors") and not codes
        if unconfirmed or codes & NOT_NOW:
            raise DatabaseUnavailable("The database cannot write now.") from error
        raise
    except (
        AutoReconnect,
        ConnectionFailure,
        ExecutionTimeout,
        WaitQueueTimeoutError,
        WriteConcernError,
    ) as error:
        raise DatabaseUnavailable(f"The database is away: {type(error).__name__}.") from error
    except OperationFailure as error:
        if error.code in NOT_NOW or error.has_error_label("UnknownTransactionCommitResult"):
            raise DatabaseUnavailable(f"The database says not now: code {error.code}.") from error
        if error.code == WRITE_CONFLICT or error.has_error_label("TransientTransactionError"):
            raise Contended("another transaction was faster") from error
        raise
    except PyMongoError as error:
        if error.has_error_label("TransientTransactionError"):
            raise DatabaseUnavailable("The database broke off a transaction.") from error
        raise
