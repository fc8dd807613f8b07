"""Changes to the phonebook within one transaction, and what they changed for the user."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime

from pydantic import ValidationError

from contactmesh.contracts.carrier.check import Checked
from contactmesh.contracts.contact import ContactUpdate, Operation
from contactmesh.contracts.group.commands import GroupList, Pulled
from contactmesh.contracts.group.updates import (
    GroupDissolvedUpdate,
    HandedOverUpdate,
    InvitationClosedUpdate,
    InvitationUpdate,
    MemberJoinedUpdate,
    MemberLeftUpdate,
)
from contactmesh.contracts.group.views import InvitationView, MemberState, PulledMember
from contactmesh.terminal.book_changes import BookChanges
from contactmesh.terminal.contact_changes import ContactChanges
from contactmesh.terminal.line_records import CheckRecord
from contactmesh.terminal.reading import stored_card, unreadable
from contactmesh.terminal.records import GroupRecord, InvitationRecord, Records
from contactmesh.terminal.rules.lines import Question, gone_after, lines_told
from contactmesh.terminal.rules.ownership import claims_by
from contactmesh.terminal.rules.views import CardJson, View, join_claims, newest
from contactmesh.terminal.updates import (
    Departure,
    GroupGone,
    GroupJoined,
    HandedOver,
    InvitationClosed,
    InvitationReceived,
    MemberJoined,
    MemberLeft,
    OwnCardUpdated,
    UnreadableUpdate,
    Update,
)

PULL_INTERVAL = "pull_interval_seconds"
"""The setting that holds how often the terminal pulls."""
CLOSED_INVITATIONS = 1000
"""How many closed invitations are remembered, so that a late message does not open them again."""


class Changes:
    """One transaction's worth of changes.

    Args:
        records: the phonebook's rows.
        user_id: whose phonebook it is.
        region: the country (ISO 3166) of numbers without a country code.
        new_id: mints contact ids.

    Attributes:
        updates: what really changed, in order.
        contacts: changes to single contacts, among them the owner's own.
        book: what the server says of the owner's address book.
        groups_to_pull: groups of which a message spoke and that have to be pulled to know more.
    """

    def __init__(
        self, records: Records, user_id: str, region: str | None, new_id: Callable[[], str]
    ) -> None:
        self._records = records
        self._region = region
        self._user_id = user_id
        self.updates: list[Update] = []
        self.groups_to_pull: list[str] = []
        self.contacts = ContactChanges(records, region, new_id, self.updates)
        self.book = BookChanges(records, self.contacts, self.updates)

    # What the service pushes

    def card_changed(self, update: ContactUpdate, group_id: str) -> None:
        """A member's card, or the user's own, changed."""
        self._learn(
            View(
                group_id=group_id,
                user_id=update.owner_id,
                rev=update.rev,
                state=MemberState.ACTIVE,
                card=None if update.op is Operation.DELETED else stored_card(update.card),
            )
        )

    def member_joined(self, update: MemberJoinedUpdate) -> None:
        """Someone became a member."""
        self._learn(
            View(
                group_id=update.group_id,
                user_id=update.user_id,
                rev=update.rev,
                state=MemberState.ACTIVE,
                role=update.role,
                role_rev=update.rev,
            )
        )

    def member_left(self, update: MemberLeftUpdate) -> None:
        """Someone, maybe the user, is no longer a member."""
        self._learn(
            View(
                group_id=update.group_id,
                user_id=update.user_id,
                rev=update.rev,
                state=update.state,
            )
        )

    def handed_over(self, update: HandedOverUpdate) -> None:
        """A group has another owner."""
        group = self._records.group(update.group_id)
        if group is not None and group.owner_id != update.owner_id:
            self._records.save_group(replace(group, owner_id=update.owner_id))
            self.updates.append(HandedOver(update.group_id, update.owner_id))

    def dissolved(self, update: GroupDissolvedUpdate) -> None:
        """A group is no more."""
        self.drop_group(update.group_id, Departure.DISSOLVED)

    def invited(self, invitation: InvitationUpdate | InvitationView) -> None:
        """Someone invites the user. An invitation that was closed stays closed."""
        if self._records.invitation(invitation.invitation_id) is not None:
            return
        if invitation.invitee_id != self._user_id:
            return
        self._records.save_invitation(
            InvitationRecord(
                invitation_id=invitation.invitation_id,
                group_id=invitation.group_id,
                group_name=invitation.group_name,
                inviter_id=invitation.inviter_id,
                invitee_id=invitation.invitee_id,
                expires_at=invitation.expires_at.isoformat(),
                outcome=None,
            )
        )
        self.updates.append(
            InvitationReceived(
                invitation_id=invitation.invitation_id,
                group_id=invitation.group_id,
                group_name=invitation.group_name,
                inviter_id=invitation.inviter_id,
                expires_at=invitation.expires_at,
            )
        )

    def invitation_closed(self, update: InvitationClosedUpdate) -> None:
        """An invitation that the user sent or got was answered or withdrawn."""
        known = self._records.invitation(update.invitation_id)
        if known is not None and known.outcome is not None:
            return
        self._close_invitation(
            InvitationRecord(
                invitation_id=update.invitation_id,
                group_id=update.group_id,
                group_name=update.group_name,
                inviter_id=update.inviter_id,
                invitee_id=update.invitee_id,
                expires_at=None if known is None else known.expires_at,
                outcome=update.outcome,
            ),
            update.outcome,
        )

    def answered(self, invitation_id: str, outcome: str) -> None:
        """The user accepted or declined an invitation on this terminal."""
        known = self._records.invitation(invitation_id)
        if known is not None and known.outcome is None:
            self._close_invitation(known, outcome)

    def _close_invitation(self, invitation: InvitationRecord, outcome: str) -> None:
        self._records.save_invitation(replace(invitation, outcome=outcome))
        self._records.forget_closed_invitations(CLOSED_INVITATIONS)
        self.updates.append(
            InvitationClosed(
                invitation_id=invitation.invitation_id,
                group_id=invitation.group_id,
                group_name=invitation.group_name,
                inviter_id=invitation.inviter_id,
                invitee_id=invitation.invitee_id,
                outcome=outcome,
            )
        )

    # What the terminal pulls

    def listed(self, listing: GroupList, known: Iterable[str], open_before: Iterable[str]) -> None:
        """The user's groups and invitations, as the service lists them.

        Args:
            listing: the service's answer.
            known: the groups that this terminal knew when it asked. Only these can be told gone:
                one that came while the answer was under way is not in it.
            open_before: the invitations that were open here when it asked, for the same reason.
        """
        there = {group.group_id for group in listing.groups}
        for group_id in known:
            if group_id not in there:
                self.drop_group(group_id, Departure.UNKNOWN)
        for invitation in listing.invitations:
            self.invited(invitation)
        waiting = {invitation.invitation_id for invitation in listing.invitations}
        for invitation_id in open_before:
            if invitation_id not in waiting:
                self.answered(invitation_id, "closed")

    def begin_full_pull(self, group_id: str) -> None:
        """Forget where the pull of a group was; the next pages together are all that there is."""
        group = self._records.group(group_id)
        if group is not None:
            self._records.save_group(
                replace(group, cursor=None, full_pull=True, generation=group.generation + 1)
            )

    def pulled(self, page: Pulled, since: str | None) -> None:
        """Apply one page together with its cursor.

        Args:
            page: the page.
            since: the cursor that it was asked with.
        """
        group = self._records.group(page.group.group_id)
        if group is None:
            if since is not None:
                # The user left while the page was under way.
                return
            group = GroupRecord(
                group_id=page.group.group_id,
                name=page.group.name,
                owner_id=page.group.owner_id,
                cursor=None,
                full_pull=True,
                generation=1,
            )
            self._records.save_group(group)
            self.updates.append(GroupJoined(group.group_id, group.name))
        elif group.owner_id != page.group.owner_id:
            self.updates.append(HandedOver(group.group_id, page.group.owner_id))
        for member in page.members:
            self._pulled_member(group.group_id, member)
        if self._records.group(group.group_id) is None:
            return
        for invitation in page.invitations:
            self.invited(invitation)
        if group.full_pull and not page.has_more:
            self._drop_unseen(group)
        self._records.save_group(
            replace(
                group,
                name=page.group.name,
                owner_id=page.group.owner_id,
                cursor=page.cursor,
                full_pull=group.full_pull and page.has_more,
            )
        )
        self._records.save_setting(PULL_INTERVAL, str(page.interval_seconds))

    def _pulled_member(self, group_id: str, member: PulledMember) -> None:
        try:
            card = stored_card(member.card)
        except ValidationError as error:
            self.updates.append(
                UnreadableUpdate(type=Pulled.TYPE, message_id=None, reason=unreadable(error))
            )
            card = None
        self._learn(
            View(
                group_id=group_id,
                user_id=member.user_id,
                rev=member.rev,
                state=member.state,
                card=card if member.state is MemberState.ACTIVE else None,
                role=member.role,
                role_rev=member.rev,
            )
        )

    def _drop_unseen(self, group: GroupRecord) -> None:
        for view in self._records.views_in_group(group.group_id, older_than=group.generation):
            if view.active:
                gone = replace(view, state=MemberState.LEFT, card=None, claims={})
                self._records.save_view(gone, group.generation)
                self.updates.append(MemberLeft(group.group_id, view.user_id, MemberState.LEFT))
                self.contacts.show(view.user_id)

    def drop_group(self, group_id: str, reason: Departure) -> None:
        """The user is not, or no longer, in a group: its views go, as when every member left."""
        group = self._records.group(group_id)
        if group is None:
            return
        members = [view.user_id for view in self._records.views_in_group(group_id)]
        self._records.delete_group(group_id)
        for user_id in members:
            self.contacts.show(user_id)
        self.updates.append(GroupGone(group_id, group.name, reason))

    # What the carrier registry says

    def checked(self, contact_id: str, answer: Checked, asked: Question, at: datetime) -> None:
        """The registry answered a check.

        Raises:
            UnknownContact: there is no such contact.
        """
        user_id = answer.identity_id
        self.contacts.identify(contact_id, user_id)
        if self._records.contact_of(user_id) is None:
            # Parted from its member while the answer was under way.
            return
        before = self._records.lines.of(user_id)
        revs = [view.rev for view in self._records.views_of_user(user_id) if view.shown]
        gone = gone_after(
            () if before is None else before.gone, answer, asked, max(revs, default=0)
        )
        self._records.lines.save(user_id, CheckRecord(at, lines_told(answer), gone))
        self.contacts.show(user_id)

    # The user's own card

    def published(self, group_id: str, rev: int, card: CardJson) -> None:
        """This terminal published the user's own card to a group."""
        stored = self._records.own_card(group_id)
        if self._records.group(group_id) is not None and (stored is None or rev >= stored[0]):
            self._records.save_own_card(group_id, rev, card)

    # Views

    def _learn(self, arrived: View) -> None:
        group = self._records.group(arrived.group_id)
        if group is None:
            # Only a pull makes a group known: a late push of a group that the user has left
            # would otherwise bring it back.
            if arrived.active and arrived.group_id not in self.groups_to_pull:
                self.groups_to_pull.append(arrived.group_id)
            return
        if arrived.user_id == self._user_id:
            self._learn_of_self(group, arrived)
            return
        stored = self._records.view(arrived.group_id, arrived.user_id)
        view = newest(stored, arrived)
        if view.active and arrived.card is not None:
            # A card that comes late is not shown, but what it says of who the member is still
            # holds: so the order in which cards come does not decide which entry is linked.
            own = self.contacts.meet(arrived.user_id, arrived.card, make=view.shown)
            # Linking has just claimed entries for the views that were there.
            view = newest(self._records.view(arrived.group_id, arrived.user_id), arrived)
            claims = claims_by(own, arrived.card, arrived.rev, self._region)
            view = replace(view, claims=join_claims(view.claims, claims))
        self._records.save_view(view, group.generation)
        was_active = stored is not None and stored.active
        if view.active and not was_active:
            self.updates.append(MemberJoined(view.group_id, view.user_id, view.role))
        elif was_active and not view.active:
            self.updates.append(MemberLeft(view.group_id, view.user_id, view.state))
        self.contacts.show(arrived.user_id)

    def _learn_of_self(self, group: GroupRecord, arrived: View) -> None:
        stored = self._records.view(arrived.group_id, arrived.user_id)
        view = newest(stored, replace(arrived, card=None))
        if not view.active:
            if stored is None or stored.active:
                reason = Departure.REMOVED if view.state is MemberState.REMOVED else Departure.LEFT
                self.drop_group(arrived.group_id, reason)
            return
        self._records.save_view(view, group.generation)
        if arrived.card is not None:
            card = self._records.own_card(arrived.group_id)
            if card is None or arrived.rev > card[0]:
                self._records.save_own_card(arrived.group_id, arrived.rev, arrived.card)
                self.updates.append(OwnCardUpdated(arrived.group_id, arrived.rev))
