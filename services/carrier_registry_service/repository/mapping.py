"""Documents of the domain as stored documents, and back.

All registrations of an identity are one document: a check reads them at one moment, with one look
at one key. Ids are the keys joined by `/`, which no part of a key contains.
"""

from typing import Any, Final

from carrier_registry_service.domain.access import Grant, Membership
from carrier_registry_service.domain.budgets import Budget
from carrier_registry_service.domain.holding import Holder, Holders
from carrier_registry_service.domain.quotas import Kept
from carrier_registry_service.domain.registration import (
    Beginning,
    Description,
    Ending,
    Ref,
    Registration,
    StateAt,
    UsageAt,
)
from carrier_registry_service.domain.state import Asked, DialOrder, Issued, Looked, Record
from contactmesh.contracts.carrier.records import DataVolume, EndReason, LineType, NetworkState
from contactmesh.storage.transaction import Document

RECORDS: Final = "records"
ISSUED: Final = "issued"
HOLDERS: Final = "holders"
GRANTS: Final = "grants"
DIAL_ORDERS: Final = "dial_orders"
KEPT: Final = "kept"
BUDGETS: Final = "budgets"
ASKED: Final = "asked"
LOOKS: Final = "looks"
MEMBERSHIPS: Final = "memberships"
STANDING_BLOCKS: Final = "standing_blocks"


def join_key(*parts: str) -> str:
    """The `_id` of a document whose key has several parts."""
    return "/".join(parts)


# --- registrations --------------------------------------------------------------------------------


def stored_registration(one: Registration) -> Document:
    """A registration as it is stored; what is not known is left out."""
    document: Document = {"ref": str(one.ref)}
    if one.began is not None:
        document["began"] = {
            "identity_id": one.began.identity_id,
            "msisdn": one.began.msisdn,
            "line_type": one.began.line_type.value,
            "valid_from": one.began.valid_from,
            "replaces": None if one.began.replaces is None else str(one.began.replaces),
        }
    if one.endings:
        document["endings"] = [
            {"valid_to": ending.valid_to, "reason": ending.reason.value} for ending in one.endings
        ]
    if one.state is not None:
        document["state"] = {"value": one.state.value.value, "at": one.state.at}
    if one.usage is not None:
        document["usage"] = {"value": one.usage.value.value, "at": one.usage.at}
    if one.description is not None:
        document["description"] = {
            "labels": list(one.description.labels),
            "dial_priority": one.description.dial_priority,
        }
    if one.passed_on is not None:
        document["passed_on"] = one.passed_on
    return document


def registration(document: Document) -> Registration:
    """A registration as it was stored."""
    state, usage = document.get("state"), document.get("usage")
    said = document.get("description")
    return Registration(
        ref=Ref.parse(document["ref"]),
        began=_beginning(document.get("began")),
        endings=tuple(
            Ending(ending["valid_to"], EndReason(ending["reason"]))
            for ending in document.get("endings", ())
        ),
        state=None if state is None else StateAt(NetworkState(state["value"]), state["at"]),
        usage=None if usage is None else UsageAt(DataVolume(usage["value"]), usage["at"]),
        description=None
        if said is None
        else Description(tuple(said["labels"]), said["dial_priority"]),
        passed_on=document.get("passed_on"),
    )


def _beginning(document: Document | None) -> Beginning | None:
    if document is None:
        return None
    replaces = document["replaces"]
    return Beginning(
        identity_id=document["identity_id"],
        msisdn=document["msisdn"],
        line_type=LineType(document["line_type"]),
        valid_from=document["valid_from"],
        replaces=None if replaces is None else Ref.parse(replaces),
    )


def stored_record(record: Record) -> Document:
    """An identity's record, less its `etag`."""
    return {
        "rev": record.rev,
        "registrations": [stored_registration(one) for one in record.registrations.values()],
    }


def record(document: Document) -> Record:
    """An identity's record."""
    found = (registration(one) for one in document["registrations"])
    return Record(
        identity_id=document["_id"],
        rev=document["rev"],
        registrations={one.ref: one for one in found},
        etag=document["etag"],
    )


def stored_issued(issued: Issued) -> Document:
    """A sequence number, less its `etag`."""
    waiting = None if issued.waiting is None else stored_registration(issued.waiting)
    return {"identity_id": issued.identity_id, "waiting": waiting}


def issued(document: Document) -> Issued:
    """A sequence number that was issued."""
    waiting = document["waiting"]
    return Issued(
        ref=Ref.parse(document["_id"]),
        identity_id=document["identity_id"],
        waiting=None if waiting is None else registration(waiting),
        etag=document["etag"],
    )


def stored_holders(holders: Holders) -> Document:
    """Who has had a number, less its `etag`."""
    return {
        "known": [
            {"ref": str(one.ref), "identity_id": one.identity_id, "valid_from": one.valid_from}
            for one in holders.known
        ]
    }


def holders(document: Document) -> Holders:
    """Who has had a number."""
    known = (
        Holder(one["valid_from"], Ref.parse(one["ref"]), one["identity_id"])
        for one in document["known"]
    )
    carrier_id, msisdn = document["_id"].split("/")
    return Holders(carrier_id, msisdn, tuple(known), document["etag"])


# --- access, budgets, looks -----------------------------------------------------------------------


def stored_grant(grant: Grant) -> Document:
    """What an owner has said about a viewer."""
    return {
        "owner_id": grant.owner_id,
        "viewer_id": grant.viewer_id,
        "details": grant.details,
        "state": grant.state,
        "usage": grant.usage,
        "revoked": grant.revoked,
    }


def grant(document: Document) -> Grant:
    """What an owner has said about a viewer."""
    return Grant(**_values(document))


def stored_kept(kept: Kept) -> Document:
    """How much is kept for a user, less its `etag`."""
    return {"grants": kept.grants, "dial_orders": kept.dial_orders}


def stored_budget(budget: Budget) -> Document:
    """What a viewer has used up, less its `etag`."""
    return {
        "day_from": budget.day_from,
        "identities": budget.identities,
        "hour_from": budget.hour_from,
        "failed": budget.failed,
    }


def budget(document: Document) -> Budget:
    """What a viewer has used up."""
    return Budget(viewer_id=document["_id"], **_values(document))


def stored_asked(asked: Asked) -> Document:
    """That a viewer has asked about someone."""
    return {
        "viewer_id": asked.viewer_id,
        "identity_id": asked.identity_id,
        "day_from": asked.day_from,
    }


def asked(document: Document) -> Asked:
    """That a viewer has asked about someone."""
    return Asked(**_values(document))


def added_looks(look: Looked) -> Document:
    """What looks change in those of the same hour that are stored, or that they are the first."""
    first = {
        "owner_id": look.owner_id,
        "viewer_id": look.viewer_id,
        "at": look.at,
        "fields": list(look.fields),
        "allowed": look.allowed,
    }
    return {"$setOnInsert": first, "$max": {"last_at": look.last_at}, "$inc": {"count": look.count}}


def look(document: Document) -> Looked:
    """Looks within an hour; an earlier release has stored each by itself."""
    values = {"last_at": document["at"], "count": 1, **_values(document)}
    return Looked(**{**values, "fields": tuple(values["fields"])})


def stored_dial_order(dial_order: DialOrder) -> Document:
    """A viewer's own order."""
    return {
        "viewer_id": dial_order.viewer_id,
        "identity_id": dial_order.identity_id,
        "order": [str(ref) for ref in dial_order.order],
    }


def dial_order(document: Document) -> DialOrder:
    """A viewer's own order."""
    values = _values(document)
    return DialOrder(**{**values, "order": tuple(Ref.parse(ref) for ref in values["order"])})


def membership(document: Document) -> Membership:
    """A user's place in a group."""
    return Membership(document["group_id"], document["user_id"], frozenset(document["blocked"]))


def _values(document: Document) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name != "_id"}
