"""How a number's state and usage are shown (row C5, notes A.3): always with their time."""

from collections.abc import Iterable, Mapping
from typing import Final

from carrier_registry_service.domain.access import Access
from carrier_registry_service.domain.registration import Registration
from contactmesh.contracts.carrier.check import LineStatus
from contactmesh.contracts.carrier.records import (
    NetworkState,
    ShownState,
    StateReport,
    UsageReport,
)

SHOWN: Final[Mapping[NetworkState, ShownState]] = {
    NetworkState.POWERED_OFF: ShownState.UNREACHABLE,
    NetworkState.NO_SERVICE: ShownState.UNREACHABLE,
    NetworkState.NO_PAGING_RESPONSE: ShownState.UNREACHABLE,
    NetworkState.SUSPENDED: ShownState.UNREACHABLE,
    NetworkState.IN_CALL: ShownState.IN_CALL,
    NetworkState.BUSY: ShownState.BUSY,
    NetworkState.ONLINE_DATA: ShownState.ONLINE,
    NetworkState.ONLINE_SMS_ONLY: ShownState.SMS_ONLY,
    NetworkState.UNKNOWN: ShownState.UNKNOWN,
}


def state_of(registration: Registration) -> StateReport | None:
    """What others are shown of a number's state."""
    seen = registration.state
    if seen is None:
        return None
    return StateReport(state=SHOWN[seen.value], last_status_time=seen.at)


def usage_of(registration: Registration) -> UsageReport | None:
    """What is left of a number's plan."""
    seen = registration.usage
    if seen is None:
        return None
    return UsageReport(remaining=seen.value, last_status_time=seen.at)


def statuses(live: Iterable[Registration], access: Access) -> tuple[LineStatus, ...]:
    """State and usage of the live numbers, each as far as it was granted and is known."""
    found = (
        LineStatus(
            ref=one.ref.shown(),
            state=state_of(one) if access.state else None,
            usage=usage_of(one) if access.usage else None,
        )
        for one in live
    )
    return tuple(one for one in found if one.state is not None or one.usage is not None)
