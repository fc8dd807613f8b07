"""What a carrier answers or notifies, as feed entries."""

from datetime import datetime

from contactmesh.carriers.backend import Connectivity, Reachability, Tenure, VolumeLeft
from contactmesh.carriers.camara.shapes import EventType
from contactmesh.contracts.carrier.feed import Began, Ended, FeedEntry, StateSeen, UsageSeen
from contactmesh.contracts.carrier.records import EndReason, NetworkState

STATE_OF_EVENT = {
    EventType.REACHABILITY_DATA: NetworkState.ONLINE_DATA,
    EventType.REACHABILITY_SMS: NetworkState.ONLINE_SMS_ONLY,
    # Nor here does it say whether the phone is off or out of reach; viewers are shown the same.
    EventType.REACHABILITY_DISCONNECTED: NetworkState.NO_SERVICE,
}


def network_state(answer: Reachability) -> NetworkState:
    """A reachability in the registry's terms; CAMARA does not tell who is in a call or busy."""
    if not answer.reachable:
        return NetworkState.NO_SERVICE
    if answer.connectivity == {Connectivity.SMS}:
        return NetworkState.ONLINE_SMS_ONLY
    return NetworkState.ONLINE_DATA


def state_seen(tenure: Tenure, state: NetworkState, at: datetime) -> StateSeen:
    """A state of whoever has the number."""
    return StateSeen(registration_seq=tenure.ref.registration_seq, state=state, at=at)


def usage_seen(tenure: Tenure, left: VolumeLeft) -> UsageSeen:
    """What is left of the plan of whoever has the number."""
    return UsageSeen(
        registration_seq=tenure.ref.registration_seq,
        remaining=left.remaining,
        at=left.last_status_time,
    )


def given_on(before: Tenure, now: Tenure) -> Ended:
    """A number was given to somebody else."""
    return Ended(
        registration_seq=before.ref.registration_seq,
        valid_to=now.began_at,
        reason=EndReason.RECYCLED,
    )


def sim_changed(tenures: tuple[Tenure, ...]) -> tuple[FeedEntry, ...]:
    """The same person's number came onto another card, if the books have it as a new tenure."""
    if len(tenures) < 2 or tenures[-2].identity_id != tenures[-1].identity_id:
        return ()
    before, now = tenures[-2:]
    return (
        Ended(
            registration_seq=before.ref.registration_seq,
            valid_to=now.began_at,
            reason=EndReason.REPLACED,
        ),
        Began(
            registration_seq=now.ref.registration_seq,
            identity_id=now.identity_id,
            msisdn=now.number,
            valid_from=now.began_at,
            replaces=before.ref,
        ),
    )
