"""Who may look at what, and who did (row C7); labels and dial order (row C6)."""

from typing import Annotated, ClassVar

from pydantic import Field, StringConstraints

from contactmesh.contracts.carrier.records import (
    MOST_REFERENCES,
    Line,
    Moment,
    NetworkState,
    RegistrationRef,
    StateReport,
    UsageReport,
)
from contactmesh.contracts.command import Command
from contactmesh.contracts.envelope import Message
from contactmesh.contracts.identifiers import UserId
from contactmesh.contracts.reply import Done, Result

SharedLabel = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=50)]


class _RegistryCommand(Command):
    SERVICE: ClassVar[str] = "carrier_registry_service"


class Granted(Message):
    """What a viewer may see of the owner."""

    TYPE: ClassVar[str] = "granted"

    viewer_id: UserId
    details: bool
    state: bool
    usage: bool


class Grant(_RegistryCommand):
    """Let a viewer see one's numbers, their state, their usage: each by itself, none by default.

    It replaces an earlier grant, and a revocation. Sharing a group lets the viewer see the numbers
    even without `details`; state and usage are shown beside a number, so never alone. One to
    somebody new is answered `quota_exceeded` where the sender has made as many as are allowed.
    """

    TYPE: ClassVar[str] = "carrier.grant"
    RESULT: ClassVar[type[Result]] = Done

    viewer_id: UserId
    details: bool = True
    state: bool = False
    usage: bool = False


class RevokeGrant(_RegistryCommand):
    """Let a viewer see nothing any more, whatever groups the two share; in force with the reply.

    It is always possible: no quota counts it.
    """

    TYPE: ClassVar[str] = "carrier.revoke_grant"
    RESULT: ClassVar[type[Result]] = Done

    viewer_id: UserId


class GrantList(Result):
    """Grants that the sender has made, by viewer; one of nothing is a viewer who was revoked.

    A page: with `has_more`, ask on with `after` the last one's viewer.
    """

    TYPE: ClassVar[str] = "carrier.grants"

    grants: tuple[Granted, ...]
    has_more: bool = False


class ListGrants(_RegistryCommand):
    """Ask whom the sender lets see what."""

    TYPE: ClassVar[str] = "carrier.grants"
    RESULT: ClassVar[type[Result]] = GrantList
    READS: ClassVar[bool] = True

    after: UserId | None = None
    limit: int = Field(default=500, ge=1, le=1_000)


class Look(Message):
    """A viewer's looks at the owner's numbers: who, when, at what, and whether they were let.

    Those of one hour, in UTC, at the same and answered alike are one: `count` of them, the first
    `at` and the last one `last_at`. `fields` is empty where they were refused.
    """

    TYPE: ClassVar[str] = "look"

    viewer_id: UserId
    at: Moment
    last_at: Moment
    count: int = Field(ge=1)
    fields: tuple[str, ...]
    allowed: bool


class LookLog(Result):
    """Looks, the latest `at` first; ask on with `before` the last one's `at` while `has_more`.

    A page has more than `limit` where several have the same `at`.
    """

    TYPE: ClassVar[str] = "carrier.looks"

    looks: tuple[Look, ...]
    has_more: bool


class ListLooks(_RegistryCommand):
    """Ask who looked at the sender's numbers."""

    TYPE: ClassVar[str] = "carrier.looks"
    RESULT: ClassVar[type[Result]] = LookLog
    READS: ClassVar[bool] = True

    before: Moment | None = None
    limit: int = Field(default=200, ge=1, le=1_000)


class OwnLine(Message):
    """One of the sender's own numbers, with all that is known of it.

    `network_state` is the state as finely as the carrier told it: why others see "unreachable".
    """

    TYPE: ClassVar[str] = "own_line"

    line: Line
    state: StateReport | None = None
    network_state: NetworkState | None = None
    usage: UsageReport | None = None


class OwnLines(Result):
    """The sender's own live numbers."""

    TYPE: ClassVar[str] = "carrier.lines"

    lines: tuple[OwnLine, ...]


class ListOwnLines(_RegistryCommand):
    """Ask for the sender's own numbers."""

    TYPE: ClassVar[str] = "carrier.lines"
    RESULT: ClassVar[type[Result]] = OwnLines
    READS: ClassVar[bool] = True


class DescribeLine(_RegistryCommand):
    """Set the labels that viewers see of one of one's numbers, and its dial priority.

    Priorities are 1 and up, 1 first, and unique: one that is taken pushes the others down.
    """

    TYPE: ClassVar[str] = "carrier.describe_line"
    RESULT: ClassVar[type[Result]] = Done

    ref: RegistrationRef
    labels: Annotated[tuple[SharedLabel, ...], Field(max_length=10)] = ()
    dial_priority: int | None = Field(default=None, ge=1, le=100)


class SetDialOrder(_RegistryCommand):
    """Keep one's own dial order for a contact, which wins; empty for the owner's again.

    One for somebody new is answered `quota_exceeded` where there are as many as are allowed.
    """

    TYPE: ClassVar[str] = "carrier.set_dial_order"
    RESULT: ClassVar[type[Result]] = Done

    identity_id: UserId
    order: Annotated[tuple[RegistrationRef, ...], Field(max_length=MOST_REFERENCES)] = ()
