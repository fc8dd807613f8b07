"""Cards and messages for the terminal's tests, short to write down."""

from collections.abc import Mapping
from datetime import UTC, datetime

from pydantic import JsonValue

from contactmesh.contacts import Card, Email, Name, Note, Phone
from contactmesh.contracts.contact import ContactUpdate, Operation, Scope
from contactmesh.contracts.envelope import Envelope, Message
from contactmesh.contracts.group.commands import Pulled
from contactmesh.contracts.group.views import MemberState, PulledGroup, PulledMember, Role

FAMILY = "018f0000-0000-7000-8000-000000000001"
CLUB = "018f0000-0000-7000-8000-000000000002"


def card(
    uid: str,
    name: str,
    *,
    phones: Mapping[str, str] | None = None,
    emails: Mapping[str, str] | None = None,
    note: str | None = None,
) -> Card:
    """A card with numbers and addresses under the keys given."""
    return Card(
        uid=f"urn:example:{uid}",
        name=Name(full=name),
        phones={key: Phone(number=number) for key, number in phones.items()} if phones else None,
        emails={key: Email(address=mail) for key, mail in emails.items()} if emails else None,
        notes={"n": Note(note=note)} if note else None,
    )


def json_of(one: Card) -> dict[str, JsonValue]:
    """A card as it travels."""
    return one.to_json()


def changed(owner_id: str, rev: int, new: Card | None, *, group_id: str = FAMILY) -> ContactUpdate:
    """A member's card changed, or was taken back."""
    return ContactUpdate(
        scope=Scope.CARD,
        owner_id=owner_id,
        uid=f"urn:example:{owner_id}",
        rev=rev,
        op=Operation.DELETED if new is None else Operation.MODIFIED,
        card=None if new is None else new.to_json(),
        group_id=group_id,
    )


def member(
    user_id: str,
    rev: int,
    one: Card | None = None,
    *,
    role: Role = Role.INITIAL,
    state: MemberState = MemberState.ACTIVE,
) -> PulledMember:
    """A member as a pull shows them."""
    return PulledMember(
        user_id=user_id,
        state=state,
        role=role,
        rev=rev,
        card=None if one is None else one.to_json(),
    )


def page(
    *members: PulledMember,
    group_id: str = FAMILY,
    name: str = "Family",
    cursor: str = "c1",
    has_more: bool = False,
    owner_id: str = "bob",
) -> Pulled:
    """One page of a pull."""
    return Pulled(
        group=PulledGroup(group_id=group_id, name=name, owner_id=owner_id),
        members=members,
        cursor=cursor,
        has_more=has_more,
        interval_seconds=600,
    )


def enveloped(message: Message, message_id: str = "m1") -> Envelope:
    """A message as it arrives."""
    return Envelope.of(
        message, id=message_id, source="/services/test", time=datetime(2026, 1, 1, tzinfo=UTC)
    )
