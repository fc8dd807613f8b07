"""Events of multi_sim_replication_service, for itself and for integrators.

That something waits for a SIM is `contact.changed` with scope `space`, which says of which SIM and
how many, and carries no contact: the terminal asks for those.
"""

from typing import Any, ClassVar

from contactmesh.contracts.carrier.records import CarrierId
from contactmesh.contracts.envelope import Message
from contactmesh.contracts.identifiers import RevOrZero, UserId
from contactmesh.contracts.multi_sim.records import ContactUid, DigestOrNone, SimId


class Stamp(Message):
    """When a contact's contents were stored, and at which carrier's account.

    Of two stamps the later time counts, then the carrier id: so all accounts come to the same.
    """

    TYPE: ClassVar[str] = "stamp"

    at: RevOrZero
    """Microseconds since 1970, or one more than the last where the clock has not moved on."""
    carrier_id: CarrierId


class ReplicatedContact(Message):
    """A contact's contents in a shared space, or its removal where there is no card."""

    TYPE: ClassVar[str] = "replicated_contact"

    uid: ContactUid
    card: dict[str, Any] | None = None
    stamp: Stamp
    over: DigestOrNone = ""
    """The digest of what the sender's terminal edited."""


class SpaceChanged(Message):
    """Contacts were stored in a shared space by its owner (row M4).

    It goes to the owner's other accounts, and is published once, by the account that they were
    stored in: an account that takes it over tells nobody, so nothing echoes.
    """

    TYPE: ClassVar[str] = "space.changed"

    owner_id: UserId
    carrier_id: CarrierId
    rev: RevOrZero
    contacts: tuple[ReplicatedContact, ...]


class CatchUp(Message):
    """A page of a shared space is to be taken over; each page asks for the next.

    One that is not where its account stands with this update is passed over: it came again, or
    belongs to an update that was begun anew since.

    From another carrier it is copied to the account at `to_carrier_id`, and after the last page
    laid ready for the SIM `sim_id` of that account, if there is one; from the same carrier only the
    latter.
    """

    TYPE: ClassVar[str] = "space.catch_up"

    owner_id: UserId
    from_carrier_id: CarrierId
    to_carrier_id: CarrierId
    sim_id: SimId | None = None
    after: RevOrZero = 0


class SimRemoved(Message):
    """A SIM left a terminal: it was removed, or `moved` to another one.

    What is kept under `view_id`, namely what that terminal has seen and what waited, is deleted.
    """

    TYPE: ClassVar[str] = "sim.removed"

    owner_id: UserId
    carrier_id: CarrierId
    sim_id: SimId
    view_id: SimId
    moved: bool = False
