"""What services push to terminals: reading it, and what each kind of message changes."""

from typing import Final

import structlog
from pydantic import ValidationError

from contactmesh.contracts.contact import MAIN_BOOK, ContactUpdate, Operation, Scope
from contactmesh.contracts.envelope import Envelope, Message
from contactmesh.contracts.errors import Refusal
from contactmesh.contracts.group import updates as pushed
from contactmesh.terminal.changes import Changes
from contactmesh.terminal.reading import stored_card, unreadable
from contactmesh.terminal.updates import SimContactsWaiting, UnreadableUpdate

_log = structlog.get_logger(__name__)

_PUSHED: Final[dict[str, type[Message]]] = {
    message.TYPE: message
    for message in (
        ContactUpdate,
        pushed.GroupJoined,
        pushed.MemberJoinedUpdate,
        pushed.MemberLeftUpdate,
        pushed.RefreshUpdate,
        pushed.HandedOverUpdate,
        pushed.GroupDissolvedUpdate,
        pushed.InvitationUpdate,
        pushed.InvitationClosedUpdate,
    )
}


def unreadable_body(refusal: Refusal, message_id: str | None) -> UnreadableUpdate:
    """Tell of a message whose envelope cannot be read."""
    fields = refusal.body.details.get("fields", [])
    reason = "; ".join(f"{field['path'] or '/'}: {field['problem']}" for field in fields[:3])
    return _unreadable(None, message_id, reason or refusal.body.message)


def _unreadable(kind: str | None, message_id: str | None, reason: str) -> UnreadableUpdate:
    _log.warning("update_unreadable", type=kind, message_id=message_id, reason=reason)
    return UnreadableUpdate(type=kind, message_id=message_id, reason=reason)


def read(envelope: Envelope) -> Message | UnreadableUpdate:
    """Read what was pushed; what cannot be read is logged, without what it says."""
    model = _PUSHED.get(envelope.type)
    if model is None:
        return _unreadable(envelope.type, envelope.id, "/type: unknown; update the terminal")
    try:
        message = model.model_validate(envelope.data)
        if isinstance(message, ContactUpdate):
            stored_card(message.card)
    except ValidationError as error:
        return _unreadable(envelope.type, envelope.id, unreadable(error))
    if isinstance(message, ContactUpdate) and not _known(message):
        return _unreadable(envelope.type, envelope.id, "/scope: nothing that a terminal keeps")
    return message


def _known(message: ContactUpdate) -> bool:
    match message.scope:
        case Scope.CARD:
            return message.group_id is not None
        case Scope.SPACE:
            return message.waiting is not None
        case Scope.BOOK:
            return (message.card is None) is (message.op is Operation.DELETED)
        case _:
            return False


def apply_to(changes: Changes, message: Message | UnreadableUpdate) -> None:
    """Apply what was pushed."""
    match message:
        case UnreadableUpdate():
            changes.updates.append(message)
        case ContactUpdate(scope=Scope.SPACE, uid=sim_id, waiting=int(waiting)):
            changes.updates.append(SimContactsWaiting(sim_id, waiting, message.filling))
        case ContactUpdate(scope=Scope.BOOK):
            if message.book == MAIN_BOOK:
                changes.book.news(message)
        case ContactUpdate(group_id=str(group_id)):
            changes.card_changed(message, group_id)
        case pushed.GroupJoined() | pushed.RefreshUpdate():
            changes.groups_to_pull.append(message.group_id)
        case pushed.MemberJoinedUpdate():
            changes.member_joined(message)
        case pushed.MemberLeftUpdate():
            changes.member_left(message)
        case pushed.HandedOverUpdate():
            changes.handed_over(message)
        case pushed.GroupDissolvedUpdate():
            changes.dissolved(message)
        case pushed.InvitationUpdate():
            changes.invited(message)
        case pushed.InvitationClosedUpdate():
            changes.invitation_closed(message)
