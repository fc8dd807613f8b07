"""The documents that a unit of work looks at, who asks, and what comes of it."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from contactmesh.contracts.errors import ErrorCode, Refusal
from contactmesh.contracts.multi_sim.records import SpaceKind
from contactmesh.deciding.table import Table
from multi_sim_replication_service.domain.documents import (
    NO_CONTACT,
    Account,
    Entry,
    Limits,
    Sim,
    SimEntry,
    User,
)


@dataclass(frozen=True, slots=True)
class Asking:
    """Who asks and when; `minted` are random bytes that new ids and codes are made of."""

    user_id: str
    terminal_id: str
    now: datetime
    limits: Limits
    minted: bytes


class Covered(NamedTuple):
    """What a decision on all that waits covers, and how much of it is loaded."""

    number: int
    """How many contacts."""
    loaded_to: int
    """The revision up to which all that wait are loaded."""


class State:
    """Everything that a unit of work has loaded. A refused command has changed nothing in it."""

    def __init__(self) -> None:
        self.users: Table[str, User] = Table()
        self.accounts: Table[tuple[str, str], Account] = Table()
        """(user, carrier)"""
        self.entries: Table[tuple[str, str], Entry] = Table()
        """(space, uid), without their cards"""
        self.sim_entries: Table[tuple[str, str], SimEntry] = Table()
        """(view, uid)"""
        self.whole: set[str] = set()
        """Spaces of which all contacts are loaded."""
        self.covered: dict[tuple[str, int], Covered] = {}
        """(view, revision): what waits since that revision or before it"""

    def user(self, user_id: str) -> User:
        """What holds over all accounts of a user."""
        return self.users.get(user_id) or User(user_id)

    def guard(self, user_id: str) -> None:
        """Let no other process decide at the same time on what holds over all of their accounts."""
        self.users.put(user_id, self.user(user_id))

    def accounts_of(self, user_id: str) -> list[Account]:
        """A user's accounts, by carrier."""
        own = (account for account in self.accounts if account.user_id == user_id)
        return sorted(own, key=lambda account: account.carrier_id)

    def account(self, user_id: str, carrier_id: str) -> Account:
        """A user's account at a carrier.

        Raises:
            Refusal: `not_found`.
        """
        account = self.accounts.get((user_id, carrier_id))
        if account is None:
            raise no_account(carrier_id)
        return account

    def sim(self, user_id: str, sim_id: str) -> tuple[Account, Sim]:
        """A user's SIM with its account.

        Raises:
            Refusal: `not_found`, alike for a SIM that is not there and one of another user.
        """
        for account in self.accounts_of(user_id):
            for sim in account.sims:
                if sim.sim_id == sim_id:
                    return account, sim
        raise no_sim()

    def sim_here(self, asking: Asking, sim_id: str) -> tuple[Account, Sim]:
        """A SIM that is in the sending terminal, with its account.

        Raises:
            Refusal: `not_found`, or `permission_denied` where it is in another terminal.
        """
        account, sim = self.sim(asking.user_id, sim_id)
        if sim.terminal_id != asking.terminal_id:
            raise Refusal(
                ErrorCode.PERMISSION_DENIED,
                "This SIM is in another terminal. Move it here first.",
            )
        return account, sim

    def put_account(self, account: Account) -> None:
        """Set an account's new state."""
        self.accounts.put(account.key, account)

    def live(self, space_id: str) -> Iterable[Entry]:
        """The loaded contacts of a space, removed ones left out."""
        return (
            entry
            for entry in self.entries
            if entry.space_id == space_id and entry.digest != NO_CONTACT
        )

    def digest(self, space_id: str, uid: str) -> str:
        """The digest of a contact as it stands in a space."""
        entry = self.entries.get((space_id, uid))
        return NO_CONTACT if entry is None else entry.digest

    def is_private(self, user_id: str, uid: str) -> bool:
        """Whether a private space of the user holds a contact."""
        spaces = (one.space_id(SpaceKind.PRIVATE) for one in self.accounts_of(user_id))
        return any(self.digest(space_id, uid) != NO_CONTACT for space_id in spaces)

    def sim_entry(self, view_id: str, uid: str) -> SimEntry:
        """What a SIM's terminal has seen of a contact."""
        return self.sim_entries.get((view_id, uid)) or SimEntry(view_id, uid)

    def put_sim_entry(self, entry: SimEntry) -> None:
        """Set what a SIM's terminal has seen of a contact; where it knows of none, nothing."""
        if entry.seen == NO_CONTACT and entry.pending is None and not entry.declined:
            self.sim_entries.drop((entry.view_id, entry.uid))
        else:
            self.sim_entries.put((entry.view_id, entry.uid), entry)


def no_account(carrier_id: str) -> Refusal:
    """There is no such account, or it is another user's."""
    return Refusal(
        ErrorCode.NOT_FOUND, f"You have no account at {carrier_id}; see the list of your accounts."
    )


def no_sim() -> Refusal:
    """The one answer for a SIM that is not there or not the sender's."""
    return Refusal(ErrorCode.NOT_FOUND, "You have no such SIM; see the list of your accounts.")
