"""What the rules work on: accounts with their SIM cards, spaces, and what a SIM has seen."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, NamedTuple

from contactmesh.contracts.multi_sim.events import Stamp as SentStamp
from contactmesh.contracts.multi_sim.records import SpaceKind, UserInformation

NO_CONTACT: Final = ""
"""The digest of a contact that was removed, or that there never was: the two are the same."""


class Stamp(NamedTuple):
    """When a contact's contents were stored, and at which carrier; the later one counts."""

    at: int
    carrier_id: str

    def sent(self) -> SentStamp:
        """The stamp as events carry it."""
        return SentStamp(at=self.at, carrier_id=self.carrier_id)


@dataclass(frozen=True, slots=True)
class Sim:
    """A SIM card, the terminal that it is in, and how its pending space stands.

    `view_id` is what its terminal's part is kept under: it is a new one in each terminal.
    `pending_rev` rises by one for each contact that begins to wait or changes while it waits; up to
    `settled_rev` none waits any more.
    """

    sim_id: str
    iccid: str
    name: str
    terminal_id: str
    view_id: str
    msisdn: str | None = None
    registration_seq: str | None = None
    pending_rev: int = 0
    settled_rev: int = 0
    waiting: int = 0
    filling: bool = False

    def with_waiting(self, waiting: int) -> "Sim":
        """The SIM with so many contacts that wait for it."""
        settled = self.settled_rev if waiting else self.pending_rev
        return replace(self, waiting=waiting, settled_rev=settled)


@dataclass(frozen=True, slots=True)
class Space:
    """How a space stands: its revision, which entries are numbered by, and how many it has.

    `removed` are the removals that it remembers.
    """

    rev: int = 0
    contacts: int = 0
    removed: int = 0


@dataclass(frozen=True, slots=True)
class Update:
    """A shared space that is copied here page by page, or laid ready for a SIM, and how far."""

    from_carrier_id: str
    sim_id: str | None = None
    after: int = 0

    @property
    def key(self) -> tuple[str, str | None]:
        """There is one of a kind at a time."""
        return (self.from_carrier_id, self.sim_id)


@dataclass(frozen=True, slots=True)
class Account:
    """A user's one account at a carrier. All that is written in its spaces raises its `etag`."""

    user_id: str
    carrier_id: str
    account_id: str
    identification_code: str
    consent: bool = False
    follows_book: bool = False
    book_after: int | None = None
    """Up to which revision it has the address book that it began to follow, until it has it all."""
    shared: Space = Space()
    private: Space = Space()
    sims: tuple[Sim, ...] = ()
    updates: tuple[Update, ...] = ()
    etag: int = 0

    @property
    def key(self) -> tuple[str, str]:
        """The user and the carrier: there can be one account for both."""
        return (self.user_id, self.carrier_id)

    def space_id(self, kind: SpaceKind) -> str:
        """What its contacts of a kind are kept under."""
        return f"{self.account_id}/{kind.value}"

    def space(self, kind: SpaceKind) -> Space:
        """How a space stands."""
        return self.shared if kind is SpaceKind.SHARED else self.private

    def with_space(self, kind: SpaceKind, space: Space) -> "Account":
        """The account with a space as it stands now."""
        if kind is SpaceKind.SHARED:
            return replace(self, shared=space)
        return replace(self, private=space)

    def sim(self, sim_id: str | None) -> Sim | None:
        """One of its SIMs, if it is there."""
        return next((sim for sim in self.sims if sim.sim_id == sim_id), None)

    def with_sim(self, sim: Sim) -> "Account":
        """The account with a SIM as it is now, or with one more."""
        if all(one.sim_id != sim.sim_id for one in self.sims):
            return replace(self, sims=(*self.sims, sim))
        now = tuple(sim if one.sim_id == sim.sim_id else one for one in self.sims)
        return replace(self, sims=now)

    def update(self, from_carrier_id: str, sim_id: str | None) -> Update | None:
        """An update that is under way."""
        key = (from_carrier_id, sim_id)
        return next((one for one in self.updates if one.key == key), None)

    def with_update(self, update: Update) -> "Account":
        """The account with an update where it stands now; its SIM is being filled."""
        return self._updated(update, (update,))

    def without_update(self, update: Update) -> "Account":
        """The account after an update has ended; its SIM may be filled by another one still."""
        return self._updated(update, ())

    def _updated(self, update: Update, now: tuple[Update, ...]) -> "Account":
        updates = (*(one for one in self.updates if one.key != update.key), *now)
        account = replace(self, updates=updates)
        sim = self.sim(update.sim_id)
        if sim is None:
            return account
        filling = any(one.sim_id == sim.sim_id for one in updates)
        return account.with_sim(replace(sim, filling=filling))


def account_of(space_id: str) -> str:
    """The id of the account that a space is of."""
    return space_id.rpartition("/")[0]


@dataclass(frozen=True, slots=True)
class User:
    """What all accounts of a user say, and the guard of what holds over all of them."""

    user_id: str
    information: UserInformation | None = None
    etag: int = 0


@dataclass(frozen=True, slots=True)
class Entry:
    """A contact of a space, or that it was removed; `card` is left out where it is not looked at.

    `rev` is the space's revision that it was written as; no other entry of the space has it. A
    removal is kept for its stamp, from `deleted_at` on. `book_rev` is the revision of the address
    book's entry that was taken over last, none as 0: it orders the book's events among themselves.
    """

    space_id: str
    uid: str
    digest: str
    stamp: Stamp
    rev: int
    card: dict[str, Any] | None = None
    deleted_at: datetime | None = None
    book_rev: int = 0
    over: str = NO_CONTACT
    """The digest of what these contents were stored over."""


@dataclass(frozen=True, slots=True)
class SimEntry:
    """Which contents of a contact a SIM's terminal has seen last, and which wait for it, if any.

    `pending_rev` is the SIM's revision since which they wait; nothing else waits since that one.
    `over` is what the waiting contents were made of, with all that was stored in between and never
    shown. `declined` are the digests that were declined, the latest last.
    """

    view_id: str
    uid: str
    seen: str = NO_CONTACT
    pending: str | None = None
    pending_rev: int = 0
    over: str = NO_CONTACT
    declined: tuple[str, ...] = ()

    def has_seen(self, digest: str) -> bool:
        """Whether the terminal has these contents or has declined them."""
        return digest == self.seen or digest in self.declined


@dataclass(frozen=True, slots=True)
class Limits:
    """What an operator allows; `contacts` counts in each space, for what is stored by its owner."""

    accounts: int = 32
    sims: int = 16
    contacts: int = 50_000
    card_bytes: int = 256 * 1024
    page: int = 200
    """How many contacts one step of catching up takes over."""
