"""Commands to multi_sim_replication_service, each with its result (rows M1-M6)."""

from typing import Any, ClassVar, Final

from pydantic import Field, field_serializer

from contactmesh.contacts import Card
from contactmesh.contracts.carrier.records import CarrierId, Msisdn, RegistrationSeq
from contactmesh.contracts.command import Command
from contactmesh.contracts.envelope import Message
from contactmesh.contracts.identifiers import RevOrZero
from contactmesh.contracts.multi_sim.records import (
    AccountId,
    AccountView,
    ContactUid,
    Digest,
    DigestOrNone,
    Iccid,
    IdentificationCode,
    Name,
    SimId,
    SpaceKind,
    UserInformation,
)
from contactmesh.contracts.reply import Done, Result

MOST_CHANGES: Final = 200
"""How many contacts one command stores; a larger book goes in pages."""
MOST_DECIDED: Final = 500
"""How many contacts one decision settles; the reply says how many are left."""
MOST_LISTED: Final = 2_000
MOST_SHOWN: Final = 200


class _SimCommand(Command):
    SERVICE: ClassVar[str] = "multi_sim_replication_service"


class _ToSim(_SimCommand):
    sim_id: SimId


class SimRegistered(Result):
    """The SIM and its account; `created` says whether the account was made by this command."""

    TYPE: ClassVar[str] = "sim.register"

    sim_id: SimId
    account_id: AccountId
    identification_code: IdentificationCode
    created: bool


class RegisterSim(_SimCommand):
    """Register a SIM card or eSIM profile in the sending terminal (row M2).

    Without an account at the carrier one is made, with an identification code. A SIM that the user
    has registered already is found by its ICCID, and is in the sending terminal from then on. At
    another carrier the same ICCID is a `conflict`.
    """

    TYPE: ClassVar[str] = "sim.register"
    RESULT: ClassVar[type[Result]] = SimRegistered

    carrier_id: CarrierId
    iccid: Iccid
    name: Name
    msisdn: Msisdn | None = None
    registration_seq: RegistrationSeq | None = None
    information: UserInformation | None = None


class MoveSim(_ToSim):
    """Say that a SIM is in the sending terminal now."""

    TYPE: ClassVar[str] = "sim.move"
    RESULT: ClassVar[type[Result]] = Done


class ReplaceSim(_ToSim):
    """Say that the carrier replaced the card: a new ICCID, the same number and pending space."""

    TYPE: ClassVar[str] = "sim.replace"
    RESULT: ClassVar[type[Result]] = Done

    iccid: Iccid


class RemoveSim(_ToSim):
    """Remove a SIM with its pending space. The account and its spaces stay."""

    TYPE: ClassVar[str] = "sim.remove"
    RESULT: ClassVar[type[Result]] = Done


class AccountList(Result):
    """The sender's accounts with their SIMs, by carrier."""

    TYPE: ClassVar[str] = "sim.accounts"

    information: UserInformation | None = None
    accounts: tuple[AccountView, ...]


class ListAccounts(_SimCommand):
    """Ask for the sender's accounts."""

    TYPE: ClassVar[str] = "sim.accounts"
    RESULT: ClassVar[type[Result]] = AccountList
    READS: ClassVar[bool] = True


class SetInformation(_SimCommand):
    """Set what all of the sender's accounts say of the sender (row M1)."""

    TYPE: ClassVar[str] = "sim.set_information"
    RESULT: ClassVar[type[Result]] = Done

    information: UserInformation


class SetConsent(_SimCommand):
    """Agree, or agree no longer, that contacts of other carriers' accounts are copied here (M4).

    With the consent, the account catches up. Without it nothing more arrives; what has been copied
    stays.
    """

    TYPE: ClassVar[str] = "sim.set_consent"
    RESULT: ClassVar[type[Result]] = Done

    carrier_id: CarrierId
    consent: bool


class FollowBook(_SimCommand):
    """Let the account's shared space follow the sender's address book, or no longer.

    It takes over what the book holds, and then each change of it.
    """

    TYPE: ClassVar[str] = "sim.follow_book"
    RESULT: ClassVar[type[Result]] = Done

    carrier_id: CarrierId
    follow: bool


class StoredChange(Message):
    """A contact's new contents, or its removal where there is no card.

    `known` is what the sender knows the account's shared space to hold. If it holds something else,
    nothing of this contact is stored, so that no edit is overwritten unseen: what is there waits
    for the SIM. Without `known`, the contact is stored over whatever is there.
    """

    TYPE: ClassVar[str] = "stored_change"

    uid: ContactUid
    card: Card | None = None
    known: DigestOrNone | None = None

    @field_serializer("card")
    def _card_as_jscontact(self, card: Card | None) -> dict[str, Any] | None:
        return None if card is None else dict(card.to_json())


class Stored(Result):
    """What a page did: contacts written, removed, and the same as before; the space's revision.

    `behind` names those that were not stored because the shared space holds something that the
    sender has not seen, which waits for the SIM now; `private` those that were not shared because
    an account of the sender's has them in its private space.
    """

    TYPE: ClassVar[str] = "space.store"

    written: int
    removed: int
    same: int
    rev: int
    behind: tuple[ContactUid, ...] = ()
    private: tuple[ContactUid, ...] = ()


class Store(_ToSim):
    """Store contacts in a space of the account of a SIM that is in the sending terminal (M3, M4).

    A page has at most 200 contacts, and a message at most 1 MiB. With `whole` the page is the whole
    book: contacts of the space that it does not name are removed. The space may have at most 2,000
    contacts then, or it is refused as `invalid_argument`. A larger book goes in pages, with the
    contacts to remove named; `list` says what is there already.

    What is removed from a private space is removed from those of the sender's accounts without a
    SIM as well: nobody else can.
    """

    TYPE: ClassVar[str] = "space.store"
    RESULT: ClassVar[type[Result]] = Stored

    space: SpaceKind
    changes: tuple[StoredChange, ...] = Field(max_length=MOST_CHANGES)
    whole: bool = False


class Entry(Message):
    """A contact of a space; `card` only where cards were asked for."""

    TYPE: ClassVar[str] = "entry"

    uid: ContactUid
    digest: Digest
    card: dict[str, Any] | None = None


class EntryList(Result):
    """One page of a space, by when contacts were written last; go on with `after` while it is set.

    A contact that changes meanwhile comes again, on a later page.
    """

    TYPE: ClassVar[str] = "space.list"

    rev: int
    entries: tuple[Entry, ...]
    after: int | None = None


class ListEntries(_SimCommand):
    """Ask what a space of an account holds.

    A page has at most `limit` contacts, and with `cards` as many as a message has room for. `after`
    is that of the page before.
    """

    TYPE: ClassVar[str] = "space.list"
    RESULT: ClassVar[type[Result]] = EntryList
    READS: ClassVar[bool] = True

    carrier_id: CarrierId
    space: SpaceKind
    after: RevOrZero = 0
    cards: bool = False
    limit: int = Field(default=MOST_LISTED, ge=1, le=MOST_LISTED)


class RequestUpdate(_ToSim):
    """Ask that a shared space be laid ready for a SIM in the sending terminal (row M5).

    Without `from_carrier_id` it is that of the SIM's own account. That of another account of the
    same user is first copied to the own one, which needs the consent for it. What the terminal has
    accepted, declined or stored already is left out.
    """

    TYPE: ClassVar[str] = "space.request_update"
    RESULT: ClassVar[type[Result]] = Done

    from_carrier_id: CarrierId | None = None


class PendingItem(Message):
    """A contact that waits: its new contents, or its removal where there is no card.

    `over` is the digest of what these contents were made of. A terminal that has something else
    knows by it that both were edited.
    """

    TYPE: ClassVar[str] = "pending_item"

    uid: ContactUid
    card: dict[str, Any] | None = None
    over: DigestOrNone = ""


class Pending(Result):
    """One page of a pending space as of `pending_rev`; go on with `after` while it is set.

    What has waited longest comes first. A contact that changes meanwhile comes again, on a later
    page.
    """

    TYPE: ClassVar[str] = "space.pending"

    pending_rev: int
    waiting: int
    filling: bool
    items: tuple[PendingItem, ...]
    after: int | None = None


class ShowPending(_ToSim):
    """Ask what waits for a SIM, or which of `uids` do, to look at before deciding (row M5).

    `after` is that of the page before.
    """

    TYPE: ClassVar[str] = "space.pending"
    RESULT: ClassVar[type[Result]] = Pending
    READS: ClassVar[bool] = True

    uids: tuple[ContactUid, ...] | None = Field(default=None, min_length=1, max_length=MOST_SHOWN)
    after: RevOrZero = 0
    limit: int = Field(default=MOST_SHOWN, ge=1, le=MOST_SHOWN)


class DecisionTaken(Result):
    """How many contacts were settled, how many that the decision covers are left for the next.

    `waiting` counts everything in the pending space, what has arrived since included.
    """

    TYPE: ClassVar[str] = "space.decide"

    settled: int
    left: int
    waiting: int
    pending_rev: int


class Decide(_ToSim):
    """Accept or decline what waits for a SIM in the sending terminal (row M6).

    `pending_rev` is the revision that was looked at: nothing that came later is settled. `uids`
    names the contacts, without it all are meant, up to 500 at a time: send it again while some are
    `left`. A named contact that has changed since is a `conflict` with `current_rev`, and nothing
    is settled. What is settled is deleted from the pending space in the same transaction; the same
    contents do not come back.
    """

    TYPE: ClassVar[str] = "space.decide"
    RESULT: ClassVar[type[Result]] = DecisionTaken

    pending_rev: RevOrZero
    accept: bool
    uids: tuple[ContactUid, ...] | None = Field(default=None, min_length=1, max_length=MOST_DECIDED)
