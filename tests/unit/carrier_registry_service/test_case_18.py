"""Case 18: a number that its prefix says nothing about, and then belongs to somebody else."""

import pytest
from tests.unit.carrier_registry_service.registry import (
    BO,
    LIN,
    ONE,
    Registry,
    began,
    ended,
    summary,
)

from contactmesh.contracts.carrier.check import ChangeCode, Checked
from contactmesh.contracts.carrier.events import RegistrationRecycled
from contactmesh.contracts.carrier.records import EndReason


@pytest.mark.claim("C2+")
def test_a_number_is_ported_and_back_then_ends_and_is_given_to_somebody_else() -> None:
    registry = Registry()
    registry.shares(LIN, BO)

    def told(known: str) -> list[tuple[ChangeCode, str | None, str | None]]:
        answer = registry.ask(BO, known).answer
        assert isinstance(answer, Checked)
        return [summary(change) for change in answer.changes]

    # 138 is a range of cn-mobile's; the registry, not the prefix, says who the carrier is.
    registry.feed(began("cn-mobile:1", ONE, 0))
    assert told("cn-mobile:1") == [(ChangeCode.UNCHANGED, "cn-mobile:1", "cn-mobile:1")]

    registry.feed(
        began("cn-unicom:5", ONE, 10, replaces="cn-mobile:1"),
        ended("cn-mobile:1", 10, EndReason.PORTED_OUT),
    )
    assert told("cn-mobile:1") == [(ChangeCode.CARRIER_CHANGED, "cn-mobile:1", "cn-unicom:5")]
    assert told("cn-unicom:5") == [(ChangeCode.UNCHANGED, "cn-unicom:5", "cn-unicom:5")]
    (line,) = registry.check("cn-unicom:5").lines
    assert line.ported

    registry.feed(
        ended("cn-unicom:5", 20, EndReason.PORTED_OUT),
        began("cn-mobile:2", ONE, 20, replaces="cn-unicom:5"),
    )
    assert told("cn-unicom:5") == [(ChangeCode.CARRIER_CHANGED, "cn-unicom:5", "cn-mobile:2")]
    assert told("cn-mobile:1") == [(ChangeCode.UNCHANGED, "cn-mobile:1", "cn-mobile:2")]
    (line,) = registry.check("cn-mobile:2").lines
    assert not line.ported, "it is back where it came from"

    registry.feed(ended("cn-mobile:2", 30))
    assert told("cn-mobile:2") == [(ChangeCode.NUMBER_WITHDRAWN, "cn-mobile:2", None)]

    registry.feed(
        ended("cn-mobile:2", 120, EndReason.RECYCLED), began("cn-mobile:3", ONE, 120, who="mei")
    )
    for known in ("cn-mobile:1", "cn-unicom:5", "cn-mobile:2"):
        assert told(known) == [(ChangeCode.NUMBER_WITHDRAWN, known, None)]
    answer = registry.ask(BO, numbers=[ONE]).answer
    assert isinstance(answer, Checked)
    assert [change.line for change in answer.changes] == [None]
    assert answer.lines == ()
    assert registry.live("mei") == {"cn-mobile:3": ONE}
    assert [one for one in registry.told if isinstance(one, RegistrationRecycled)] != []
    assert {event.owner_id for event in registry.line_events()} == {LIN, "mei"}
