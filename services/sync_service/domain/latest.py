"""The policy `latest_wins`: the contact with the later update time wins whole (rows Y3, Y4)."""

from contactmesh.contracts.sync.records import ConflictKind, Outcome
from sync_service.domain.contents import Clash, contents_of
from sync_service.domain.documents import Entry
from sync_service.domain.sending import Sent
from sync_service.domain.verdicts import Verdict, applied, made_at


def later(stands: Entry, sent: Sent, *, alone: bool) -> Verdict:
    """What becomes of a change that others' changes have overtaken.

    Args:
        stands: the entry as it is.
        sent: the change; it says something else than what it was made from, and than what stands.
        alone: nobody else has written since this terminal synced: its changes are applied as they
            are.
    """
    made = applied(stands, sent)
    if alone:
        return Verdict(Outcome.APPLIED, made)
    if (stands.updated_at, stands.updated_by or stands.by) < (made_at(sent), sent.terminal_id):
        known = sent.terminal_id in (stands.by, *stands.same_by)
        lost = Clash(ConflictKind.WHOLE, stands.by, stands.rev, lost=stands.card)
        return Verdict(Outcome.APPLIED, made, clashes=() if known else (lost,))
    lost = Clash(ConflictKind.WHOLE, sent.terminal_id, lost=contents_of(sent.card))
    return Verdict(Outcome.SUPERSEDED, lost=made, clashes=(lost,))
