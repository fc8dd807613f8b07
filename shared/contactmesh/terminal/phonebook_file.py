"""The file of a phonebook: opened, read, and changed one transaction at a time."""

from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Final, Self, TypeVar

import uuid_utils

from contactmesh.terminal.changes import Changes
from contactmesh.terminal.database import DatabaseThread
from contactmesh.terminal.entries import Applied
from contactmesh.terminal.records import Records

Value = TypeVar("Value")
OWN_CARD: Final = "own_card_uid"
"""The setting that keeps which entry of the book is the owner's own card."""


class PhonebookFile:
    """What the parts of a phonebook share: its file, and whose it is."""

    def __init__(self, path: Path, user_id: str, region: str | None = None) -> None:
        self.path = path
        self._user_id = user_id
        self._region = region
        self._database = DatabaseThread()

    async def __aenter__(self) -> Self:
        """Open the file.

        Raises:
            PhonebookTooNew: a newer version wrote it.
        """
        await self._database.open(self.path)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._database.close()

    async def _read(self, query: Callable[[Records], Value]) -> Value:
        return await self._database.read(lambda database: query(Records(database)))

    async def _change(self, change: Callable[[Changes, Records], Value]) -> tuple[Value, Applied]:
        def work(records: Records) -> tuple[Value, Applied]:
            changes = Changes(records, self._user_id, self._region, _new_id)
            value = change(changes, records)
            return value, Applied(
                tuple(changes.updates), tuple(changes.groups_to_pull), tuple(changes.book.came)
            )

        return await self._database.write(lambda database: work(Records(database)))


def _new_id() -> str:
    return str(uuid_utils.uuid7())
