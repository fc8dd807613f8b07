"""The rows of what the registry told: numbers, their order and status, inside a transaction."""

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from contactmesh.contracts.carrier.records import (
    DataVolume,
    LineType,
    RegistrationRef,
    ShownState,
)
from contactmesh.terminal.database import json_text
from contactmesh.terminal.rules.lines import GoneNumber, KnownLine


@dataclass(frozen=True, slots=True)
class CheckRecord:
    """All that checks told of one member.

    Attributes:
        checked_at: when the registry last answered.
        lines: the live numbers in dial order.
        gone: the numbers that are theirs no more.
        doubted: whether a check with the references of these lines was refused since.
    """

    checked_at: datetime
    lines: tuple[KnownLine, ...]
    gone: tuple[GoneNumber, ...]
    doubted: bool = False


class LineRecords:
    """What checks told, by member."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    def of(self, user_id: str) -> CheckRecord | None:
        """What checks told of a member, none if there was no check."""
        row = self._database.execute(
            "SELECT checked_at, doubted FROM checks WHERE user_id = ?", (user_id,)
        ).fetchone()
        if row is None:
            return None
        lines = self._database.execute(
            "SELECT * FROM lines WHERE user_id = ? ORDER BY place", (user_id,)
        )
        gone = self._database.execute(
            "SELECT number, successor, as_of FROM gone_numbers WHERE user_id = ? ORDER BY number",
            (user_id,),
        )
        return CheckRecord(
            checked_at=datetime.fromisoformat(row["checked_at"]),
            lines=tuple(_line(line) for line in lines),
            gone=tuple(GoneNumber(**each) for each in gone),
            doubted=bool(row["doubted"]),
        )

    def save(self, user_id: str, record: CheckRecord) -> None:
        """Write what checks told of a member, in place of what they told before."""
        self.forget(user_id)
        self._database.execute(
            "INSERT INTO checks VALUES (?, ?, ?)",
            (user_id, record.checked_at.isoformat(), record.doubted),
        )
        self._database.executemany(
            "INSERT INTO lines VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [_row(user_id, place, line) for place, line in enumerate(record.lines)],
        )
        self._database.executemany(
            "INSERT INTO gone_numbers VALUES (?, ?, ?, ?)",
            [(user_id, each.number, each.successor, each.as_of) for each in record.gone],
        )

    def forget(self, user_id: str) -> None:
        """Delete what checks told of a member."""
        self._database.execute("DELETE FROM checks WHERE user_id = ?", (user_id,))

    def doubt(self, user_id: str) -> None:
        """Keep that the references of a member's lines may be wrong, until the next answer."""
        self._database.execute("UPDATE checks SET doubted = 1 WHERE user_id = ?", (user_id,))

    def reorder(self, user_id: str, lines: Iterable[KnownLine]) -> None:
        """Write the order of a member's numbers."""
        self._database.executemany(
            "UPDATE lines SET place = ? WHERE user_id = ? AND carrier_id = ? AND seq = ?",
            [
                (place, user_id, line.ref.carrier_id, line.ref.registration_seq)
                for place, line in enumerate(lines)
            ],
        )


def _line(row: sqlite3.Row) -> KnownLine:
    return KnownLine(
        ref=RegistrationRef(carrier_id=row["carrier_id"], registration_seq=row["seq"]),
        number=row["number"],
        line_type=LineType(row["line_type"]),
        ported=bool(row["ported"]),
        labels=tuple(json.loads(row["labels"])),
        dial_priority=row["dial_priority"],
        state=None if row["state"] is None else ShownState(row["state"]),
        state_at=_time(row["state_at"]),
        remaining=None if row["remaining"] is None else DataVolume(row["remaining"]),
        remaining_at=_time(row["remaining_at"]),
    )


def _row(user_id: str, place: int, line: KnownLine) -> tuple[object, ...]:
    return (
        user_id,
        line.ref.carrier_id,
        line.ref.registration_seq,
        place,
        line.number,
        line.line_type,
        int(line.ported),
        json_text(line.labels),
        line.dial_priority,
        line.state,
        None if line.state_at is None else line.state_at.isoformat(),
        line.remaining,
        None if line.remaining_at is None else line.remaining_at.isoformat(),
    )


def _time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
