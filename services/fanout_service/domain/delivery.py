"""Who is told of an event, and in which words."""

from collections.abc import Iterable
from dataclasses import dataclass

from contactmesh.audience.model import STANDING, Audience
from contactmesh.contracts.contact import ContactChanged, ContactUpdate
from contactmesh.contracts.envelope import Message
from contactmesh.contracts.group.events import (
    AudienceEvent,
    BlockLifted,
    GroupCreated,
    GroupDissolved,
    HandedOver,
    InvitationClosed,
    InvitationSent,
    MemberJoined,
    MemberLeft,
)
from contactmesh.contracts.group.updates import (
    GroupDissolvedUpdate,
    GroupJoined,
    HandedOverUpdate,
    InvitationClosedUpdate,
    InvitationUpdate,
    MemberJoinedUpdate,
    MemberLeftUpdate,
    RefreshUpdate,
)


@dataclass(frozen=True, slots=True)
class Delivery:
    """A message for users, with those of their terminals left out that want or need no push.

    `terminal_ids` are terminals that it is for alone. `withheld` counts the members who are
    not told because of a block.
    """

    message: Message
    user_ids: tuple[str, ...]
    muted_terminals: tuple[tuple[str, tuple[str, ...]], ...] = ()
    rev: int | None = None
    withheld: int = 0
    terminal_ids: tuple[str, ...] = ()

    @property
    def recipients(self) -> int:
        """For how many users or single terminals it is."""
        return len(self.user_ids) + len(self.terminal_ids)


def may_know(audience: Audience, owner_id: str, viewer_id: str, version: int) -> bool:
    """Whether a viewer may be told of a change that the owner made at an audience version (G1b).

    Deny wins: a standing block holds for what is still under way too, and a lifted one for all
    that was changed before the lifting. What is withheld needlessly, the next pull brings.
    """
    listener = audience.members.get(viewer_id)
    if listener is None or version < listener.since:
        return False
    lifted = audience.blocks.get(owner_id, {}).get(viewer_id)
    return lifted is None or (lifted != STANDING and version >= lifted)


def of_change(audience: Audience, event: ContactChanged) -> Delivery:
    """A changed card goes to all members who may know of it, its owner's other terminals too."""
    version = event.audience_version or 0
    told = tuple(
        user_id
        for user_id in audience.members
        if may_know(audience, event.owner_id, user_id, version)
    )
    blocked = sum(
        user_id in audience.members and not may_know(audience, event.owner_id, user_id, version)
        for user_id in audience.blocks.get(event.owner_id, {})
    )
    update = ContactUpdate(
        scope=event.scope,
        owner_id=event.owner_id,
        uid=event.uid,
        rev=event.rev,
        op=event.op,
        card=event.card,
        changed_fields=event.changed_fields,
        group_id=event.group_id,
    )
    return Delivery(update, told, _muted(audience, told), event.rev, blocked)


def of_book(event: ContactChanged) -> Delivery:
    """A changed entry of an address book goes to its owner's other terminals, to nobody else.

    The terminal that changed it has the reply, and learns there what became of its change.
    """
    update = ContactUpdate(
        scope=event.scope,
        owner_id=event.owner_id,
        uid=event.uid,
        rev=event.rev,
        op=event.op,
        card=event.card,
        changed_fields=event.changed_fields,
        book=event.book,
        erased=event.erased,
    )
    sender = event.origin.terminal_id
    muted = () if sender is None else ((event.owner_id, (sender,)),)
    return Delivery(update, (event.owner_id,), muted, event.rev)


def of_space(event: ContactChanged) -> list[Delivery]:
    """That something waits for a SIM goes to the terminal that holds it, and to no other (M5)."""
    if event.pending is None:
        return []
    update = ContactUpdate(
        scope=event.scope,
        owner_id=event.owner_id,
        uid=event.uid,
        rev=event.rev,
        waiting=event.pending.waiting,
        filling=event.pending.filling,
    )
    return [Delivery(update, (), rev=event.rev, terminal_ids=(event.pending.terminal_id,))]


def of_group(audience: Audience, event: AudienceEvent) -> list[Delivery]:
    """Who is told of an event about the group itself. Blocks are told to nobody."""
    group_id = event.group_id
    everyone = tuple(audience.members)
    match event:
        case GroupCreated():
            joined = GroupJoined(group_id=group_id, name=event.name, owner_id=event.owner_id)
            return [Delivery(joined, everyone)]
        case MemberJoined():
            joined = GroupJoined(group_id=group_id, name=event.group_name, owner_id=event.owner_id)
            update = MemberJoinedUpdate(
                group_id=group_id, user_id=event.user_id, role=event.role, rev=event.rev
            )
            others = tuple(user_id for user_id in everyone if user_id != event.user_id)
            return [
                Delivery(joined, (event.user_id,)),
                Delivery(update, others, _muted(audience, others), event.rev),
            ]
        case MemberLeft():
            update_left = MemberLeftUpdate(
                group_id=group_id, user_id=event.user_id, state=event.state, rev=event.rev
            )
            remaining = tuple(user_id for user_id in everyone if user_id != event.user_id)
            return [
                Delivery(update_left, (event.user_id,), rev=event.rev),
                Delivery(update_left, remaining, _muted(audience, remaining), event.rev),
            ]
        case BlockLifted() if event.refresh and event.blocked_id in audience.members:
            refresh = RefreshUpdate(group_id=group_id)
            blocked = (event.blocked_id,)
            return [Delivery(refresh, blocked, _muted(audience, blocked))]
        case HandedOver():
            update_owner = HandedOverUpdate(group_id=group_id, owner_id=event.owner_id)
            return [Delivery(update_owner, everyone, _muted(audience, everyone))]
        case GroupDissolved():
            return [Delivery(GroupDissolvedUpdate(group_id=group_id), everyone)]
    return []


def of_invitation(event: InvitationSent | InvitationClosed) -> list[Delivery]:
    """An invitation goes to the invited, its end to both sides."""
    match event:
        case InvitationSent():
            update = InvitationUpdate(**event.model_dump())
            return [Delivery(update, (event.invitee_id,))]
        case InvitationClosed():
            closed = InvitationClosedUpdate(**event.model_dump())
            return [Delivery(closed, (event.inviter_id, event.invitee_id))]


def _muted(audience: Audience, user_ids: Iterable[str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple(
        (user_id, muted)
        for user_id in user_ids
        if (muted := audience.members[user_id].muted_terminals)
    )
