"""What becomes of one change, before anything is written."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from contactmesh.contacts import changed_fields
from contactmesh.contracts.sync.records import Outcome, Reason
from sync_service.domain.contents import Clash, Made, card_of
from sync_service.domain.documents import Entry, Stamp, Times
from sync_service.domain.sending import Sent
from sync_service.domain.times import Changed, stamped


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of a change.

    Attributes:
        made: what the entry is to say, none where it stays as it is.
        lost: what is kept in the history because it does not stand.
        timed: the entry as it stands, where nothing of it changes but its times.
    """

    outcome: Outcome
    made: Made | None = None
    lost: Made | None = None
    clashes: tuple[Clash, ...] = ()
    timed: Entry | None = None


def new(sent: Sent) -> Verdict:
    """What becomes of a change of an entry that is not there: it is made, or stays away."""
    if sent.card is None:
        return Verdict(Outcome.SAME)
    return Verdict(Outcome.APPLIED, applied(None, sent))


def plain(stands: Entry, sent: Sent, *, lost: Outcome) -> Verdict | None:
    """What becomes of a change that meets nothing else, by either policy; none where it does.

    What is the same stays as it is; what was sent before is known; what says nothing new is not
    written; and what was made from what stands is applied.

    Args:
        stands: the entry as it is.
        sent: the change.
        lost: what became of it, where it was sent before and has lost.
    """
    if sent.digest == stands.digest:
        return Verdict(Outcome.SAME, timed=_later(stands, sent))
    if sent.again is Reason.LOST:
        return Verdict(lost)
    if sent.again is not None or not sent.edits:
        return Verdict(Outcome.SUPERSEDED if stands.deleted else Outcome.MERGED)
    if sent.base is None:
        # An entry that was made here and deleted elsewhere, and is sent again as it was.
        gone = stands.deleted and sent.digest == stands.was_digest
        return Verdict(Outcome.SUPERSEDED) if gone else None
    if sent.base.rev == stands.rev:
        return Verdict(Outcome.APPLIED, applied(stands, sent))
    return None


def applied(stands: Entry | None, sent: Sent) -> Made:
    """The contents as they were sent, in the place of what stands."""
    if sent.card is None:
        return Made(None, made_at(sent), {}, sent.digest)
    old = None if stands is None else card_of(stands.card)
    before: Times = {} if stands is None else stands.times
    paths = ("",) if old is None else changed_fields(old, sent.card)
    times = edited(before, paths, sent)
    return Made(sent.card, made_at(sent), times, sent.digest, sent.digest)


def edited(times: Times, paths: Iterable[str], sent: Sent) -> dict[str, Stamp]:
    """The times of fields with those of this change."""
    seen: Times = {} if sent.base is None else sent.base.times
    return stamped(times, paths, seen, at=sent.updated_at, terminal_id=sent.terminal_id)


def made_at(sent: Sent) -> int:
    """When what was sent was made: later than what it was made from, by whatever clock."""
    return sent.updated_at if sent.base is None else max(sent.updated_at, sent.base.updated_at + 1)


def later_of_both(times: Times, paths: Iterable[str], sent: Sent) -> dict[str, Stamp]:
    """The times of fields that what stands and what was sent have changed alike: the later ones."""
    found, changed = dict(times), Changed(times)
    for path, stamp in edited({}, paths, sent).items():
        before = changed.at(path)
        if before is not None and before < stamp:
            found[path] = stamp
    return found


def _later(stands: Entry, sent: Sent) -> Entry:
    """What stands, and was sent too: it counts from the later one."""
    if not sent.edits:
        return stands
    before = (stands.updated_at, stands.updated_by or stands.by)
    updated_at, updated_by = max(before, (made_at(sent), sent.terminal_id))
    same_by = stands.same_by
    first = sent.terminal_id == stands.by and stands.sent == stands.digest
    if not first and sent.terminal_id not in same_by:
        same_by = (*same_by, sent.terminal_id)
    times = stands.times
    if sent.card is not None:
        old = None if sent.base is None else sent.base.card
        paths = ("",) if old is None else changed_fields(old, sent.card)
        times = later_of_both(times, (path for path in paths if path in times), sent)
    return replace(
        stands,
        updated_at=updated_at,
        updated_by=None if updated_by == stands.by else updated_by,
        same_by=same_by,
        times=times,
    )
