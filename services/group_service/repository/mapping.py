"""Documents of the domain as stored documents, and back.

Ids are the keys joined by `/`, which no part of a key contains. Cards are stored as JSON text: what
JSON can say and the database cannot, like a NUL in a name or a number beyond 64 bits, stays.
"""

import json
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any, Final

from contactmesh.contracts.group.views import MemberState, Role
from contactmesh.storage.transaction import Document
from group_service.domain.documents import (
    Block,
    FrozenCard,
    Group,
    Invitation,
    InvitationState,
    Member,
    OwnCard,
    PullInterval,
    StandingBlock,
    Succession,
    Withdrawn,
)

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

GROUPS: Final = "groups"
MEMBERS: Final = "members"
BLOCKS: Final = "blocks"
STANDING: Final = "standing_blocks"
FROZEN: Final = "frozen_cards"
INVITATIONS: Final = "invitations"
GUARDS: Final = "guards"
INTERVALS: Final = "pull_intervals"
SUCCESSIONS: Final = "line_successions"
OWN_CARDS: Final = "own_cards"


def join_key(*parts: str | int) -> str:
    """The `_id` of a document whose key has several parts."""
    return "/".join(str(part) for part in parts)


def stored(document: "DataclassInstance") -> Document:
    """A domain document as it is stored, without its `_id`."""
    values = {field.name: getattr(document, field.name) for field in fields(document)}
    if values.get("card") is not None:
        values["card"] = _json(values["card"])
    if isinstance(document, Succession):
        values["withdrawn"] = [
            {**asdict(entry), "phone": _json(entry.phone)} for entry in document.withdrawn
        ]
    return values


def group(document: Document) -> Group:
    """A group's head."""
    return Group(**_values(document))


def member(document: Document) -> Member:
    """A membership."""
    values = _values(document)
    return Member(
        **{
            **values,
            "role": Role(values["role"]),
            "state": MemberState(values["state"]),
            "muted_terminals": tuple(values["muted_terminals"]),
        }
    )


def block(document: Document) -> Block:
    """A block in one group."""
    return Block(**_values(document))


def standing_block(document: Document) -> StandingBlock:
    """A block in all groups."""
    return StandingBlock(**_values(document))


def frozen_card(document: Document) -> FrozenCard:
    """A card kept for blocks."""
    return FrozenCard(**_values(document))


def invitation(document: Document) -> Invitation:
    """An invitation."""
    values = _values(document)
    return Invitation(**{**values, "state": InvitationState(values["state"])})


def pull_interval(document: Document) -> PullInterval:
    """A terminal's pull interval."""
    return PullInterval(**_values(document))


def succession(document: Document) -> Succession:
    """What became of a registration."""
    values = _values(document)
    withdrawn = (
        Withdrawn(**{**entry, "phone": json.loads(entry["phone"])}) for entry in values["withdrawn"]
    )
    return Succession(**{**values, "withdrawn": tuple(withdrawn)})


def own_card(document: Document) -> OwnCard:
    """Which entry of their address books a user published last."""
    return OwnCard(**_values(document))


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _values(document: Document) -> dict[str, Any]:
    values = {name: value for name, value in document.items() if name != "_id"}
    if values.get("card") is not None:
        values["card"] = json.loads(values["card"])
    return values
