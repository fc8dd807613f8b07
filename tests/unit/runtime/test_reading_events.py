"""Events that cannot be read: parked with a reason that quotes nothing of what was sent."""

import json
from typing import ClassVar

import pytest
from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from contactmesh.contracts.errors import invalid_fields
from contactmesh.contracts.group.events import GroupCreated
from contactmesh.messaging.message import Delivery
from contactmesh.runtime.events import read_events

NUMBER = "+8613900000077"
KINDS = {GroupCreated.TYPE: GroupCreated}


def _reason(delivery: Delivery) -> str:
    events, (parked,) = read_events("tests", [delivery], KINDS)
    assert not events
    return parked.reason


def _delivery(**attributes: object) -> Delivery:
    envelope = {"specversion": "1.0", "id": "e", "source": "/t", "time": "2026-11-30T08:15:00Z"}
    return Delivery(json.dumps({**envelope, **attributes}).encode(), "key", "m")


def test_what_was_let_go_of_for_its_size_is_told_as_that() -> None:
    gone = Delivery(b"", "key", "m", too_large=5_000_000)
    assert _reason(gone) == "too_large: 5000000 bytes, of which nothing was kept"


@pytest.mark.parametrize(
    ("delivery", "reason"),
    [
        (_delivery(type="group.created", data={"group_id": NUMBER}), "/data/group_id "),
        (_delivery(type="group.created", data={NUMBER: 1}), "/data/group_id missing"),
        (_delivery(type="group.created"), "/data/group_id missing"),
        (_delivery(type="group.sung"), "/type unknown event group.sung"),
        (_delivery(type=f"group {NUMBER}"), "/type"),
    ],
)
def test_a_reason_names_outer_fields_and_codes(delivery: Delivery, reason: str) -> None:
    told = _reason(delivery)
    assert told.startswith("invalid_argument: ")
    assert reason in told
    assert "+86" not in told


class Strict(BaseModel):
    """A model whose errors quote what they are about, in paths and in words."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    phones: dict[str, int]

    @field_validator("phones")
    @classmethod
    def _check(cls, phones: dict[str, int]) -> dict[str, int]:
        raise ValueError(f"not {phones}")


@pytest.mark.parametrize("data", [{NUMBER: 1}, {"phones": {NUMBER: "x"}}, {"phones": {NUMBER: 1}}])
def test_the_sender_is_told_where_and_what_and_logs_only_roughly(data: object) -> None:
    with pytest.raises(ValidationError) as caught:
        Strict.model_validate(data)
    refusal = invalid_fields(caught.value, at=("data",))
    assert NUMBER in str(refusal.body.details["fields"])
    for text in (refusal.reason, str(refusal), refusal.body.message):
        assert "+86" not in text
    assert refusal.reason.startswith("invalid_argument: /data")
