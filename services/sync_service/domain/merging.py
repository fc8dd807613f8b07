"""The policy `merge`: what two terminals edited is joined, field by field (row Y4, decision 20)."""

from dataclasses import dataclass, replace

from contactmesh.contacts import Card, Conflict, Merge, Side, changed_fields, merge
from contactmesh.contracts.sync.records import ConflictKind, Outcome
from sync_service.domain.contents import Clash, Made, card_of
from sync_service.domain.documents import Entry, Stamp, Version
from sync_service.domain.sending import Sent
from sync_service.domain.times import NOBODY, Changed
from sync_service.domain.verdicts import Verdict, applied, edited, later_of_both, made_at


def joined(stands: Entry, sent: Sent, was: Version | None) -> Verdict:
    """What becomes of a change that others' changes have overtaken.

    Args:
        stands: the entry as it is.
        sent: the change; it says something else than what it was made from, and than what stands.
        was: where the entry is deleted, its contents before.
    """
    if sent.card is None:
        verdict = _deletes(stands, sent)
    elif stands.deleted:
        verdict = _brings_back(stands, sent, sent.card, was)
    else:
        verdict = _edits(stands, sent, sent.card)
    if verdict.clashes:
        verdict = replace(verdict, outcome=Outcome.CONFLICT)
    if any(clash.lost_rev is None for clash in verdict.clashes):
        times = edited({}, ("",), sent)
        lost = Made(sent.card, made_at(sent), times, sent.digest, sent.digest)
        verdict = replace(verdict, lost=lost)
    return verdict


def _deletes(stands: Entry, sent: Sent) -> Verdict:
    if sent.base is not None and sent.base.digest == stands.digest:
        return Verdict(Outcome.APPLIED, applied(stands, sent))
    return Verdict(Outcome.CONFLICT, clashes=(Clash(ConflictKind.DELETION, sent.terminal_id),))


def _edits(stands: Entry, sent: Sent, card: Card) -> Verdict:
    joint = _join(stands, sent, card)
    digest = joint.made.digest
    if digest == stands.digest:
        timed = replace(stands, times=joint.made.times)
        return Verdict(Outcome.MERGED, clashes=joint.clashes, timed=timed)
    outcome = Outcome.APPLIED if digest == sent.digest else Outcome.MERGED
    return Verdict(outcome, joint.made, clashes=joint.clashes)


def _brings_back(stands: Entry, sent: Sent, card: Card, was: Version | None) -> Verdict:
    """An edit that the deleter had not seen stands; one that adds nothing to what was deleted not.

    It is joined with what was deleted, as if it had arrived before the deletion.
    """
    deletion = Clash(ConflictKind.DELETION, stands.by, stands.rev)
    if sent.base is None or was is None:
        return Verdict(Outcome.CONFLICT, applied(stands, sent), clashes=(deletion,))
    joint = _join(was, sent, card)
    if joint.made.digest == was.digest:
        return Verdict(Outcome.SUPERSEDED, clashes=joint.clashes)
    return Verdict(Outcome.CONFLICT, joint.made, clashes=(deletion, *joint.clashes))


@dataclass(frozen=True, slots=True)
class _Joint:
    made: Made
    clashes: tuple[Clash, ...]


def _join(there: Entry | Version, sent: Sent, card: Card) -> _Joint:
    """Join what was sent with what is there; of the same field the later one is taken."""
    seen = Changed({} if sent.base is None else sent.base.times)
    changed = Changed(there.times)

    def prefer(path: str) -> Side:
        before = changed.at(path)
        ours = Stamp(seen.following(sent.updated_at, path), sent.terminal_id)
        return "theirs" if before is None or before < ours else "mine"

    base = None if sent.base is None else sent.base.card
    old = card_of(there.card)
    merged = merge(base, old, card, prefer=prefer)
    alike = [taken.path for taken in merged.taken if taken.source == "both"]
    times = edited(there.times, changed_fields(old, merged.card), sent)
    made = Made(
        merged.card,
        max(there.updated_at, made_at(sent)),
        later_of_both(times, alike, sent),
        sent.digest,
    )
    return _Joint(made, _clashes(merged, there, changed, sent))


def _clashes(
    merged: Merge, there: Entry | Version, changed: Changed, sent: Sent
) -> tuple[Clash, ...]:
    found = (_clash(conflict, there, changed, sent) for conflict in merged.conflicts)
    return tuple(clash for clash in found if clash is not None)


def _clash(
    conflict: Conflict, there: Entry | Version, changed: Changed, sent: Sent
) -> Clash | None:
    path = conflict.path
    if conflict.winner == "mine":
        return Clash(
            ConflictKind.FIELD, sent.terminal_id, None, path, conflict.mine, conflict.theirs
        )
    stamp = changed.at(path)
    author = there.by if stamp is None else stamp.terminal_id
    if author == NOBODY:
        author = there.by
    elif author == sent.terminal_id:
        # It knows what it overwrites: the reply to its earlier change was lost.
        return None
    return Clash(ConflictKind.FIELD, author, there.rev, path, conflict.theirs, conflict.mine)
