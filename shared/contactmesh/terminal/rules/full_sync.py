"""The full sync: a listing of the book against the entries here (row Y6).

Nothing that is the same on both sides is sent or fetched, nothing that was changed here is
overwritten or deleted, and what the server's database has lost is sent again.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from contactmesh.terminal.rules.syncing import Known, mark


@dataclass(frozen=True, slots=True)
class Here:
    """An entry as this terminal has it.

    Attributes:
        known: what the server last said of it.
        digest: of its contents here, none if it was deleted here.
    """

    known: Known
    digest: str | None


@dataclass(frozen=True, slots=True)
class Listed:
    """An entry as the server lists it; without `digest` it was deleted, perhaps `erased`."""

    rev: int
    digest: str | None
    erased: bool = False


@dataclass(slots=True)
class Plan:
    """What a listing makes of the entries here.

    Attributes:
        known: what the server is known to say from now on, by uid, where that is something else.
            Whether the entry is marked follows from it.
        delete: entries that the server deleted, and that go here too.
        forget: entries that neither side has any more.
        adopt: the server's uids, by that of an entry here that is the same and was never synced.
        fetch: the uids of what is to be fetched.
        doubted: the revisions, by uid, of what another terminal may have changed without what is
            here: where a restored database has lost it. What it remembers is to be fetched.
    """

    known: dict[str, Known] = field(default_factory=dict)
    delete: list[str] = field(default_factory=list)
    forget: list[str] = field(default_factory=list)
    adopt: dict[str, str] = field(default_factory=dict)
    fetch: list[str] = field(default_factory=list)
    doubted: dict[str, int] = field(default_factory=dict)


def compare(
    here: Mapping[str, Here],
    listed: Mapping[str, Listed],
    since: int,
    *,
    restored: bool = False,
) -> Plan:
    """Compare the entries here with a whole listing.

    Args:
        here: the entries of this terminal by uid, also those deleted here.
        listed: the server's entries by uid.
        since: of an entry that is not listed, the latest revision with which it was deleted long
            ago; with a later one it was lost, and is sent again.
        restored: whether the server's database is known to have been restored.
    """
    plan = Plan()
    for uid, entry in sorted(here.items()):
        if uid in listed:
            _listed(plan, uid, entry, listed[uid], restored=restored)
        else:
            # Only a terminal that has seen the last deletions finds out that a database was
            # restored: what is not listed then was lost, however old.
            _not_listed(plan, uid, entry, 0 if restored else since)
    _unknown(plan, here, listed)
    return plan


def after_loss(here: Here, listed: Listed) -> Known:
    """What is known of an entry whose last revision here the server's database has lost.

    So it is marked: the server joins contents with what stands, and takes nothing away; of a
    deletion it tells the user, because its author has not seen what stands.
    """
    return Known(digest=listed.digest if here.digest is None else None)


def _listed(plan: Plan, uid: str, here: Here, listed: Listed, *, restored: bool) -> None:
    told = Known(listed.rev, listed.digest)
    # A later revision than the listed one was lost with the database: what stands here was made
    # on more than the server has, and is put on top of that. So it is where nothing but the
    # revision is new.
    rev = here.known.rev
    based = rev is not None and (listed.rev <= rev or listed.digest == here.known.digest)
    if based or listed.digest == here.digest:
        if told != here.known:
            plan.known[uid] = told
    elif mark(here.known, here.digest) is not None:
        # The exchange joins both sides, from what this terminal had seen; where it has seen
        # nothing, it is looked at whether they are one person's.
        if here.known == Known() and listed.digest is not None:
            plan.fetch.append(uid)
    elif restored and rev is not None and not listed.erased:
        plan.doubted[uid] = rev
    elif listed.digest is None:
        plan.known[uid] = told
        plan.delete.append(uid)
    else:
        plan.fetch.append(uid)


def _not_listed(plan: Plan, uid: str, here: Here, since: int) -> None:
    if here.digest is None:
        plan.forget.append(uid)
    elif here.known == Known():
        return
    elif mark(here.known, here.digest) is None and (here.known.rev or 0) <= since:
        plan.delete.append(uid)
        plan.forget.append(uid)
    else:
        plan.known[uid] = Known()


def _unknown(plan: Plan, here: Mapping[str, Here], listed: Mapping[str, Listed]) -> None:
    """Entries under uids that are not known here: the same under another uid, or new.

    One entry takes over one uid: two that are equal stay two.
    """
    alike = _never_synced(here, listed)
    for uid, entry in sorted(listed.items()):
        if uid in here or entry.digest is None:
            continue
        same = alike[entry.digest]
        if same:
            plan.adopt[same.pop(0)] = uid
            plan.known[uid] = Known(entry.rev, entry.digest)
        else:
            plan.fetch.append(uid)


def _never_synced(here: Mapping[str, Here], listed: Iterable[str]) -> defaultdict[str, list[str]]:
    uids = set(listed)
    alike: defaultdict[str, list[str]] = defaultdict(list)
    for uid, entry in sorted(here.items()):
        if entry.known == Known() and entry.digest is not None and uid not in uids:
            alike[entry.digest].append(uid)
    return alike
