"""Publishing one's own card (G1, G1c)."""

from dataclasses import replace
from datetime import datetime
from typing import Final

from contactmesh.contacts import (
    Card,
    CardLimits,
    CardTooLarge,
    changed_fields,
    check_size,
    digest,
    without_private_parts,
)
from contactmesh.contracts.contact import ContactChanged, Operation, Origin, Scope
from contactmesh.contracts.errors import ErrorCode, Refusal, invalid_field
from contactmesh.contracts.group.commands import CardPublished, PublishCard
from contactmesh.deciding.decision import Decision, Told
from group_service.domain.documents import FrozenCard, Group, Limits, Member, OwnCard
from group_service.domain.state import Asking, State

SERVICE: Final = "group_service"


def publish(state: State, asking: Asking, command: PublishCard) -> Decision:
    """Take over the sender's card, and tell the group if it is another one than before."""
    group, member = state.group_of(command.group_id, asking)
    try:
        check_size(command.card, CardLimits(card_bytes=asking.limits.card_bytes))
    except CardTooLarge as error:
        raise Refusal(
            ErrorCode.TOO_LARGE, str(error), limit_bytes=asking.limits.card_bytes
        ) from error
    content = digest(command.card)
    if member.card_rev is not None and content == member.card_digest:
        return Decision(CardPublished(rev=member.card_rev))
    if command.base_rev != member.card_rev:
        raise Refusal(
            ErrorCode.CONFLICT,
            "Your card was published from elsewhere meanwhile. Pull, merge, and publish again.",
            current_rev=member.card_rev,
        )
    if member.card_uid is not None and command.card.uid != member.card_uid:
        raise invalid_field("/data/card/uid", f"must stay {member.card_uid}")
    origin = Origin(service=SERVICE, terminal_id=asking.terminal_id)
    changed = replace_card(state, group, member, command.card, origin=origin, now=asking.now)
    told = Told(changed, asking.user_id, changed.rev)
    return Decision(CardPublished(rev=changed.rev), (told,))


def follow_book(
    state: State, event: ContactChanged, told_at: datetime, limits: Limits, now: datetime
) -> tuple[Told, ...]:
    """Publish the owner's own card, as their address book has it now, to each of their groups.

    What is private stays in the book, and each group keeps the uid that it knows. Events come in
    any order and any number of times: one that is no newer than what was published changes
    nothing, nor does a card that says the same. A deletion takes the card away from nobody.

    Raises:
        CardTooLarge: the groups keep what they have. The event is taken in all the same.
    """
    owner_id = event.owner_id
    at = int(told_at.timestamp() * 1_000_000)
    own_card = OwnCard(owner_id, event.book, event.uid, event.rev, at)
    known = state.own_cards.get(owner_id)
    if known is not None and known.knows(own_card):
        return ()
    state.guard(owner_id)
    state.own_cards.put(owner_id, own_card)
    if event.op is Operation.DELETED or event.card is None:
        return ()
    card = without_private_parts(Card.model_validate(event.card))
    check_size(card, CardLimits(card_bytes=limits.card_bytes))
    origin = Origin(service=SERVICE, terminal_id=event.origin.terminal_id)
    told = []
    for member in state.members:
        group = state.groups.get(member.group_id)
        if member.user_id != owner_id or not member.active or group is None or group.dissolved:
            continue
        if member.card_rev is None or digest(card) != member.card_digest:
            named = card.model_copy(update={"uid": member.card_uid or card.uid})
            changed = replace_card(state, group, member, named, origin=origin, now=now)
            told.append(Told(changed, owner_id, changed.rev))
    return tuple(told)


def replace_card(
    state: State, group: Group, member: Member, card: Card, *, origin: Origin, now: datetime
) -> ContactChanged:
    """Put a card in the place of a member's, and keep the old one for those blocked.

    Returns:
        The event that tells of it.
    """
    head = group.advanced(now)
    if member.frozen_here and member.card is not None and member.card_rev is not None:
        key = (member.group_id, member.user_id, member.card_rev)
        state.frozen.put(key, FrozenCard(*key, card=member.card, holders=member.frozen_here))
    content = card.to_json()
    state.put_group(head)
    state.put_member(
        replace(
            member,
            card=content,
            card_rev=head.rev,
            card_digest=digest(card),
            card_uid=card.uid,
            frozen_here=0,
            rev=head.rev,
        )
    )
    before = None if member.card is None else Card.model_validate(member.card)
    return ContactChanged(
        scope=Scope.CARD,
        owner_id=member.user_id,
        uid=card.uid,
        rev=head.rev,
        card=content,
        changed_fields=changed_fields(before, card),
        origin=origin,
        group_id=group.group_id,
        audience_version=head.audience_version,
    )
