"""One simulated carrier as a backend: it knows what has happened up to its present moment."""

from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from contactmesh.carriers.backend import (
    Changes,
    Connectivity,
    NumberUnknown,
    QuestionRefused,
    Reachability,
    SimChange,
    Tenure,
    VolumeLeft,
)
from contactmesh.carriers.simulator.happenings import Fact
from contactmesh.contracts.carrier.feed import Began, Ended, FeedEntry, StateSeen, UsageSeen
from contactmesh.contracts.carrier.records import NetworkState, RegistrationRef

MONITORED_DAYS: Final = 120
"""How far back it watches SIM changes."""
RECYCLING_DAYS: Final = 2000
"""How far back it tells whether a number was given on."""
_CONNECTIVITY: Final = {
    NetworkState.ONLINE_DATA: frozenset({Connectivity.DATA, Connectivity.SMS}),
    NetworkState.ONLINE_SMS_ONLY: frozenset({Connectivity.SMS}),
    NetworkState.IN_CALL: frozenset({Connectivity.DATA, Connectivity.SMS}),
    NetworkState.BUSY: frozenset({Connectivity.DATA, Connectivity.SMS}),
}


class SimulatedCarrier:
    """A carrier that lives from facts.

    Args:
        carrier_id: which one.
        facts: what happens at any carrier; the others' is not its business.

    Attributes:
        now: its present moment; it knows nothing of what comes after. The first fact's to begin
            with.
    """

    def __init__(self, carrier_id: str, facts: Iterable[tuple[datetime, Fact]]) -> None:
        self._carrier_id = carrier_id
        self._facts = [(at, fact.entry) for at, fact in facts if fact.carrier_id == carrier_id]
        self.now = self._facts[0][0] if self._facts else datetime.min.replace(tzinfo=UTC)

    @property
    def carrier_id(self) -> str:
        """Which carrier it is."""
        return self._carrier_id

    async def changes(self, cursor: str | None, limit: int) -> Changes:
        """Its facts after the first `cursor` ones."""
        begin = 0 if cursor is None else int(cursor)
        known = self._known()
        end = min(begin + limit, len(known))
        return Changes(tuple(known[begin:end]), str(end), has_more=end < len(known))

    async def live(self, after: str | None, limit: int) -> tuple[Tenure, ...]:
        """Who has a number here now, in the order of the numbers."""
        over = self._over()
        live = [
            Tenure(self._ref(entry), entry.identity_id, entry.msisdn, entry.valid_from)
            for entry in self._known()
            if isinstance(entry, Began)
            and entry.registration_seq not in over
            and entry.msisdn > (after or "")
        ]
        return tuple(sorted(live, key=lambda tenure: tenure.number)[:limit])

    async def tenures(self, number: str) -> tuple[Tenure, ...]:
        """Who has had a number here, the latest last."""
        return tuple(
            Tenure(self._ref(began), began.identity_id, number, began.valid_from)
            for began in self._begun(number)
        )

    async def reachability(self, number: str) -> Reachability:
        """Whether a number can be reached.

        Raises:
            NumberUnknown: nobody has it here.
            QuestionRefused: the network has not seen it yet.
        """
        seq = self._live(number).registration_seq
        seen = [
            entry
            for entry in self._known()
            if isinstance(entry, StateSeen) and entry.registration_seq == seq
        ]
        if not seen or seen[-1].state is NetworkState.UNKNOWN:
            raise QuestionRefused("SERVICE_NOT_APPLICABLE")
        connectivity = _CONNECTIVITY.get(seen[-1].state, frozenset())
        return Reachability(bool(connectivity), connectivity, seen[-1].at)

    async def latest_sim_change(self, number: str) -> SimChange:
        """When the same person's number came onto another card here.

        Raises:
            NumberUnknown: nobody has it here.
        """
        live = self._live(number)
        begun = [each for each in self._begun(number) if each.identity_id == live.identity_id]
        changed = [each.valid_from for each in begun if self._continues(each, begun)]
        watched = [at for at in changed if self.now - at <= timedelta(days=MONITORED_DAYS)]
        return SimChange(watched[-1] if watched else None, MONITORED_DAYS)

    async def recycled(self, number: str, since: date) -> bool:
        """Whether a number belongs to somebody else than on a day.

        Raises:
            NumberUnknown: nobody has it here.
            QuestionRefused: the day is too long ago, or has not come.
        """
        live = self._live(number)
        today = self.now.date()
        if not today - timedelta(days=RECYCLING_DAYS) <= since <= today:
            raise QuestionRefused("OUT_OF_RANGE")
        day_over = datetime.combine(since + timedelta(days=1), time(), UTC)
        before = [each for each in self._begun(number) if each.valid_from < day_over]
        return not before or before[-1].identity_id != live.identity_id

    async def data_volume(self, number: str) -> VolumeLeft:
        """What is left of a number's plan.

        Raises:
            NumberUnknown: nobody has it here.
            QuestionRefused: nothing is known of its plan yet.
        """
        seq = self._live(number).registration_seq
        seen = [
            entry
            for entry in self._known()
            if isinstance(entry, UsageSeen) and entry.registration_seq == seq
        ]
        if not seen:
            raise QuestionRefused("SERVICE_NOT_APPLICABLE")
        return VolumeLeft(seen[-1].remaining, seen[-1].at)

    def _known(self) -> list[FeedEntry]:
        return [entry for at, entry in self._facts if at <= self.now]

    def _begun(self, number: str) -> list[Began]:
        return [
            entry for entry in self._known() if isinstance(entry, Began) and entry.msisdn == number
        ]

    def _over(self) -> set[str]:
        return {entry.registration_seq for entry in self._known() if isinstance(entry, Ended)}

    def _live(self, number: str) -> Began:
        over = self._over()
        live = [each for each in self._begun(number) if each.registration_seq not in over]
        if not live:
            raise NumberUnknown("Nobody has this number at this carrier.")
        return live[-1]

    def _continues(self, began: Began, begun: list[Began]) -> bool:
        return began.replaces in {self._ref(each) for each in begun}

    def _ref(self, began: Began) -> RegistrationRef:
        return RegistrationRef(carrier_id=self._carrier_id, registration_seq=began.registration_seq)
