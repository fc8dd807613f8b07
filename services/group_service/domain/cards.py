"""Publishing one's own card (G1, G1c)."""

from dataclasses import replace

from contactmesh.contacts import (
    Card,
    CardLimits,
    CardTooLarge,
    changed_fields,
    check_size,
    digest,
)
from contactmesh.contracts.contact import ContactChanged, Origin, Scope
from contactmesh.contracts.errors import ErrorCode, Refusal, invalid_field
from contactmesh.contracts.group.commands import CardPublished, PublishCard
from group_service.domain.documents import FrozenCard
from group_service.domain.state import Asking, Decision, State, Told

SERVICE = "group_service"


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
    head = group.advanced(asking.now)
    if member.frozen_here and member.card is not None and member.card_rev is not None:
        key = (member.group_id, member.user_id, member.card_rev)
        state.frozen.put(key, FrozenCard(*key, card=member.card, holders=member.frozen_here))
    card = command.card.to_json()
    state.put_group(head)
    state.put_member(
        replace(
            member,
            card=card,
            card_rev=head.rev,
            card_digest=content,
            card_uid=command.card.uid,
            frozen_here=0,
            rev=head.rev,
        )
    )
    before = None if member.card is None else Card.model_validate(member.card)
    changed = ContactChanged(
        scope=Scope.CARD,
        owner_id=asking.user_id,
        uid=command.card.uid,
        rev=head.rev,
        card=card,
        changed_fields=changed_fields(before, command.card),
        origin=Origin(service=SERVICE, terminal_id=asking.terminal_id),
        group_id=group.group_id,
        audience_version=head.audience_version,
    )
    return Decision(CardPublished(rev=head.rev), (Told(changed, asking.user_id, head.rev),))
