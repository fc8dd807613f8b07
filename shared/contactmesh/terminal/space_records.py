"""The rows of what was stored in SIM accounts' spaces, and accepted, inside a transaction."""

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from contactmesh.contracts.multi_sim.records import SpaceKind
from contactmesh.terminal.database import json_text
from contactmesh.terminal.rules.views import CardJson

_PRIVATE: Final = "EXISTS (SELECT 1 FROM private_contacts p WHERE p.uid = {uid})"
_HELD: Final = {
    SpaceKind.SHARED: f"contacts.own IS NOT NULL AND NOT {_PRIVATE.format(uid='contacts.uid')}",
    SpaceKind.PRIVATE: "contacts.own IS NOT NULL AND EXISTS (SELECT 1 FROM private_contacts p "
    "WHERE p.uid = contacts.uid AND p.carrier_id = :carrier_id)",
}
"""Which entries of the owner's belong in a space."""
_NAMED: Final = "(:uids IS NULL OR {uid} IN (SELECT value FROM json_each(:uids)))"
_DIFFERING: Final = {
    kind: "FROM contacts LEFT JOIN space_contacts s ON s.carrier_id = :carrier_id AND s.space = "
    f":space AND s.uid = contacts.uid WHERE {held} AND {_NAMED.format(uid='contacts.uid')} AND "
    "contacts.uid > :after AND (s.card IS NULL OR s.card != contacts.own)"
    for kind, held in _HELD.items()
}
_GONE: Final = {
    kind: "FROM space_contacts s WHERE s.carrier_id = :carrier_id AND s.space = :space AND "  # noqa: S608 - constants
    f"{_NAMED.format(uid='s.uid')} AND NOT EXISTS (SELECT 1 FROM contacts WHERE "
    f"contacts.uid = s.uid AND {held}) ORDER BY s.uid"
    for kind, held in _HELD.items()
}


@dataclass(frozen=True, slots=True)
class Space:
    """A space of the user's account at a carrier."""

    carrier_id: str
    kind: SpaceKind


@dataclass(frozen=True, slots=True)
class OwnEntry:
    """An entry of the owner's that may differ from what is remembered.

    Attributes:
        card: its JSON, as the phonebook has it.
        remembered: the digest of what was last stored or accepted, none if nothing was.
    """

    uid: str
    card: str
    remembered: str | None


@dataclass(frozen=True, slots=True)
class GoneEntry:
    """A contact that is remembered and does not belong in the space any more.

    Attributes:
        private: whether it left a shared space because the owner made it private.
    """

    uid: str
    private: bool


@dataclass(frozen=True, slots=True)
class AcceptingRecord:
    """A SIM for which what waits is accepted by itself.

    Attributes:
        removed: how many entries were deleted by that since `counted_from`.
    """

    counted_from: datetime
    removed: int


class SpaceRecords:
    """What is remembered of spaces, which contacts are private, which SIMs accept by themselves."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    # The owner's entries against what is remembered

    def number_held(self, space: Space, uids: Iterable[str] | None = None) -> int:
        """How many entries belong in a space, of all or of those named."""
        return self._number(
            f"SELECT count(*) FROM contacts WHERE {_HELD[space.kind]} "  # noqa: S608 - constants
            f"AND {_NAMED.format(uid='contacts.uid')}",
            space,
            uids,
        )

    def number_differing(self, space: Space, uids: Iterable[str] | None = None) -> int:
        """How many entries of a space may differ from what is remembered."""
        return self._number(f"SELECT count(*) {_DIFFERING[space.kind]}", space, uids)

    def number_remembered(self, space: Space) -> int:
        """How many contacts of a space are remembered."""
        return self._number(
            "SELECT count(*) FROM space_contacts WHERE carrier_id = :carrier_id AND space = :space",
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
            f"SELECT contacts.uid, contacts.own, s.digest {_DIFFERING[space.kind]}"
            " ORDER BY contacts.uid LIMIT :limit",
            {**_parameters(space, uids, after), "limit": limit},
        )
        return [OwnEntry(row["uid"], row["own"], row["digest"]) for row in rows]

    def gone(self, space: Space, uids: Iterable[str] | None = None) -> list[GoneEntry]:
        """What is remembered of a space and does not belong there any more, by uid."""
        rows = self._database.execute(
            f"SELECT s.uid, {_PRIVATE.format(uid='s.uid')} AS private {_GONE[space.kind]}",
            _parameters(space, uids),
        )
        return [GoneEntry(row["uid"], bool(row["private"])) for row in rows]

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

    # What is remembered

    def base(self, space: Space, uid: str) -> CardJson | None:
        """The card that was last stored or accepted."""
        row = self._database.execute(
            "SELECT card FROM space_contacts WHERE carrier_id = ? AND space = ? AND uid = ?",
            (space.carrier_id, space.kind, uid),
        ).fetchone()
        return None if row is None else json.loads(row["card"])

    def remember(self, space: Space, uid: str, digest: str, card: str) -> None:
        """Keep what was stored or accepted; `card` is its JSON."""
        self._database.execute(
            "INSERT OR REPLACE INTO space_contacts VALUES (?, ?, ?, ?, ?)",
            (space.carrier_id, space.kind, uid, digest, card),
        )

    def forget(self, space: Space, uids: Iterable[str]) -> None:
        """Remember nothing of contacts that left a space."""
        self._database.executemany(
            "DELETE FROM space_contacts WHERE carrier_id = ? AND space = ? AND uid = ?",
            [(space.carrier_id, space.kind, uid) for uid in uids],
        )

    # Private contacts

    def make_private(self, carrier_id: str, uids: Iterable[str]) -> None:
        """Let contacts be in a carrier's private space, and in no shared one."""
        self._database.executemany(
            "INSERT OR IGNORE INTO private_contacts VALUES (?, ?)",
            [(uid, carrier_id) for uid in uids],
        )

    def share(self, carrier_id: str, uids: Iterable[str]) -> None:
        """Let contacts not be private at a carrier any more; at others they may still be."""
        self._database.executemany(
            "DELETE FROM private_contacts WHERE uid = ? AND carrier_id = ?",
            [(uid, carrier_id) for uid in uids],
        )

    def stay_private(self, before: str, now: str) -> None:
        """A contact has another uid: where it was private, it still is."""
        self._database.execute(
            "INSERT OR IGNORE INTO private_contacts SELECT ?, carrier_id FROM private_contacts "
            "WHERE uid = ?",
            (now, before),
        )

    def is_private(self, uid: str) -> bool:
        """Whether a contact is private at any carrier."""
        return (
            self._database.execute(
                "SELECT 1 FROM private_contacts WHERE uid = ? LIMIT 1", (uid,)
            ).fetchone()
            is not None
        )

    def number_private(self, uids: Iterable[str] | None = None) -> int:
        """How many of the owner's entries are private, of all or of those named."""
        (number,) = self._database.execute(
            f"SELECT count(*) FROM contacts WHERE own IS NOT NULL AND "  # noqa: S608 - constants
            f"{_PRIVATE.format(uid='contacts.uid')} AND {_NAMED.format(uid='contacts.uid')}",
            {"uids": _list(uids)},
        ).fetchone()
        return int(number)

    # SIMs for which what waits is accepted by itself

    def accepting(self) -> dict[str, AcceptingRecord]:
        """The SIMs for which what waits is accepted by itself."""
        rows = self._database.execute("SELECT * FROM accepting_sims")
        return {
            row["sim_id"]: AcceptingRecord(
                datetime.fromisoformat(row["counted_from"]), row["removed"]
            )
            for row in rows
        }

    def save_accepting(self, sim_id: str, record: AcceptingRecord | None) -> None:
        """Accept by itself what waits for a SIM, or no longer."""
        if record is None:
            self._database.execute("DELETE FROM accepting_sims WHERE sim_id = ?", (sim_id,))
            return
        self._database.execute(
            "INSERT OR REPLACE INTO accepting_sims VALUES (?, ?, ?)",
            (sim_id, record.counted_from.isoformat(), record.removed),
        )

    def count_removed(self, sim_id: str, record: AcceptingRecord) -> None:
        """Write how many entries were deleted, if what waits is accepted by itself still."""
        self._database.execute(
            "UPDATE accepting_sims SET counted_from = ?, removed = ? WHERE sim_id = ?",
            (record.counted_from.isoformat(), record.removed, sim_id),
        )


def _list(uids: Iterable[str] | None) -> str | None:
    return None if uids is None else json_text(sorted(uids))


def _parameters(
    space: Space, uids: Iterable[str] | None, after: str = ""
) -> dict[str, str | int | None]:
    return {
        "carrier_id": space.carrier_id,
        "space": space.kind,
        "after": after,
        "uids": _list(uids),
    }
