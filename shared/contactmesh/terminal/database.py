"""The phonebook's SQLite file: schema, migrations, and one thread that all its calls run on."""

import asyncio
import json
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, TypeVar

from contactmesh.contacts import Card, digest
from contactmesh.terminal.errors import PhonebookTooNew, PhonebookUnusable

Value = TypeVar("Value")

_BUSY_SECONDS: Final = 10.0
"""How long a writer waits for another process that writes; readers never wait (WAL)."""

_MIGRATIONS: Final = (
    """
    CREATE TABLE contacts (
        contact_id TEXT PRIMARY KEY,
        uid TEXT NOT NULL,
        user_id TEXT UNIQUE,
        own TEXT,
        inherited TEXT NOT NULL,
        shown TEXT NOT NULL,
        from_member TEXT NOT NULL,
        display_name TEXT NOT NULL,
        sort_key TEXT NOT NULL,
        search_text TEXT NOT NULL
    ) STRICT;
    CREATE UNIQUE INDEX contacts_own_uid ON contacts (uid) WHERE own IS NOT NULL;
    CREATE INDEX contacts_order ON contacts (sort_key, contact_id);

    CREATE TABLE reach_keys (
        key TEXT NOT NULL,
        contact_id TEXT NOT NULL REFERENCES contacts ON DELETE CASCADE,
        PRIMARY KEY (key, contact_id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX reach_keys_contact ON reach_keys (contact_id);

    CREATE TABLE kept_apart (user_id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;

    CREATE TABLE groups (
        group_id TEXT PRIMARY KEY,
        name TEXT NOT NULL,
        owner_id TEXT NOT NULL,
        cursor TEXT,
        full_pull INTEGER NOT NULL DEFAULT 1,
        generation INTEGER NOT NULL DEFAULT 1
    ) STRICT;

    CREATE TABLE views (
        group_id TEXT NOT NULL REFERENCES groups ON DELETE CASCADE,
        user_id TEXT NOT NULL,
        rev INTEGER NOT NULL,
        state TEXT NOT NULL,
        role TEXT,
        role_rev INTEGER NOT NULL,
        card TEXT,
        claims TEXT NOT NULL,
        generation INTEGER NOT NULL,
        PRIMARY KEY (group_id, user_id)
    ) STRICT;
    CREATE INDEX views_user ON views (user_id);

    CREATE TABLE own_cards (
        group_id TEXT PRIMARY KEY REFERENCES groups ON DELETE CASCADE,
        rev INTEGER NOT NULL,
        card TEXT NOT NULL
    ) STRICT;

    CREATE TABLE invitations (
        invitation_id TEXT PRIMARY KEY,
        group_id TEXT NOT NULL,
        group_name TEXT NOT NULL,
        inviter_id TEXT NOT NULL,
        invitee_id TEXT NOT NULL,
        expires_at TEXT,
        outcome TEXT
    ) STRICT;

    CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
    """,
    """
    CREATE TABLE checks (user_id TEXT PRIMARY KEY, checked_at TEXT NOT NULL) STRICT, WITHOUT ROWID;

    CREATE TABLE lines (
        user_id TEXT NOT NULL REFERENCES checks ON DELETE CASCADE,
        carrier_id TEXT NOT NULL,
        seq TEXT NOT NULL,
        place INTEGER NOT NULL,
        number TEXT NOT NULL,
        line_type TEXT NOT NULL,
        ported INTEGER NOT NULL,
        labels TEXT NOT NULL,
        dial_priority INTEGER,
        state TEXT,
        state_at TEXT,
        remaining TEXT,
        remaining_at TEXT,
        PRIMARY KEY (user_id, carrier_id, seq)
    ) STRICT;

    CREATE TABLE gone_numbers (
        user_id TEXT NOT NULL REFERENCES checks ON DELETE CASCADE,
        number TEXT NOT NULL,
        successor TEXT,
        as_of INTEGER NOT NULL,
        PRIMARY KEY (user_id, number)
    ) STRICT, WITHOUT ROWID;
    """,
    """
    ALTER TABLE checks ADD COLUMN doubted INTEGER NOT NULL DEFAULT 0;
    """,
    """
    CREATE TABLE space_contacts (
        carrier_id TEXT NOT NULL,
        space TEXT NOT NULL,
        uid TEXT NOT NULL,
        digest TEXT,
        card TEXT,
        stored INTEGER NOT NULL DEFAULT 0,
        earlier_digest TEXT,
        earlier_card TEXT,
        space_digest TEXT NOT NULL DEFAULT '',
        sent TEXT,
        PRIMARY KEY (carrier_id, space, uid)
    ) STRICT;
    CREATE INDEX space_contacts_uid ON space_contacts (uid);

    CREATE INDEX contacts_uid ON contacts (uid);

    CREATE TABLE private_contacts (
        uid TEXT NOT NULL,
        carrier_id TEXT NOT NULL,
        PRIMARY KEY (uid, carrier_id)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE accepting_sims (
        sim_id TEXT PRIMARY KEY,
        counted_from TEXT NOT NULL,
        removed INTEGER NOT NULL DEFAULT 0
    ) STRICT, WITHOUT ROWID;
    """,
    """
    CREATE TABLE book_entries (
        uid TEXT PRIMARY KEY,
        rev INTEGER,
        digest TEXT,
        own TEXT,
        updated_at TEXT NOT NULL,
        problem TEXT,
        told_rev INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE INDEX book_entries_marked ON book_entries (uid) WHERE own IS NOT digest;
    CREATE INDEX book_entries_own ON book_entries (own);
    CREATE INDEX book_entries_problem ON book_entries (uid) WHERE problem IS NOT NULL;
    CREATE INDEX book_entries_behind ON book_entries (uid) WHERE told_rev > coalesce(rev, 0);
    CREATE INDEX book_entries_known ON book_entries (uid) WHERE digest IS NOT NULL;

    INSERT INTO book_entries (uid, own, updated_at)
    SELECT uid, card_digest(own), strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
    FROM contacts WHERE own IS NOT NULL;

    CREATE TABLE joined_entries (
        join_id TEXT PRIMARY KEY,
        joined_at TEXT NOT NULL,
        first TEXT NOT NULL,
        second TEXT NOT NULL,
        joined TEXT NOT NULL,
        linked_to TEXT
    ) STRICT;
    """,
)


def json_text(value: object) -> str:
    """JSON as the database holds it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _card_digest(text: str) -> str:
    return digest(Card.model_validate_json(text))


def open_database(path: Path) -> sqlite3.Connection:
    """Open the file, make it if need be, and bring its schema up to date.

    Raises:
        PhonebookTooNew: a newer version wrote it.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # SQLite gives its journal the mode of the database, so this keeps all of it private.
    path.touch(mode=0o600)
    database = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)
    try:
        prepare(database, str(path))
    except BaseException:
        # Cancelled or failed: what was begun is undone, and the reason passes.
        database.close()
        raise
    return database


def prepare(database: sqlite3.Connection, name: str) -> None:
    """Set a connection up and bring its schema up to date.

    Raises:
        PhonebookTooNew: a newer version wrote what is there; `name` says where.
    """
    database.row_factory = sqlite3.Row
    database.create_function("card_digest", 1, _card_digest, deterministic=True)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = FULL")
    database.execute("PRAGMA foreign_keys = ON")
    (version,) = database.execute("PRAGMA user_version").fetchone()
    if version > len(_MIGRATIONS):
        raise PhonebookTooNew(
            f"{name} was written by a newer version (schema {version}, this one knows "
            f"{len(_MIGRATIONS)}). Update contactmesh."
        )
    if version == len(_MIGRATIONS):
        return
    database.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have migrated it while this one waited for the lock.
        (version,) = database.execute("PRAGMA user_version").fetchone()
        for number, script in enumerate(_MIGRATIONS[version:], version + 1):
            for statement in script.split(";"):
                database.execute(statement)
            database.execute(f"PRAGMA user_version = {number}")
    except BaseException:
        # Cancelled or failed: what was begun is undone, and the reason passes.
        database.execute("ROLLBACK")
        raise
    database.execute("COMMIT")


class DatabaseThread:
    """A database whose calls run one after the other on a thread of their own.

    The event loop never waits for a disk, and what is written by two tasks does not mix.
    """

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="phonebook")
        self._database: sqlite3.Connection | None = None
        self._path: Path | None = None

    async def open(self, path: Path) -> None:
        """Open the database.

        Raises:
            PhonebookTooNew: a newer version wrote it.
            PhonebookUnusable: the file cannot be opened.
        """

        def opening() -> None:
            self._path = path
            try:
                self._database = open_database(path)
            except (sqlite3.Error, OSError) as error:
                raise self._unusable(error) from error

        await self._run(opening)

    async def close(self) -> None:
        """Close the database after what has been asked of it so far."""

        def closing() -> None:
            if self._database is not None:
                self._database.close()
                self._database = None

        await self._run(closing)
        self._thread.shutdown(wait=False)

    async def read(self, query: Callable[[sqlite3.Connection], Value]) -> Value:
        """Run queries that see one state of the database."""
        return await self._run(lambda: self._transaction("BEGIN", query))

    async def write(self, change: Callable[[sqlite3.Connection], Value]) -> Value:
        """Run a change in one transaction: all of it or nothing.

        Cancelling the caller does not undo a change that has begun.

        Raises:
            PhonebookUnusable: the file cannot be written; nothing was changed.
        """
        return await self._run(lambda: self._transaction("BEGIN IMMEDIATE", change))

    async def _run(self, call: Callable[[], Value]) -> Value:
        return await asyncio.get_running_loop().run_in_executor(self._thread, call)

    def _transaction(self, begin: str, work: Callable[[sqlite3.Connection], Value]) -> Value:
        database = self._database
        if database is None:
            raise PhonebookUnusable("The phonebook is not open. Use it inside `async with`.")
        try:
            database.execute(begin)
            try:
                value = work(database)
                database.execute("COMMIT")
            except BaseException:
                # A full disk has rolled it back already.
                if database.in_transaction:
                    database.execute("ROLLBACK")
                raise
        except sqlite3.Error as error:
            raise self._unusable(error) from error
        return value

    def _unusable(self, error: Exception) -> PhonebookUnusable:
        return PhonebookUnusable(
            f"The phonebook {self._path} cannot be used ({error}). Check the disk and the rights."
        )
