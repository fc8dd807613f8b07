"""Checking a contact: is this still her number (rows C1–C7)?"""

from enum import StrEnum
from typing import Annotated, ClassVar

from pydantic import Field

from contactmesh.contracts.carrier.records import (
    MOST_NUMBERS,
    MOST_REFERENCES,
    Line,
    Msisdn,
    RegistrationRef,
    StateReport,
    UsageReport,
)
from contactmesh.contracts.command import Command
from contactmesh.contracts.envelope import Message
from contactmesh.contracts.identifiers import UserId
from contactmesh.contracts.reply import Result


class ChangeCode(StrEnum):
    """What has become of a number that the viewer knows, or that is new to them (notes A.4)."""

    UNCHANGED = "unchanged"
    CARRIER_CHANGED = "carrier_changed"
    """Number and carrier changed, or only the carrier: see `number_changed` and `ported`."""
    NUMBER_CHANGED = "number_changed"
    NUMBER_WITHDRAWN = "number_withdrawn"
    NUMBER_ADDED_NEW_CARRIER = "number_added_new_carrier"
    NUMBER_ADDED = "number_added"


class LineChange(Message):
    """One outcome of a check.

    `known` is the reference that the viewer sent, or `number` the number that they sent without
    one; neither is there for an added number. `line` is the number that stands now, none for a
    withdrawn one. An unchanged number whose card was re-issued has a `line` with a new reference,
    to be kept without a word. `inferred` marks a successor that no carrier named and that time and
    order suggest.
    """

    TYPE: ClassVar[str] = "line_change"

    code: ChangeCode
    known: RegistrationRef | None = None
    number: Msisdn | None = None
    line: Line | None = None
    number_changed: bool = False
    ported: bool = False
    inferred: bool = False


class LineStatus(Message):
    """State and usage of one number, each as far as it was granted (row C5)."""

    TYPE: ClassVar[str] = "line_status"

    ref: RegistrationRef
    state: StateReport | None = None
    usage: UsageReport | None = None


class Checked(Result):
    """The answer to a check.

    `changes` come in the order: carrier changed, number changed, withdrawn, added at a new carrier,
    added, unchanged. A reference that no change names was none of this contact's: forget it, for it
    counts as wrong each time. `lines` are all live numbers that the viewer may see, in the dial
    order that is offered: the viewer's own, else the owner's.
    """

    TYPE: ClassVar[str] = "carrier.check"

    identity_id: UserId
    changes: tuple[LineChange, ...]
    lines: tuple[Line, ...]
    status: tuple[LineStatus, ...] = ()


class Check(Command):
    """Ask whether a contact's numbers still stand (row C1).

    No access and no such identity are answered alike, with `not_found`: the claim's "contact update
    failed" (row C7). Asking about too many people, or with too many wrong references, is
    `rate_limited`.
    """

    SERVICE: ClassVar[str] = "carrier_registry_service"
    TYPE: ClassVar[str] = "carrier.check"
    RESULT: ClassVar[type[Result]] = Checked

    identity_id: UserId
    registrations: Annotated[tuple[RegistrationRef, ...], Field(max_length=MOST_REFERENCES)] = ()
    """All references that the viewer has from earlier answers: a live number that neither list
    names is told as added."""
    numbers: Annotated[tuple[Msisdn, ...], Field(max_length=MOST_NUMBERS)] = ()
    """Numbers known without a reference, as from an imported phonebook: matched to a live or ended
    registration of this identity, and of no other."""
