"""Updates told: a readable line for people, an object for scripts."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from datetime import datetime
from shlex import quote
from typing import cast

from pydantic import JsonValue

from contactmesh.cli.terminal import sim_texts, texts
from contactmesh.cli.terminal.cards import Change, change_line, changes_between, seen
from contactmesh.cli.terminal.contacts import group_names
from contactmesh.cli.terminal.field_names import field_name, said
from contactmesh.cli.terminal.sim_telling import KnownSims
from contactmesh.cli.terminal.suggesting import suggested
from contactmesh.contacts import Card
from contactmesh.terminal import (
    Contact,
    ContactAdded,
    ContactRemoved,
    ContactUpdated,
    GroupGone,
    GroupJoined,
    HandedOver,
    InvitationClosed,
    InvitationReceived,
    LargeRemovalWaiting,
    MemberJoined,
    MemberLeft,
    Overwritten,
    OwnCardUpdated,
    Phonebook,
    SimContactsWaiting,
    UnknownContact,
    UnreadableUpdate,
    Update,
)


class Teller:
    """Tells updates, and remembers what each contact showed, so that a change tells old and new.

    Args:
        phonebook: the phonebook that the updates are about.
        watching: whether it is told while watching, which has to end before anything is answered.

    Attributes:
        sims: what is known of the user's SIMs, to name them.
    """

    def __init__(self, phonebook: Phonebook, *, watching: bool = False) -> None:
        self.sims = KnownSims()
        self._phonebook = phonebook
        self._answer = texts.ANSWER_WATCHING if watching else texts.ANSWER
        self._look = sim_texts.LOOK_WATCHING if watching else sim_texts.LOOK
        self._shown: dict[str, Card] = {}
        self._users: dict[str, str] = {}
        self._groups: dict[str, str] = {}

    async def begin(self) -> None:
        """Remember what is shown now."""
        for contact in await self._phonebook.contacts():
            self._remember(contact)
        self._groups = await group_names(self._phonebook)

    async def told(self, update: Update, at: datetime) -> tuple[str | None, JsonValue]:
        """An update as a line and as JSON.

        What is told is the phonebook as it is now. Of a quick series of changes the first shows
        them all, and the others have no line.

        Args:
            update: the update.
            at: when it arrived.
        """
        self._groups |= await group_names(self._phonebook)
        contact, changes = await self._changes(update)
        text = self._text(update, contact, changes)
        line = None
        if text is not None:
            time = at.astimezone().strftime("%H:%M:%S")
            line = texts.UPDATE_LINE.format(time=time, text=text)
        data: dict[str, JsonValue] = {
            "at": at.isoformat(timespec="milliseconds"),
            "update": _name(update),
            **{each.name: _plain(getattr(update, each.name)) for each in fields(update)},
        }
        if isinstance(update, ContactAdded | ContactUpdated):
            data["groups"] = list(contact.groups) if contact else []
            data["changes"] = [
                {"field": change.field, "old": change.old, "new": change.new} for change in changes
            ]
        return line, data

    async def _changes(self, update: Update) -> tuple[Contact | None, Sequence[Change]]:
        if isinstance(update, ContactRemoved):
            self._shown.pop(update.contact_id, None)
            return None, ()
        if not isinstance(update, ContactAdded | ContactUpdated):
            return None, ()
        before = self._shown.get(update.contact_id)
        try:
            contact = await self._phonebook.contact(update.contact_id)
        except UnknownContact:  # it has gone since; that update comes
            return None, ()
        self._remember(contact)
        if isinstance(update, ContactAdded):
            return contact, changes_between(None, contact.card, _reaching(contact.card))
        if before == contact.card:
            return contact, ()
        return contact, changes_between(before, contact.card)

    def _remember(self, contact: Contact) -> None:
        self._shown[contact.contact_id] = contact.card
        if contact.user_id is not None:
            self._users[contact.user_id] = contact.display_name

    def _text(
        self, update: Update, contact: Contact | None, changes: Sequence[Change]
    ) -> str | None:
        groups = [] if contact is None else [self._group(each) for each in contact.groups]
        where = texts.IN_GROUPS.format(groups=", ".join(groups)) if groups else ""
        match update:
            case ContactAdded():
                says = ", ".join(change.new or "" for change in changes)
                return texts.TOLD_ADDED.format(name=update.display_name, says=says) + where
            case ContactUpdated() if not changes:
                return None
            case ContactUpdated():
                lines = [change_line(change) for change in changes]
                lines += [
                    texts.TOLD_OVERWRITTEN.format(
                        field=field_name(lost.field, (None if contact is None else contact.card,)),
                        value=seen(said(lost.value)),
                    )
                    for lost in update.overwritten
                ]
                says = "; ".join(lines)
                return texts.TOLD_UPDATED.format(name=update.display_name, says=says) + where
            case ContactRemoved():
                return texts.TOLD_REMOVED.format(name=update.display_name)
            case OwnCardUpdated():
                return texts.TOLD_OWN_CARD.format(group=self._group(update.group_id))
            case SimContactsWaiting():
                return self.sims.told(update, self._look)
            case LargeRemovalWaiting():
                return self.sims.told_removals(update, self._look)
            case UnreadableUpdate():
                return texts.TOLD_UNREADABLE.format(type=update.type, reason=update.reason)
            case _:
                return self._text_of_group(update)

    def _text_of_group(
        self,
        update: MemberJoined
        | MemberLeft
        | InvitationReceived
        | InvitationClosed
        | GroupJoined
        | GroupGone
        | HandedOver,
    ) -> str:
        match update:
            case MemberJoined():
                return texts.TOLD_JOINED.format(
                    user=self._user(update.user_id), group=self._group(update.group_id)
                )
            case MemberLeft():
                return texts.TOLD_LEFT[update.state].format(
                    user=self._user(update.user_id), group=self._group(update.group_id)
                )
            case InvitationReceived():
                return texts.TOLD_INVITED.format(
                    user=self._user(update.inviter_id),
                    group=update.group_name,
                    answer=suggested(self._answer, group=quote(update.group_name)),
                )
            case InvitationClosed():
                return texts.TOLD_INVITATION_CLOSED.format(
                    user=self._user(update.invitee_id),
                    group=update.group_name,
                    outcome=update.outcome,
                )
            case GroupJoined():
                return texts.TOLD_GROUP_JOINED.format(group=update.name)
            case GroupGone():
                return texts.TOLD_GROUP_GONE[update.reason].format(group=update.name)
            case HandedOver():
                return texts.TOLD_HANDED_OVER.format(
                    user=self._user(update.owner_id), group=self._group(update.group_id)
                )

    def _user(self, user_id: str) -> str:
        name = self._users.get(user_id)
        return user_id if name is None else f"{name} ({user_id})"

    def _group(self, group_id: str) -> str:
        return self._groups.get(group_id, group_id)


def merged(updates: Iterable[Update]) -> list[Update]:
    """The updates, with one for each contact that was changed several times.

    The phonebook is told as it is now, so the first of the changes tells them all. Of what waits
    for a SIM, the last tells it.
    """
    updates = list(updates)
    last = {each.sim_id: each for each in updates if isinstance(each, SimContactsWaiting)}
    told: list[Update] = []
    changed: dict[str, int] = {}
    for update in updates:
        if isinstance(update, SimContactsWaiting) and update is not last[update.sim_id]:
            continue
        if isinstance(update, ContactUpdated):
            place = changed.setdefault(update.contact_id, len(told))
            before = told[place] if place < len(told) else None
            if isinstance(before, ContactUpdated):
                both = dict.fromkeys((*before.changed_fields, *update.changed_fields))
                told[place] = replace(
                    update,
                    changed_fields=tuple(both),
                    overwritten=(*before.overwritten, *update.overwritten),
                )
                continue
        elif isinstance(update, ContactAdded | ContactRemoved):
            changed.pop(update.contact_id, None)
        told.append(update)
    return told


def _reaching(card: Card) -> list[str]:
    return [
        f"{name}/{key}/{said}"
        for name, entries, said in (
            ("phones", card.phones, "number"),
            ("emails", card.emails, "address"),
        )
        for key in entries or {}
    ]


def _name(update: Update) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", type(update).__name__).lower()


def _plain(value: object) -> JsonValue:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Overwritten):
        return {"field": value.field, "value": value.value}
    return cast("JsonValue", value)
