"""What line events say of how numbers came about."""

from tests.unit.carrier_registry_service.registry import ONE, TWO, Registry, began, ended

from contactmesh.contracts.carrier.records import EndReason


def told(registry: Registry) -> list[tuple[str | None, str | None]]:
    """What followed what, in the latest event."""
    event = registry.line_events()[-1]
    return [
        (
            None if line.before is None else str(line.before.ref),
            None if line.after is None else str(line.after.ref),
        )
        for line in event.lines
    ]


def test_a_number_that_is_named_later_follows_the_one_that_was_withdrawn_first() -> None:
    registry = Registry()
    registry.feed(began("cn-mobile:1", ONE, 0))
    registry.feed(ended("cn-mobile:1", 5, EndReason.PORTED_OUT))
    assert told(registry) == [("cn-mobile:1", None)]
    registry.feed(began("cn-unicom:7", TWO, 5, replaces="cn-mobile:1"))
    assert told(registry) == [("cn-mobile:1", "cn-unicom:7")]


def test_a_number_that_was_told_of_as_new_follows_what_turns_out_to_have_been_before() -> None:
    registry = Registry()
    registry.feed(began("cn-unicom:7", TWO, 5, replaces="cn-mobile:1"))
    assert told(registry) == [(None, "cn-unicom:7")]
    registry.feed(ended("cn-mobile:1", 5, EndReason.PORTED_OUT), began("cn-mobile:1", ONE, 0))
    assert told(registry) == [("cn-mobile:1", "cn-unicom:7")]


def test_a_number_that_follows_nothing_is_new() -> None:
    registry = Registry()
    registry.feed(began("cn-mobile:1", ONE, 0))
    registry.feed(began("cn-unicom:7", TWO, 5))
    assert told(registry) == [(None, "cn-unicom:7")]
