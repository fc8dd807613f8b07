"""Joining a fact to what is known of its registration.

The join takes facts in any order and any number of times: what is known is never unsaid, of two
reports the later one counts, and a fact that contradicts is rejected by itself.
"""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final, TypeVar

from carrier_registry_service.domain.registration import (
    Beginning,
    Ending,
    Ref,
    Registration,
    StateAt,
    UsageAt,
)
from contactmesh.contracts.carrier.feed import Began, Ended, FeedEntry, StateSeen, UsageSeen
from contactmesh.contracts.carrier.records import EndReason
from contactmesh.contracts.errors import ErrorCode, Refusal, invalid_field

CLOCKS_DIFFER: Final = timedelta(minutes=5)
"""How far a carrier's clock may be ahead: what is of a later time has not happened yet.

A report from later would outlast all that follow, and a begin or an end would hold at once.
"""

_STAGES: Final = {EndReason.RECYCLED: 1, EndReason.ERASED: 2}
"""Ends come in stages: who left (0) may have the number given on, and be erased, later."""

Report = TypeVar("Report", StateAt, UsageAt)


def joined(known: Registration, entry: FeedEntry, now: datetime) -> Registration:
    """The registration with one more fact; the very same when the fact says nothing new.

    Raises:
        Refusal: `conflict`, the fact contradicts what is known; `invalid_argument`, it is of a time
            that has not come.
    """
    match entry:
        case Began():
            _check_time("/valid_from", entry.valid_from, now)
            return _with_beginning(known, entry)
        case Ended():
            _check_time("/valid_to", entry.valid_to, now)
            return _with_ending(known, entry)
        case StateSeen():
            _check_time("/at", entry.at, now)
            if known.closed:
                return known
            state = _later(known.state, StateAt(entry.state, milliseconds(entry.at)))
            return known if state == known.state else replace(known, state=state)
        case UsageSeen():
            _check_time("/at", entry.at, now)
            if known.closed:
                return known
            usage = _later(known.usage, UsageAt(entry.remaining, milliseconds(entry.at)))
            return known if usage == known.usage else replace(known, usage=usage)


def milliseconds(moment: datetime) -> datetime:
    """A moment as exactly as it is stored, so that a repeated fact equals the stored one."""
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def _with_beginning(known: Registration, entry: Began) -> Registration:
    told = Beginning(
        identity_id=entry.identity_id,
        msisdn=entry.msisdn,
        line_type=entry.line_type,
        valid_from=milliseconds(entry.valid_from),
        replaces=None if entry.replaces is None else Ref.of(entry.replaces),
    )
    if told.replaces == known.ref:
        raise invalid_field("/replaces", "a registration cannot replace itself")
    before = known.began
    if before is not None:
        # What it replaces may become known later than that it began, and is then kept.
        replaces = before.replaces or told.replaces
        if replace(before, replaces=replaces) != replace(
            told, replaces=told.replaces or before.replaces
        ):
            raise contradiction("It began otherwise; a sequence number is never given again.")
        told = replace(before, replaces=replaces)
    if any(ending.valid_to < told.valid_from for ending in known.endings):
        raise contradiction("It ended before it began.")
    return known if told == before else replace(known, began=told)


def _with_ending(known: Registration, entry: Ended) -> Registration:
    told = Ending(milliseconds(entry.valid_to), entry.reason)
    if known.began is not None and told.valid_to < known.began.valid_from:
        raise contradiction("It ended before it began.")
    for ending in known.endings:
        if _stage(ending) == _stage(told):
            if ending != told:
                raise contradiction("It ended otherwise.")
            return known
    endings = tuple(sorted((*known.endings, told), key=_stage))
    after = replace(known, endings=endings)
    if after.closed:
        after = replace(after, state=None, usage=None)
    return replace(after, description=None) if after.erased else after


def _stage(ending: Ending) -> int:
    return _STAGES.get(ending.reason, 0)


def _later(before: Report | None, told: Report) -> Report:
    """The later of two reports; of two at once always the same one, whichever came first."""
    if before is None or (told.at, told.value) > (before.at, before.value):
        return told
    return before


def _check_time(field: str, at: datetime, now: datetime) -> None:
    if at > now + CLOCKS_DIFFER:
        raise invalid_field(field, "more than five minutes ahead of the registry's clock")


def contradiction(why: str) -> Refusal:
    """The fact cannot be true together with what is known."""
    return Refusal(ErrorCode.CONFLICT, why)
