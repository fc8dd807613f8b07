"""The phonebook's rows: reading and writing them, each inside the caller's transaction."""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import JsonValue

from contactmesh.contracts.group.views import MemberState, Role
from contactmesh.terminal.book_records import BookRecords
from contactmesh.terminal.database import json_text
from contactmesh.terminal.errors import NoOwnEntry, UnknownContact
from contactmesh.terminal.join_records import JoinRecords
from contactmesh.terminal.line_records import LineRecords
from contactmesh.terminal.rules.ownership import Inherited
from contactmesh.terminal.rules.views import CardJson, Claim, Claims, View
from contactmesh.terminal.space_records import SpaceRecords


def _card(text: str | None) -> CardJson | None:
    return None if text is None else json.loads(text)


@dataclass(frozen=True, slots=True)
class ContactRecord:
    """A contact.

    Attributes:
        own: the owner's part, none if a group brought the contact.
        inherited: the entries of `own` that are the last known details of the member.
        from_member: the entries of `shown` that are the member's.
        user_id: the member it is linked to, or was until the last common group ended.
    """

    contact_id: str
    uid: str
    user_id: str | None
    own: CardJson | None = None
    inherited: Inherited = field(default_factory=dict)
    shown: CardJson = field(default_factory=dict)
    from_member: Inherited = field(default_factory=dict)
    display_name: str = ""


@dataclass(frozen=True, slots=True)
class GroupRecord:
    """A group that the user is in.

    Attributes:
        cursor: where the next pull goes on, none for the beginning.
        full_pull: whether the pull under way brings all that there is.
        generation: counts full pulls; a view that the latest has not touched is out of date.
    """

    group_id: str
    name: str
    owner_id: str
    cursor: str | None
    full_pull: bool
    generation: int


@dataclass(frozen=True, slots=True)
class InvitationRecord:
    """An invitation; `outcome` is none while it is open."""

    invitation_id: str
    group_id: str
    group_name: str
    inviter_id: str
    invitee_id: str
    expires_at: str | None
    outcome: str | None


class Records:
    """The rows of a phonebook within one transaction.

    Attributes:
        lines: what the carrier registry told.
        spaces: what was stored in SIM accounts' spaces, and accepted from there.
        book: what the server and this terminal have of each entry of the owner's.
        joins: which entries were made one.
    """

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        self.lines = LineRecords(database)
        self.spaces = SpaceRecords(database)
        self.book = BookRecords(database)
        self.joins = JoinRecords(database)

    # Contacts

    def contact(self, contact_id: str) -> ContactRecord | None:
        """A contact by its id."""
        return self._one_contact("contact_id = ?", contact_id)

    def existing(self, contact_id: str) -> ContactRecord:
        """A contact that is there, by its id.

        Raises:
            UnknownContact: there is none with this id.
        """
        contact = self.contact(contact_id)
        if contact is None:
            raise UnknownContact(f"There is no contact {contact_id}. List the contacts to find it.")
        return contact

    def own_of(self, contact_id: str) -> ContactRecord:
        """A contact that has an entry of the owner's, by its id.

        Raises:
            UnknownContact: there is none with this id.
            NoOwnEntry: a group alone brought the contact.
        """
        contact = self.existing(contact_id)
        if contact.own is None:
            raise NoOwnEntry(
                "A group brought this contact; there is no entry of yours. It goes with the last "
                "group that shows it."
            )
        return contact

    def contact_of(self, user_id: str) -> ContactRecord | None:
        """The contact that is linked to a member."""
        return self._one_contact("user_id = ?", user_id)

    def own_contact(self, uid: str) -> ContactRecord | None:
        """The owner's entry with a uid."""
        return self._one_contact("uid = ? AND own IS NOT NULL", uid)

    def own_entries(self) -> dict[str, CardJson]:
        """The owner's entries, by the contact's id."""
        rows = self._database.execute(
            "SELECT contact_id, own FROM contacts WHERE own IS NOT NULL ORDER BY uid"
        )
        return {row["contact_id"]: json.loads(row["own"]) for row in rows}

    def contacts(self, search: str = "") -> Iterator[ContactRecord]:
        """All contacts in the order in which they are shown, or those that hold `search`."""
        rows = self._database.execute(
            "SELECT * FROM contacts WHERE instr(search_text, ?) OR ? = '' "
            "ORDER BY sort_key, contact_id",
            (search, search),
        )
        return map(_contact, rows)

    def reached_by(self, uid: str, keys: Iterable[str], *, own: bool) -> list[ContactRecord]:
        """The contacts that have this uid or one of these phones or e-mail addresses.

        Args:
            uid: a uid.
            keys: phones and e-mail addresses, as they are compared.
            own: of the owner's entries; otherwise of the members that have none.
        """
        which = "own IS NOT NULL" if own else "own IS NULL AND user_id IS NOT NULL"
        rows = self._database.execute(
            f"SELECT * FROM contacts WHERE {which} AND (uid = ? OR contact_id IN (SELECT "  # noqa: S608 - constants
            "contact_id FROM reach_keys WHERE key IN (SELECT value FROM json_each(?)))) "
            "ORDER BY contact_id",
            (uid, json_text(sorted(keys))),
        )
        return [_contact(row) for row in rows]

    def save_contact(
        self,
        contact: ContactRecord,
        *,
        sort_key: str,
        search_text: str,
        reached_by: Iterable[str],
    ) -> None:
        """Write a contact and what it is found by."""
        self._database.execute(
            "INSERT INTO contacts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (contact_id) "
            "DO UPDATE SET uid = excluded.uid, user_id = excluded.user_id, own = excluded.own, "
            "inherited = excluded.inherited, shown = excluded.shown, "
            "from_member = excluded.from_member, "
            "display_name = excluded.display_name, sort_key = excluded.sort_key, "
            "search_text = excluded.search_text",
            (
                contact.contact_id,
                contact.uid,
                contact.user_id,
                None if contact.own is None else json_text(contact.own),
                json_text(contact.inherited),
                json_text(contact.shown),
                json_text(contact.from_member),
                contact.display_name,
                sort_key,
                search_text,
            ),
        )
        self._database.execute("DELETE FROM reach_keys WHERE contact_id = ?", (contact.contact_id,))
        self._database.executemany(
            "INSERT INTO reach_keys VALUES (?, ?)",
            [(key, contact.contact_id) for key in reached_by],
        )

    def delete_contact(self, contact_id: str) -> None:
        """Delete a contact."""
        self._database.execute("DELETE FROM contacts WHERE contact_id = ?", (contact_id,))

    def _one_contact(self, condition: str, value: str) -> ContactRecord | None:
        row = self._database.execute(
            f"SELECT * FROM contacts WHERE {condition}",  # noqa: S608 - a constant of this class
            (value,),
        ).fetchone()
        return None if row is None else _contact(row)

    # Members whom the owner unlinked by hand

    def kept_apart(self, user_id: str) -> bool:
        """Whether the owner does not want this member linked by itself."""
        return (
            self._database.execute(
                "SELECT 1 FROM kept_apart WHERE user_id = ?", (user_id,)
            ).fetchone()
            is not None
        )

    def keep_apart(self, user_id: str, *, apart: bool) -> None:
        """Remember whether the owner wants a member linked by itself."""
        statement = (
            "INSERT OR IGNORE INTO kept_apart VALUES (?)"
            if apart
            else "DELETE FROM kept_apart WHERE user_id = ?"
        )
        self._database.execute(statement, (user_id,))

    # Groups

    def group(self, group_id: str) -> GroupRecord | None:
        """A group that the user is in."""
        row = self._database.execute(
            "SELECT * FROM groups WHERE group_id = ?", (group_id,)
        ).fetchone()
        return None if row is None else _group(row)

    def groups(self) -> list[GroupRecord]:
        """The groups that the user is in, by name."""
        rows = self._database.execute("SELECT * FROM groups ORDER BY name, group_id")
        return [_group(row) for row in rows]

    def save_group(self, group: GroupRecord) -> None:
        """Write a group."""
        self._database.execute(
            "INSERT INTO groups VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (group_id) DO UPDATE SET "
            "name = excluded.name, owner_id = excluded.owner_id, cursor = excluded.cursor, "
            "full_pull = excluded.full_pull, generation = excluded.generation",
            (
                group.group_id,
                group.name,
                group.owner_id,
                group.cursor,
                int(group.full_pull),
                group.generation,
            ),
        )

    def delete_group(self, group_id: str) -> None:
        """Delete a group with its views and the card published to it."""
        self._database.execute("DELETE FROM groups WHERE group_id = ?", (group_id,))

    # Views

    def view(self, group_id: str, user_id: str) -> View | None:
        """A member as a group shows them, also one who left."""
        row = self._database.execute(
            "SELECT * FROM views WHERE group_id = ? AND user_id = ?", (group_id, user_id)
        ).fetchone()
        return None if row is None else _view(row)

    def views_of_user(self, user_id: str) -> list[View]:
        """A member as every group shows them."""
        rows = self._database.execute("SELECT * FROM views WHERE user_id = ?", (user_id,))
        return [_view(row) for row in rows]

    def views_in_group(self, group_id: str, *, older_than: int | None = None) -> list[View]:
        """The members of a group, also those who left; or those with an older generation."""
        rows = self._database.execute(
            "SELECT * FROM views WHERE group_id = ? AND (? IS NULL OR generation < ?) "
            "ORDER BY user_id",
            (group_id, older_than, older_than),
        )
        return [_view(row) for row in rows]

    def groups_showing(self, user_id: str | None = None) -> dict[str, list[str]]:
        """For each member with a card, or for one, the groups that show it."""
        groups: dict[str, list[str]] = {}
        for row in self._database.execute(
            "SELECT user_id, group_id FROM views WHERE state = ? AND card IS NOT NULL "
            "AND (? IS NULL OR user_id = ?) ORDER BY user_id, group_id",
            (MemberState.ACTIVE, user_id, user_id),
        ):
            groups.setdefault(row["user_id"], []).append(row["group_id"])
        return groups

    def save_view(self, view: View, generation: int) -> None:
        """Write a view."""
        self._database.execute(
            "INSERT OR REPLACE INTO views VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                view.group_id,
                view.user_id,
                view.rev,
                view.state,
                view.role,
                view.role_rev,
                None if view.card is None else json_text(view.card),
                json_text(_claims_json(view.claims)),
                generation,
            ),
        )

    def save_claims(self, view: View) -> None:
        """Write the claims of a view that is there."""
        self._database.execute(
            "UPDATE views SET claims = ? WHERE group_id = ? AND user_id = ?",
            (json_text(_claims_json(view.claims)), view.group_id, view.user_id),
        )

    # The user's own card

    def own_card(self, group_id: str) -> tuple[int, CardJson] | None:
        """The user's own card as a group has it, with its revision."""
        row = self._database.execute(
            "SELECT rev, card FROM own_cards WHERE group_id = ?", (group_id,)
        ).fetchone()
        return None if row is None else (row["rev"], json.loads(row["card"]))

    def save_own_card(self, group_id: str, rev: int, card: CardJson) -> None:
        """Write the user's own card as a group has it."""
        self._database.execute(
            "INSERT OR REPLACE INTO own_cards VALUES (?, ?, ?)", (group_id, rev, json_text(card))
        )

    # Invitations

    def invitation(self, invitation_id: str) -> InvitationRecord | None:
        """An invitation, open or not."""
        row = self._database.execute(
            "SELECT * FROM invitations WHERE invitation_id = ?", (invitation_id,)
        ).fetchone()
        return None if row is None else InvitationRecord(**row)

    def open_invitations(self) -> list[InvitationRecord]:
        """The open invitations, by group name."""
        rows = self._database.execute(
            "SELECT * FROM invitations WHERE outcome IS NULL ORDER BY group_name, invitation_id"
        )
        return [InvitationRecord(**row) for row in rows]

    def save_invitation(self, invitation: InvitationRecord) -> None:
        """Write an invitation."""
        self._database.execute(
            "INSERT OR REPLACE INTO invitations VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                invitation.invitation_id,
                invitation.group_id,
                invitation.group_name,
                invitation.inviter_id,
                invitation.invitee_id,
                invitation.expires_at,
                invitation.outcome,
            ),
        )

    def forget_closed_invitations(self, keep: int) -> None:
        """Delete all but the latest closed invitations."""
        self._database.execute(
            "DELETE FROM invitations WHERE rowid IN (SELECT rowid FROM invitations "
            "WHERE outcome IS NOT NULL ORDER BY rowid DESC LIMIT -1 OFFSET ?)",
            (keep,),
        )

    # Settings

    def setting(self, name: str) -> str | None:
        """A setting of this terminal."""
        row = self._database.execute(
            "SELECT value FROM settings WHERE name = ?", (name,)
        ).fetchone()
        return None if row is None else str(row["value"])

    def save_setting(self, name: str, value: str | None) -> None:
        """Write a setting, or forget it."""
        if value is None:
            self._database.execute("DELETE FROM settings WHERE name = ?", (name,))
            return
        self._database.execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", (name, value))


def _contact(row: sqlite3.Row) -> ContactRecord:
    return ContactRecord(
        contact_id=row["contact_id"],
        uid=row["uid"],
        user_id=row["user_id"],
        own=_card(row["own"]),
        inherited=json.loads(row["inherited"]),
        shown=json.loads(row["shown"]),
        from_member=json.loads(row["from_member"]),
        display_name=row["display_name"],
    )


def _group(row: sqlite3.Row) -> GroupRecord:
    return GroupRecord(
        group_id=row["group_id"],
        name=row["name"],
        owner_id=row["owner_id"],
        cursor=row["cursor"],
        full_pull=bool(row["full_pull"]),
        generation=row["generation"],
    )


def _view(row: sqlite3.Row) -> View:
    return View(
        group_id=row["group_id"],
        user_id=row["user_id"],
        rev=row["rev"],
        state=MemberState(row["state"]),
        card=_card(row["card"]),
        role=None if row["role"] is None else Role(row["role"]),
        role_rev=row["role_rev"],
        claims=_claims(json.loads(row["claims"])),
    )


def _claims_json(claims: Claims) -> Mapping[str, Mapping[str, JsonValue]]:
    return {
        name: {key: [claim.member_key, claim.rev] for key, claim in entries.items()}
        for name, entries in claims.items()
    }


def _claims(stored: Mapping[str, Mapping[str, Any]]) -> Claims:
    return {
        name: {key: Claim(member_key, rev) for key, (member_key, rev) in entries.items()}
        for name, entries in stored.items()
    }
