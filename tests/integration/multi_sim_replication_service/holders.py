"""A terminal that holds SIM cards, from the wire."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.wire import Terminal, card_of

from contactmesh.contracts.multi_sim.commands import (
    AccountList,
    Decide,
    DecisionTaken,
    EntryList,
    ListAccounts,
    ListEntries,
    Pending,
    RegisterSim,
    SetConsent,
    ShowPending,
    SimRegistered,
    Store,
    Stored,
    StoredChange,
)
from contactmesh.contracts.multi_sim.records import SimView, SpaceKind

MOBILE, TELECOM, UNICOM = "cn-mobile", "cn-telecom", "cn-unicom"


def iccid(number: int) -> str:
    """The `number`-th SIM's ICCID."""
    return f"8986{number:016d}"


@dataclass(frozen=True)
class Held:
    """A SIM in a terminal."""

    terminal: Terminal
    sim_id: str

    async def stores(
        self, contacts: Mapping[str, str | None], space: SpaceKind = SpaceKind.SHARED
    ) -> Stored:
        """Store contacts, each with a number, or removed."""
        stored = await self.terminal.does(self.store(contacts, space))
        assert isinstance(stored, Stored)
        return stored

    def store(
        self, contacts: Mapping[str, str | None], space: SpaceKind = SpaceKind.SHARED
    ) -> Store:
        """The command to store contacts."""
        return Store(
            sim_id=self.sim_id,
            space=space,
            changes=tuple(
                StoredChange(
                    uid=f"urn:example:{uid}",
                    card=None if number is None else card_of(uid, number),
                )
                for uid, number in contacts.items()
            ),
        )

    def told(self) -> list[dict[str, Any]]:
        """What was pushed about this SIM."""
        updates = self.terminal.updates("contact.changed")
        return [one for one in updates if one["uid"] == self.sim_id]

    async def until_told(self, **told: object) -> None:
        """Wait for a push about this SIM that says so."""
        await self.terminal.until(
            lambda: any(told.items() <= update.items() for update in self.told())
        )

    async def until_waiting(self, number: int) -> Pending:
        """Wait to be told that so many contacts wait, and look at them."""
        await self.until_told(waiting=number)
        return await self.pending()

    async def pending(self) -> Pending:
        """What waits."""
        shown = await self.terminal.does(ShowPending(sim_id=self.sim_id))
        assert isinstance(shown, Pending)
        return shown

    async def decides(self, rev: int, *, accept: bool) -> DecisionTaken:
        """Decide on all that waited at a revision."""
        command = Decide(sim_id=self.sim_id, pending_rev=rev, accept=accept)
        taken = await self.terminal.does(command)
        assert isinstance(taken, DecisionTaken)
        return taken

    async def view(self) -> SimView:
        """The SIM as its account shows it."""
        accounts = (await accounts_of(self.terminal)).accounts
        return next(sim for one in accounts for sim in one.sims if sim.sim_id == self.sim_id)


async def registers(terminal: Terminal, carrier_id: str, number: int) -> Held:
    """Register the `number`-th SIM in a terminal."""
    command = RegisterSim(carrier_id=carrier_id, iccid=iccid(number), name=f"SIM {number}")
    registered = await terminal.does(command)
    assert isinstance(registered, SimRegistered)
    return Held(terminal, registered.sim_id)


async def agrees(terminal: Terminal, carrier_id: str, *, consent: bool = True) -> None:
    """Agree for a carrier, or no longer."""
    await terminal.does(SetConsent(carrier_id=carrier_id, consent=consent))


async def accounts_of(terminal: Terminal) -> AccountList:
    """The accounts of a terminal's user."""
    found = await terminal.does(ListAccounts())
    assert isinstance(found, AccountList)
    return found


async def holds(
    terminal: Terminal, carrier_id: str, space: SpaceKind = SpaceKind.SHARED
) -> dict[str, str]:
    """What a space holds: digests by uid, from pages of two."""
    contacts: dict[str, str] = {}
    after: int | None = 0
    while after is not None:
        page = await terminal.does(
            ListEntries(carrier_id=carrier_id, space=space, after=after, limit=2)
        )
        assert isinstance(page, EntryList)
        contacts |= {one.uid: one.digest for one in page.entries}
        after = page.after
    return contacts
