"""Events of the carrier registry, for services and integrators.

That a contact's live numbers changed is `contact.changed` with scope `line`.
"""

from typing import ClassVar

from contactmesh.contracts.carrier.records import RegistrationRef
from contactmesh.contracts.envelope import Message
from contactmesh.contracts.identifiers import UserId


class RegistrationRecycled(Message):
    """A number that was the owner's was given on to somebody else, said by its carrier or not.

    Whoever keeps something that is tied to this registration lets go of it: the number no longer
    says anything about the owner, and its new holder has another registration and identity.
    """

    TYPE: ClassVar[str] = "registration.recycled"

    owner_id: UserId
    ref: RegistrationRef
