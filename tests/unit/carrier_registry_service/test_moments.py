"""Times in messages: bounded, so that each can be stored, and kept in UTC."""

from datetime import UTC, datetime

import pytest
from pydantic import TypeAdapter, ValidationError

from contactmesh.contracts.carrier.access import ListLooks
from contactmesh.contracts.carrier.feed import FeedEntry
from contactmesh.contracts.carrier.records import EARLIEST, LATEST

ENTRIES = [
    {"fact": "began", "identity_id": "lin", "msisdn": "+8613800000001", "valid_from": None},
    {"fact": "ended", "reason": "cancelled", "valid_to": None},
    {"fact": "state", "state": "busy", "at": None},
    {"fact": "usage", "remaining": "<1GiB", "at": None},
]
ODD = [
    "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59-14:00",
    "1899-12-31T23:59:59Z",
    "2200-01-01T00:00:01Z",
    "2026-01-01T00:00:00",
]


@pytest.mark.parametrize("text", ODD)
def test_a_time_out_of_bounds_or_without_an_offset_is_refused(text: str) -> None:
    with pytest.raises(ValidationError):
        ListLooks.model_validate({"before": text})
    for entry in ENTRIES:
        sent = {key: text if value is None else value for key, value in entry.items()}
        with pytest.raises(ValidationError):
            TypeAdapter(FeedEntry).validate_python({"registration_seq": "1", **sent})


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-01-01T08:00:00+08:00", datetime(2026, 1, 1, tzinfo=UTC)),
        ("1900-01-01T00:00:00Z", EARLIEST),
        ("2200-01-01T00:00:00Z", LATEST),
    ],
)
def test_a_time_is_kept_in_utc(text: str, moment: datetime) -> None:
    before = ListLooks.model_validate({"before": text}).before
    assert before == moment
    assert before is not None
    assert before.tzinfo is UTC
