"""Documents of the domain as stored documents, and back.

Ids are the keys joined by `/`, which a uid alone may contain, and that comes last. Cards are stored
as JSON text: what JSON can say and the database cannot, like a number beyond 64 bits, stays.
"""

import json
from dataclasses import asdict
from typing import Final

from contactmesh.contracts.multi_sim.records import UserInformation
from contactmesh.storage.transaction import Document
from multi_sim_replication_service.domain.documents import (
    NO_CONTACT,
    Account,
    Entry,
    Sim,
    SimEntry,
    Space,
    Stamp,
    Update,
    User,
)

USERS: Final = "users"
ACCOUNTS: Final = "accounts"
ENTRIES: Final = "entries"
SIM_ENTRIES: Final = "sim_entries"


def join_key(*parts: str) -> str:
    """The `_id` of a document whose key has several parts."""
    return "/".join(parts)


def stored_user(user: User) -> Document:
    """What holds over all accounts of a user, less its `etag`."""
    information = user.information
    return {"information": None if information is None else information.model_dump(mode="json")}


def user(document: Document) -> User:
    """What holds over all accounts of a user."""
    said = document["information"]
    information = None if said is None else UserInformation.model_validate(said)
    return User(document["_id"], information, document["etag"])


def stored_account(account: Account) -> Document:
    """An account with its SIMs, less its `etag`."""
    values = asdict(account)
    del values["etag"]
    return {**values, "sims": list(values["sims"]), "updates": list(values["updates"])}


def account(document: Document) -> Account:
    """An account with its SIMs."""
    values = {name: value for name, value in document.items() if name != "_id"}
    return Account(
        **{
            **values,
            "shared": Space(**values["shared"]),
            "private": Space(**values["private"]),
            "sims": tuple(Sim(**sim) for sim in values["sims"]),
            "updates": tuple(Update(**update) for update in values["updates"]),
        }
    )


def stored_entry(entry: Entry) -> Document:
    """A contact of a space."""
    card = entry.card
    return {
        "space_id": entry.space_id,
        "uid": entry.uid,
        "digest": entry.digest,
        "at": entry.stamp.at,
        "carrier_id": entry.stamp.carrier_id,
        "rev": entry.rev,
        "live": entry.digest != NO_CONTACT,
        "card": None
        if card is None
        else json.dumps(card, ensure_ascii=False, separators=(",", ":")),
        "deleted_at": entry.deleted_at,
        "book_rev": entry.book_rev,
        "over": entry.over,
    }


def entry(document: Document) -> Entry:
    """A contact of a space; without a card where that was left out."""
    card = document.get("card")
    return Entry(
        space_id=document["space_id"],
        uid=document["uid"],
        digest=document["digest"],
        stamp=Stamp(document["at"], document["carrier_id"]),
        rev=document["rev"],
        card=None if card is None else json.loads(card),
        deleted_at=document["deleted_at"],
        book_rev=document["book_rev"],
        over=document["over"],
    )


def stored_sim_entry(one: SimEntry) -> Document:
    """What a SIM's terminal has seen of a contact."""
    waits = one.pending is not None
    return {**asdict(one), "declined": list(one.declined), "waits": waits}


def sim_entry(document: Document) -> SimEntry:
    """What a SIM's terminal has seen of a contact."""
    return SimEntry(
        document["view_id"],
        document["uid"],
        document["seen"],
        document["pending"],
        document["pending_rev"],
        document["over"],
        tuple(document["declined"]),
    )
