"""Which entries of the owner's a space lacks and which it has too many, inside a transaction."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from contactmesh.contracts.multi_sim.records import SpaceKind
from contactmesh.terminal.space_choices import NAMED, PRIVATE, uid_list
from contactmesh.terminal.space_memory import Space, SpaceMemory

_HELD: Final = {
    SpaceKind.SHARED: f"contacts.own IS NOT NULL AND NOT {PRIVATE.format(uid='contacts.uid')}",
    SpaceKind.PRIVATE: "contacts.own IS NOT NULL AND EXISTS (SELECT 1 FROM private_contacts p "
    "WHERE p.uid = contacts.uid AND p.carrier_id = :carrier_id)",
}
"""Which entries of the owner's belong in a space."""
_DIFFERING: Final = {
    kind: "FROM contacts LEFT JOIN space_contacts s ON s.carrier_id = :carrier_id AND s.space = "
    f":space AND s.uid = contacts.uid WHERE {held} AND {NAMED.format(uid='contacts.uid')} AND "
    "contacts.uid > :after AND (s.card IS NULL OR s.card != contacts.own OR s.sent IS NOT NULL)"
    for kind, held in _HELD.items()
}
_KNOWN: Final = (
    "SELECT k.space_digest FROM space_contacts k WHERE k.carrier_id = :carrier_id AND k.space = "
    "'shared' AND k.uid = contacts.uid"
)
"""What the account's shared space is known to hold of a contact."""
_THERE: Final = "(s.digest IS NOT NULL OR s.sent IS NOT NULL)"
"""Of what was only declined, nothing of this terminal's is there."""
_GONE: Final = {
    kind: "FROM space_contacts s WHERE s.carrier_id = :carrier_id AND s.space = :space AND "  # noqa: S608 - constants
    f"{_THERE} AND {NAMED.format(uid='s.uid')} AND NOT EXISTS (SELECT 1 FROM contacts WHERE "
    f"contacts.uid = s.uid AND {held}) ORDER BY s.uid"
    for kind, held in _HELD.items()
}


@dataclass(frozen=True, slots=True)
class OwnEntry:
    """An entry of the owner's that may differ from what is remembered.

    Attributes:
        card: its JSON, as the phonebook has it.
        remembered: the digest of what was last stored or accepted, none if nothing was, or if it is
            not known what became of a store.
        known: the digest of what the account's shared space is known to hold, empty for nothing.
    """

    uid: str
    card: str
    remembered: str | None
    known: str


@dataclass(frozen=True, slots=True)
class GoneEntry:
    """A contact that is remembered and does not belong in the space any more.

    Attributes:
        private: whether it left a shared space because the owner made it private.
        known: the digest of what the space is known to hold; what was being stored when a store
            broke off counts, for it may have come there.
    """

    uid: str
    private: bool
    known: str


class SpaceRecords(SpaceMemory):
    """The owner's entries against what is remembered of spaces."""

    def number_held(self, space: Space, uids: Iterable[str] | None = None) -> int:
        """How many entries belong in a space, of all or of those named."""
        return self._number(
            f"SELECT count(*) FROM contacts WHERE {_HELD[space.kind]} "  # noqa: S608 - constants
            f"AND {NAMED.format(uid='contacts.uid')}",
            space,
            uids,
        )

    def number_differing(self, space: Space, uids: Iterable[str] | None = None) -> int:
        """How many entries of a space may differ from what is remembered."""
        return self._number(f"SELECT count(*) {_DIFFERING[space.kind]}", space, uids)

    def number_remembered(self, space: Space) -> int:
        """How many contacts of a space are remembered."""
        return self._number(
            "SELECT count(digest) FROM space_contacts WHERE carrier_id = :carrier_id "
            "AND space = :space",
            space,
        )

    def _number(self, query: str, space: Space, uids: Iterable[str] | None = None) -> int:
        (number,) = self._database.execute(query, _parameters(space, uids)).fetchone()
        return int(number)

    def differing(
        self, space: Space, *, after: str, limit: int, uids: Iterable[str] | None = None
    ) -> list[OwnEntry]:
        """Entries of a space that may differ from what is remembered, by uid."""
        rows = self._database.execute(
            "SELECT contacts.uid, contacts.own, iif(s.sent IS NULL, s.digest, NULL), "
            f"coalesce(({_KNOWN}), '') {_DIFFERING[space.kind]} ORDER BY contacts.uid LIMIT :limit",
            {**_parameters(space, uids, after), "limit": limit},
        )
        return [OwnEntry(*row) for row in rows]

    def gone(self, space: Space, uids: Iterable[str] | None = None) -> list[GoneEntry]:
        """What is remembered of a space and does not belong there any more, by uid."""
        rows = self._database.execute(
            f"SELECT s.uid, {PRIVATE.format(uid='s.uid')} AS private, "
            "coalesce(json_extract(s.sent, '$[#-1]'), s.space_digest) AS known "
            f"{_GONE[space.kind]}",
            _parameters(space, uids),
        )
        return [GoneEntry(row["uid"], bool(row["private"]), row["known"]) for row in rows]

    def number_own(self) -> int:
        """How many entries the owner has."""
        (number,) = self._database.execute(
            "SELECT count(*) FROM contacts WHERE own IS NOT NULL"
        ).fetchone()
        return int(number)

    def number_without_entry(self) -> int:
        """How many contacts groups alone brought."""
        (number,) = self._database.execute(
            "SELECT count(*) FROM contacts WHERE own IS NULL AND shown != '{}'"
        ).fetchone()
        return int(number)

    def number_there(self, space: Space, uids: Iterable[str]) -> int:
        """How many of those named are remembered to be in a space."""
        return self._number(
            "SELECT count(*) FROM space_contacts s WHERE s.carrier_id = :carrier_id AND "  # noqa: S608 - constants
            f"s.space = :space AND {_THERE} AND {NAMED.format(uid='s.uid')}",
            space,
            uids,
        )


def _parameters(
    space: Space, uids: Iterable[str] | None, after: str = ""
) -> dict[str, str | int | None]:
    return {
        "carrier_id": space.carrier_id,
        "space": space.kind,
        "after": after,
        "uids": uid_list(uids),
    }
