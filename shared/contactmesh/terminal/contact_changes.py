"""The contacts of a phonebook: made, linked, composed and told of, within one transaction."""

from collections.abc import Callable
from dataclasses import replace
from typing import cast

from pydantic import JsonValue

from contactmesh.contacts import Card, changed_fields, digest, display_name
from contactmesh.terminal.errors import LinkRefused
from contactmesh.terminal.records import ContactRecord, Records
from contactmesh.terminal.rules.lines import lay_over
from contactmesh.terminal.rules.linking import Candidate, own_entry_for, reach_keys, strangers
from contactmesh.terminal.rules.ownership import (
    Composed,
    Inherited,
    claims_by,
    compose,
    entries_of,
    plain_text,
    still_theirs,
)
from contactmesh.terminal.rules.views import CardJson, Claims, join_claims
from contactmesh.terminal.updates import ContactAdded, ContactRemoved, ContactUpdated, Update


class ContactChanges:
    """Changes to contacts.

    Args:
        records: the phonebook's rows.
        region: the country (ISO 3166) of numbers without a country code.
        new_id: mints contact ids.
        updates: takes what really changed.
    """

    def __init__(
        self,
        records: Records,
        region: str | None,
        new_id: Callable[[], str],
        updates: list[Update],
    ) -> None:
        self._records = records
        self._region = region
        self._new_id = new_id
        self._updates = updates

    def meet(self, user_id: str, card: CardJson, *, make: bool) -> CardJson | None:
        """The owner's part of a member's contact, which is linked or made if need be."""
        contact = self._records.contact_of(user_id)
        if contact is not None and contact.own is not None:
            return contact.own
        if not self._records.kept_apart(user_id):
            found = own_entry_for(card, self._candidates(card, user_id), self._region)
            if found is not None:
                return self._link(found, user_id, contact)
        if contact is None and make:
            self._save(
                ContactRecord(contact_id=self._new_id(), uid=str(card["uid"]), user_id=user_id)
            )
        return None

    def _candidates(self, card: CardJson, user_id: str) -> list[Candidate]:
        return [
            Candidate(contact.contact_id, contact.own)
            for contact in self._records.reached_by(
                str(card["uid"]), reach_keys(card, self._region), own=True
            )
            if contact.own is not None
            and contact.user_id != user_id
            and not self.is_shown(contact.user_id)
        ]

    def is_shown(self, user_id: str | None) -> bool:
        """Whether a common group shows this member."""
        return user_id is not None and any(
            view.shown for view in self._records.views_of_user(user_id)
        )

    def _link(
        self, contact_id: str, user_id: str, made_by_group: ContactRecord | None
    ) -> CardJson | None:
        contact = self._records.existing(contact_id)
        if made_by_group is not None:
            self._delete(made_by_group)
        self._save(replace(contact, user_id=user_id, inherited={}))
        for view in self._records.views_of_user(user_id):
            if view.card is not None:
                claims = claims_by(contact.own, view.card, view.rev, self._region)
                self._records.save_claims(replace(view, claims=join_claims(view.claims, claims)))
        return contact.own

    def show(self, user_id: str) -> None:
        """Bring what is shown of a member up to date with what is known of them."""
        contact = self._records.contact_of(user_id)
        if contact is None:
            return
        views = [view for view in self._records.views_of_user(user_id) if view.shown]
        if views:
            composed = compose(contact.own or {}, views, contact.inherited, self._region)
            card, from_member = self._checked(user_id, composed, max(view.rev for view in views))
            self._save(replace(contact, shown=card, from_member=from_member))
        elif contact.own is None:
            self._delete(contact)
            self._records.lines.forget(user_id)
        elif contact.from_member:
            # What was last known of the member stays, and is the owner's from now on.
            self._save(
                replace(
                    contact,
                    own=contact.shown,
                    inherited=contact.from_member,
                    from_member={},
                )
            )
        else:
            self._save(replace(contact, shown=self._checked_own(contact)))

    def _checked(self, user_id: str, composed: Composed, rev: int) -> tuple[CardJson, Inherited]:
        """What is shown of a member, with what the registry said of their numbers."""
        told = self._records.lines.of(user_id)
        if told is None:
            return composed.card, composed.from_member
        card = lay_over(
            composed.card,
            told.lines,
            told.gone,
            of_member=composed.from_member.get("phones", {}),
            rev=rev,
            region=self._region,
        )
        # What the registry added is the member's too, and what it took off is nobody's.
        before, phones = entries_of(composed.card, "phones"), entries_of(card, "phones")
        marks = composed.from_member.get("phones", {})
        theirs = {key: marks.get(key, {}) for key in phones if key in marks or key not in before}
        return card, {**composed.from_member, "phones": theirs}

    def _checked_own(self, contact: ContactRecord) -> CardJson:
        """The owner's entry alone, with what the registry said of its numbers."""
        own = contact.own or {}
        told = None if contact.user_id is None else self._records.lines.of(contact.user_id)
        if told is None:
            return own
        return lay_over(own, told.lines, told.gone, of_member=(), rev=0, region=self._region)

    def _save(self, contact: ContactRecord) -> None:
        """Write a contact, and tell the user if it shows something else than before."""
        before = self._records.contact(contact.contact_id)
        shown = contact.shown
        name = display_name(Card.model_validate(shown)) if shown else ""
        uid = str((contact.own or shown or {"uid": contact.uid})["uid"])
        if before is not None and before.own is not None and before.uid != uid:
            self._records.spaces.stay_private(before.uid, uid)
        self._track(before, contact)
        reached_by = reach_keys(shown, self._region)
        if contact.own is not None and contact.own != shown:
            reached_by |= reach_keys(contact.own, self._region)
        self._records.save_contact(
            replace(contact, uid=uid, display_name=name),
            sort_key=_sort_key(shown, name),
            search_text=_search_text(shown, name),
            reached_by=reached_by,
        )
        if not shown:
            return
        if before is None or not before.shown:
            self._updates.append(ContactAdded(contact.contact_id, name, contact.user_id))
            return
        changed = changed_fields(Card.model_validate(before.shown), Card.model_validate(shown))
        if changed:
            self._updates.append(ContactUpdated(contact.contact_id, name, changed, contact.user_id))

    def _delete(self, contact: ContactRecord) -> None:
        self._track(contact, None)
        self._records.delete_contact(contact.contact_id)
        if contact.shown:
            self._updates.append(ContactRemoved(contact.contact_id, contact.display_name))

    def _track(self, before: ContactRecord | None, after: ContactRecord | None) -> None:
        """Keep what became of the owner's entry, for the sync (rows Y1, Y2).

        Every change of an entry comes by here, whoever makes it.
        """
        old = None if before is None else before.own
        new = None if after is None else after.own
        if old == new:
            return
        if old is not None and (new is None or old["uid"] != new["uid"]):
            self._records.book.deleted(str(old["uid"]))
        if new is not None:
            self._records.book.written(str(new["uid"]), digest(Card.model_validate(new)))

    def write_own(self, contact_id: str | None, own: CardJson) -> str:
        """Write the owner's part of a contact, or a new contact of the owner's.

        Returns:
            The contact's id; another one than asked for if the entry turned out to be a member's.

        Raises:
            UnknownContact: there is no such contact.
        """
        if contact_id is None:
            contact = ContactRecord(
                contact_id=self._new_id(),
                uid=str(own["uid"]),
                user_id=None,
                own=own,
                shown=own,
            )
            self._save(contact)
            self._link_new_entry(contact.contact_id, own)
            return contact.contact_id
        known = self._records.existing(contact_id)
        same_uid = self._records.own_contact(str(own["uid"]))
        if same_uid is not None and same_uid.contact_id != contact_id:
            own = {**own, "uid": f"urn:uuid:{self._new_id()}"}
        views = [] if known.user_id is None else self._records.views_of_user(known.user_id)
        for view in views:
            claims: Claims = still_theirs(view.claims, known.own, own)
            if view.shown and view.card is not None:
                claims = join_claims(claims, claims_by(own, view.card, view.rev, self._region))
            self._records.save_claims(replace(view, claims=claims))
        edited = replace(known, own=own, inherited=still_theirs(known.inherited, known.own, own))
        if known.user_id is not None and any(view.shown for view in views):
            self._save(edited)
            self.show(known.user_id)
        else:
            self._save(replace(edited, shown=self._checked_own(edited)))
        return contact_id

    def set_apart(self, uid: str, card: CardJson) -> bool:
        """Give an entry another uid if this card, which has the same, is another person's.

        Returns:
            Whether it got one.
        """
        contact = self._records.own_contact(uid)
        if contact is None or contact.own is None:
            return False
        if not strangers(contact.own, card, self._region):
            return False
        return self.give_uid(uid, f"urn:uuid:{self._new_id()}")

    def give_uid(self, uid: str, other: str) -> bool:
        """Give an entry another uid, if it is here; whether it was."""
        contact = self._records.own_contact(uid)
        if contact is None or contact.own is None:
            return False
        self.write_own(contact.contact_id, {**contact.own, "uid": other})
        return True

    def delete_own(self, contact_id: str) -> None:
        """Delete the owner's entry; where a member is behind it, what groups show of them stays.

        Raises:
            UnknownContact: there is no such contact.
            NoOwnEntry: a group alone brought the contact.
        """
        contact = self._records.own_of(contact_id)
        user_id = contact.user_id
        if user_id is not None and self.is_shown(user_id):
            for view in self._records.views_of_user(user_id):
                self._records.save_claims(replace(view, claims={}))
            self._save(replace(contact, own=None, inherited={}))
            self.show(user_id)
            return
        self._delete(contact)
        if user_id is not None:
            self._records.lines.forget(user_id)

    def _link_new_entry(self, contact_id: str, own: CardJson) -> None:
        """Link a new entry of the owner's to the one member whose card it matches, if any."""
        matching: list[str] = []
        members = self._records.reached_by(
            str(own["uid"]), reach_keys(own, self._region), own=False
        )
        for contact in members:
            user_id = contact.user_id
            if user_id is None or self._records.kept_apart(user_id):
                continue
            candidate = Candidate(contact_id, own)
            if any(
                view.shown
                and view.card is not None
                and own_entry_for(view.card, [candidate], self._region)
                for view in self._records.views_of_user(user_id)
            ):
                matching.append(user_id)
        if len(matching) == 1:
            self._link(contact_id, matching[0], self._records.contact_of(matching[0]))
            self.show(matching[0])

    def identify(self, contact_id: str, user_id: str) -> None:
        """The registry knows whose contact this is; without a common group there is no more.

        Raises:
            UnknownContact: there is no such contact.
        """
        contact = self._records.existing(contact_id)
        if contact.user_id is None and self._records.contact_of(user_id) is None:
            self._save(replace(contact, user_id=user_id))

    def link(self, contact_id: str, user_id: str) -> None:
        """Say that a contact of the owner's is a member.

        Raises:
            UnknownContact: there is no such contact.
            LinkRefused: no group shows this member's card, or the contact is another member's.
        """
        contact = self._records.existing(contact_id)
        if contact.user_id == user_id:
            return
        if not self.is_shown(user_id):
            raise LinkRefused(f"None of your groups shows a card of {user_id} to link to.")
        if contact.own is None or self.is_shown(contact.user_id):
            raise LinkRefused(
                f"This contact is {contact.user_id} already. Unlink it first, or choose another."
            )
        other = self._records.contact_of(user_id)
        if other is not None and other.own is not None:
            raise LinkRefused(f"{user_id} is linked to another contact. Unlink that one first.")
        self._records.keep_apart(user_id, apart=False)
        self._link(contact_id, user_id, other)
        self.show(user_id)

    def unlink(self, contact_id: str) -> None:
        """Part a contact of the owner's from its member, who becomes a contact of their own.

        The entry is again what it was before, and the member is not linked by itself again.

        Raises:
            UnknownContact: there is no such contact.
            LinkRefused: the contact is not linked, or a group alone brought it.
        """
        contact = self._records.existing(contact_id)
        user_id = contact.user_id
        if user_id is None or not self.is_shown(user_id):
            raise LinkRefused("This contact is not linked to a member.")
        if contact.own is None:
            raise LinkRefused("A group brought this contact; there is no entry of yours to part.")
        self._records.keep_apart(user_id, apart=True)
        self._save(replace(contact, user_id=None, inherited={}, shown=contact.own, from_member={}))
        views = self._records.views_of_user(user_id)
        for view in views:
            self._records.save_claims(replace(view, claims={}))
        newest_card = max((view for view in views if view.shown), key=lambda view: view.rev).card
        if newest_card is not None:
            self.meet(user_id, newest_card, make=True)
        self.show(user_id)


def _sort_key(card: CardJson, name: str) -> str:
    sorting = entries_of(card, "name").get("sortAs")
    if isinstance(sorting, dict):
        parts = [sorting.get(kind) for kind in ("surname", "given")]
        text = " ".join(str(part) for part in parts if part)
        if text:
            return plain_text(text)
    return plain_text(name)


def _search_text(card: CardJson, name: str) -> str:
    texts = [name]
    for field in ("nicknames", "phones", "emails", "organizations", "titles", "notes"):
        for entry in entries_of(card, field).values():
            texts.extend(
                text
                for key in ("name", "number", "address", "note", "label")
                if isinstance(text := entry.get(key), str)
            )
    texts.extend(cast("dict[str, JsonValue]", card.get("keywords", {})))
    digits = ["".join(filter(str.isdigit, text)) for text in texts]
    return plain_text("\n".join((*texts, *digits)))
