"""Who has terminals, users and carriers, and how many terminals and open codes each may have."""

from dataclasses import dataclass, replace
from datetime import datetime

from contactmesh.contracts.errors import ErrorCode, Refusal
from contactmesh.contracts.identifiers import carrier_owner
from contactmesh.contracts.identity import AddCarrier, RegisterUser


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of everything one user may have."""

    terminals: int
    open_codes: int


@dataclass(frozen=True, slots=True)
class User:
    """A registered user, or a carrier under the id that owns its terminals.

    All that concerns a user's terminals is decided on the user's own document, whose `etag` rises
    with each decision: so two decisions made at once can never exceed a limit together.
    """

    id: str
    display_name: str
    registered_at: datetime
    terminals: int = 0
    """How many terminals are enrolled and not revoked."""
    etag: int = 0

    def with_another_terminal(self, limits: Limits) -> "User":
        """The user after one more terminal was enrolled.

        Raises:
            Refusal: `quota_exceeded`.
        """
        if self.terminals >= limits.terminals:
            raise Refusal(
                ErrorCode.QUOTA_EXCEEDED,
                f"{self.id} has {self.terminals} terminals, which is the limit. Revoke one first.",
                limit=limits.terminals,
            )
        return replace(self, terminals=self.terminals + 1)

    def with_a_terminal_less(self) -> "User":
        """The user after a terminal was revoked."""
        return replace(self, terminals=self.terminals - 1)


def add_carrier(existing: User | None, request: AddCarrier, now: datetime) -> User:
    """The carrier that may now feed the registry: `existing` itself when there is nothing to do.

    Raises:
        Refusal: `conflict`, the id is taken under another name; a carrier's id is never given
            again.
    """
    if existing is None:
        return User(carrier_owner(request.carrier_id), request.name, registered_at=now)
    if existing.display_name != request.name:
        raise Refusal(
            ErrorCode.CONFLICT,
            f"{request.carrier_id} is added under another name. Choose another id.",
        )
    return existing


def register(existing: User | None, request: RegisterUser, now: datetime) -> User:
    """The user who is now registered: `existing` itself when there is nothing to do.

    Raises:
        Refusal: `conflict`, the id is taken under another name.
    """
    if existing is None:
        return User(request.user_id, request.display_name, registered_at=now)
    if existing.display_name != request.display_name:
        raise Refusal(
            ErrorCode.CONFLICT,
            f"{request.user_id} is registered under another display name. Choose another id.",
        )
    return existing
