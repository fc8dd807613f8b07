"""The rows of what the owner chose for spaces: private contacts, SIMs that accept by themselves."""

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from contactmesh.terminal.database import json_text

PRIVATE: Final = "EXISTS (SELECT 1 FROM private_contacts p WHERE p.uid = {uid})"
NAMED: Final = "(:uids IS NULL OR {uid} IN (SELECT value FROM json_each(:uids)))"
"""Of the contacts named alone, or of all if none are named."""


@dataclass(frozen=True, slots=True)
class AcceptingRecord:
    """A SIM for which what waits is accepted by itself.

    Attributes:
        removed: how many entries were deleted by that since `counted_from`.
    """

    counted_from: datetime
    removed: int


class SpaceChoices:
    """Which contacts are private, and which SIMs accept by themselves."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    # Private contacts

    def make_private(self, carrier_id: str, uids: Iterable[str]) -> None:
        """Let contacts be in a carrier's private space, and in no shared one."""
        self._database.executemany(
            "INSERT OR IGNORE INTO private_contacts VALUES (?, ?)",
            [(uid, carrier_id) for uid in uids],
        )

    def share(self, carrier_id: str, uids: Iterable[str], with_sims: Iterable[str]) -> None:
        """Let contacts not be private at a carrier any more; at others they may still be.

        Args:
            carrier_id: at which carrier.
            uids: which contacts.
            with_sims: the carriers at which the user has a SIM. At one without, nothing else could
                end it.
        """
        self._database.execute(
            "DELETE FROM private_contacts WHERE uid IN (SELECT value FROM json_each(?)) AND "
            "(carrier_id = ? OR carrier_id NOT IN (SELECT value FROM json_each(?)))",
            (uid_list(uids), carrier_id, uid_list(with_sims)),
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
            f"{PRIVATE.format(uid='contacts.uid')} AND {NAMED.format(uid='contacts.uid')}",
            {"uids": uid_list(uids)},
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


def uid_list(uids: Iterable[str] | None) -> str | None:
    """Those named, as a query takes them."""
    return None if uids is None else json_text(sorted(uids))
