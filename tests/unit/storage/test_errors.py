"""What the database's refusals are taken for: a fault of the message, or a matter of waiting."""

import pytest
from pymongo.errors import BulkWriteError, OperationFailure, PyMongoError, WTimeoutError

from contactmesh.storage.errors import Contended, DatabaseUnavailable, StaleState, told_plainly

COMMIT_UNKNOWN = {"errorLabels": ["UnknownTransactionCommitResult"]}


def _told(error: PyMongoError) -> type[BaseException]:
    with pytest.raises(Exception) as caught, told_plainly():  # noqa: PT011 - which one is asked
        raise error
    return caught.type


def _bulk(*codes: int, unconfirmed: bool = False) -> BulkWriteError:
    return BulkWriteError(
        {
            "writeErrors": [{"code": code} for code in codes],
            "writeConcernErrors": [{"code": 64}] if unconfirmed else [],
        }
    )


@pytest.mark.parametrize(
    "error",
    [
        OperationFailure("not authorized", 13),
        OperationFailure("authentication failed", 18),
        OperationFailure("disk full", 14_031),
        OperationFailure("no majority", 100),
        OperationFailure("who knows", 1, COMMIT_UNKNOWN),
        WTimeoutError("waiting for replication timed out", 64),
        _bulk(14_031),
        _bulk(11_000, 13),
        _bulk(unconfirmed=True),
    ],
)
def test_what_is_not_the_messages_fault_is_waited_for(error: PyMongoError) -> None:
    assert _told(error) is DatabaseUnavailable


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (_bulk(11_000), StaleState),
        (_bulk(11_000, unconfirmed=True), StaleState),
        (_bulk(11_000, 112), Contended),
        (OperationFailure("write conflict", 112), Contended),
        (OperationFailure("document too large", 10_334), OperationFailure),
        (_bulk(2), BulkWriteError),
    ],
)
def test_what_is_not_a_matter_of_waiting_stays_what_it_is(
    error: PyMongoError, kind: type[Exception]
) -> None:
    assert _told(error) is kind
