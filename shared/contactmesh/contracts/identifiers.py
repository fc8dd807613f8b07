"""Identifiers on the wire, and what can be read from them.

A terminal's id begins with its user's id. identity_service mints it so, and the broker lets a
connection write only routing keys that carry its own terminal id: therefore a service knows the
user behind a command from the routing key alone, without a look-up and without believing a body.
"""

import re
from typing import Annotated, Final

from pydantic import Field, StringConstraints

USER_ID_PATTERN = r"^[a-z0-9][a-z0-9-]{0,38}[a-z0-9]$"
CARRIER_OWNER_PREFIX = "carrier_"
"""What the owner of a carrier's terminals begins with: no user's id holds an underscore."""
OWNER_ID_PATTERN = r"^(carrier_[a-z][a-z0-9-]{1,31}|[a-z0-9][a-z0-9-]{0,38}[a-z0-9])$"
TERMINAL_ID_PATTERN = OWNER_ID_PATTERN.removesuffix("$") + r"_[a-z2-7]{8}$"
GROUP_ID_PATTERN = r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"

UserId = Annotated[str, StringConstraints(pattern=USER_ID_PATTERN)]
"""A user's handle: 2 to 40 of a-z, 0-9 and hyphen, chosen by the operator and never given again."""

OwnerId = Annotated[str, StringConstraints(pattern=OWNER_ID_PATTERN)]
"""Whoever has terminals: a user by their id, a carrier by `carrier_<carrier id>`."""

TerminalId = Annotated[str, StringConstraints(pattern=TERMINAL_ID_PATTERN)]
"""`<owner id>_<8 base32 characters>`, minted by identity_service."""

GroupId = Annotated[str, StringConstraints(pattern=GROUP_ID_PATTERN)]
"""A UUID, derived by group_service from the command that creates the group."""

InvitationId = Annotated[str, StringConstraints(pattern=GROUP_ID_PATTERN)]
"""A UUID, derived by group_service from the command that invites."""

MessageId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._:-]{1,64}$")]
"""A message's id, chosen by its sender; a repeated id is the same message."""

MOST: Final = 2**63 - 1
"""The largest number that a database can hold, or look for."""

Rev = Annotated[int, Field(ge=1, le=MOST)]
"""A revision that was given."""

RevOrZero = Annotated[int, Field(ge=0, le=MOST)]
"""A revision, 0 where none was given yet; and what is counted."""


_TERMINAL_ID = re.compile(TERMINAL_ID_PATTERN)


def is_terminal_id(text: str) -> bool:
    """Whether this can be a terminal's id."""
    return _TERMINAL_ID.fullmatch(text) is not None


def carrier_owner(carrier_id: str) -> str:
    """The owner of a carrier's terminals."""
    return CARRIER_OWNER_PREFIX + carrier_id


def carrier_of(owner_id: str) -> str | None:
    """The carrier that an owner of terminals is, or nothing when it is a user."""
    if not owner_id.startswith(CARRIER_OWNER_PREFIX):
        return None
    return owner_id.removeprefix(CARRIER_OWNER_PREFIX)


def user_of(terminal_id: str) -> str:
    """The id of the user, or of the carrier's owner, whom a terminal belongs to."""
    return terminal_id.rpartition("_")[0]


INTEGRATOR_PREFIX = "integrator."
"""What an integrator's account on the broker begins with: no terminal's id holds a point."""
_INTEGRATOR = re.compile(r"integrator\.[a-z][a-z0-9-]{1,31}")

IntegratorName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{1,31}$")]
"""An integrator's stable name, such as `crm`."""


def integrator_account(name: str) -> str:
    """An integrator's account on the broker, which is its queue's name too."""
    return INTEGRATOR_PREFIX + name


def integrator_of(account: str) -> str | None:
    """The name of the integrator whose account this can be, or nothing for another's."""
    if _INTEGRATOR.fullmatch(account) is None:
        return None
    return account.removeprefix(INTEGRATOR_PREFIX)
