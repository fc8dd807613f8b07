"""The rows of what was stored in SIM accounts' spaces, and accepted, inside a transaction."""

import json
from collections.abc import Iterable
from dataclasses import dataclass

from contactmesh.contracts.multi_sim.records import SpaceKind
from contactmesh.terminal.database import json_text
from contactmesh.terminal.rules.views import CardJson
from contactmesh.terminal.space_choices import SpaceChoices


@dataclass(frozen=True, slots=True)
class Space:
    """A space of the user's account at a carrier."""

    carrier_id: str
    kind: SpaceKind


@dataclass(frozen=True, slots=True)
class Remembered:
    """What is remembered of a contact of a space.

    Attributes:
        base: the card that was last stored or accepted, none if none was.
        stored: whether it is an edit that was stored from here.
        earlier: the base before it.
    """

    base: CardJson | None = None
    stored: bool = False
    earlier: CardJson | None = None


@dataclass(frozen=True, slots=True)
class OwnDigests:
    """The digests of what this terminal had of a contact, over all spaces.

    Attributes:
        stored: of what was stored from here last, or was being stored.
        known: of those, of what was accepted, and of what was either before.
    """

    stored: frozenset[str]
    known: frozenset[str]


class SpaceMemory(SpaceChoices):
    """What is remembered of spaces, and what the owner chose for them."""

    def remembered(self, space: Space, uid: str) -> Remembered:
        """What was last stored or accepted, and before."""
        row = self._database.execute(
            "SELECT card, stored, earlier_card FROM space_contacts "
            "WHERE carrier_id = ? AND space = ? AND uid = ?",
            (space.carrier_id, space.kind, uid),
        ).fetchone()
        if row is None:
            return Remembered()
        return Remembered(_card(row["card"]), bool(row["stored"]), _card(row["earlier_card"]))

    def own_digests(self, uid: str) -> OwnDigests:
        """What this terminal had of a contact, over all spaces."""
        rows = self._database.execute(
            "SELECT digest, stored, sent, earlier_digest FROM space_contacts WHERE uid = ?", (uid,)
        ).fetchall()
        stored = {row["digest"] for row in rows if row["stored"]}
        stored.update(*(_digests(row["sent"]) for row in rows))
        known = stored.union(*((row["digest"], row["earlier_digest"]) for row in rows))
        return OwnDigests(frozenset(stored - {None}), frozenset(known - {None}))

    def remember(self, space: Space, uid: str, digest: str, card: str, *, stored: bool) -> None:
        """Keep what was stored from here, or accepted; `card` is its JSON."""
        self._database.execute(
            "INSERT INTO space_contacts "
            "(carrier_id, space, uid, digest, card, stored, space_digest) "
            "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
            "earlier_digest = iif(digest IS excluded.digest, earlier_digest, digest), "
            "earlier_card = iif(digest IS excluded.digest, earlier_card, card), "
            "stored = iif(digest IS excluded.digest, stored, excluded.stored), "
            "digest = excluded.digest, card = excluded.card, space_digest = excluded.space_digest, "
            "sent = NULL",
            (space.carrier_id, space.kind, uid, digest, card, stored, digest),
        )

    def send(self, space: Space, uid: str, digest: str) -> None:
        """Keep that something is being stored: without a reply it may be there, or not."""
        key = (space.carrier_id, space.kind, uid)
        row = self._database.execute(
            "SELECT sent FROM space_contacts WHERE carrier_id = ? AND space = ? AND uid = ?", key
        ).fetchone()
        sent = json_text(list(dict.fromkeys((*_digests(row and row["sent"]), digest))))
        self._database.execute(
            "INSERT INTO space_contacts (carrier_id, space, uid, sent) VALUES (?, ?, ?, ?) "
            "ON CONFLICT DO UPDATE SET sent = excluded.sent",
            (*key, sent),
        )

    def not_stored(self, space: Space, uids: Iterable[str]) -> None:
        """What was being stored is not there, as the reply said."""
        parameters = [(space.carrier_id, space.kind, uid) for uid in uids]
        self._database.executemany(
            "UPDATE space_contacts SET sent = NULL WHERE carrier_id = ? AND space = ? AND uid = ?",
            parameters,
        )
        self._database.executemany(
            "DELETE FROM space_contacts WHERE carrier_id = ? AND space = ? AND uid = ? "
            "AND digest IS NULL AND space_digest = ''",
            parameters,
        )

    def declined(self, space: Space, uid: str, digest: str) -> None:
        """A space holds something that was declined: what was stored or accepted stays the base."""
        self._database.execute(
            "INSERT INTO space_contacts (carrier_id, space, uid, space_digest) VALUES (?, ?, ?, ?) "
            "ON CONFLICT DO UPDATE SET space_digest = excluded.space_digest",
            (space.carrier_id, space.kind, uid, digest),
        )

    def forget(self, space: Space, uids: Iterable[str]) -> None:
        """Remember nothing of contacts that left a space."""
        self._database.executemany(
            "DELETE FROM space_contacts WHERE carrier_id = ? AND space = ? AND uid = ?",
            [(space.carrier_id, space.kind, uid) for uid in uids],
        )

    def forget_shared(self, uids: Iterable[str]) -> None:
        """Remember nothing of contacts that left every shared space."""
        self._database.executemany(
            "DELETE FROM space_contacts WHERE space = ? AND uid = ?",
            [(SpaceKind.SHARED, uid) for uid in uids],
        )


def _card(text: str | None) -> CardJson | None:
    return None if text is None else json.loads(text)


def _digests(sent: str | None) -> list[str]:
    return [] if sent is None else json.loads(sent)
