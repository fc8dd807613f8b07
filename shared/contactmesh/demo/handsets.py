"""The terminals of the demo: real ones, enrolled with one-time codes, all in this process."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import Final, Protocol, Self

from contactmesh.contracts.identity import (
    AddCarrier,
    CarrierRow,
    EnrolmentCode,
    RegisterUser,
    Transport,
    UserRow,
)
from contactmesh.demo.measuring import Arrival, Arrivals
from contactmesh.demo.people import Person
from contactmesh.terminal import (
    Contact,
    ContactAdded,
    ContactUpdated,
    Terminal,
    UnknownContact,
    UpdateStream,
)

BUFFER: Final = 10_000


class Operator(Protocol):
    """identity_service as an operator sees it."""

    async def __aenter__(self) -> Self:
        """Begin."""
        ...

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End."""
        ...

    async def register(self, user: RegisterUser) -> UserRow:
        """Register a user."""
        ...

    async def mint(self, user_id: str) -> EnrolmentCode:
        """Mint a one-time code."""
        ...

    async def add_carrier(self, carrier: AddCarrier) -> CarrierRow:
        """Add a carrier."""
        ...

    async def mint_for_carrier(self, carrier_id: str) -> EnrolmentCode:
        """Mint a one-time code for a carrier's terminal."""
        ...


class Handset:
    """A terminal in somebody's hands, which can be switched off and on.

    Args:
        owner: whose it is.
        name: what the owner calls it.
        folder: where it keeps credentials and phonebook.
        arrivals: is told what the terminal applied.
        transport: the protocol that it speaks.
    """

    def __init__(
        self, owner: Person, name: str, folder: Path, arrivals: Arrivals, transport: Transport
    ) -> None:
        self.owner = owner
        self.name = name
        self.transport = transport
        self._folder = folder
        self._arrivals = arrivals
        self._terminal: Terminal | None = None
        self._running = AsyncExitStack()

    async def enrol(self, identity_url: str, operator: Operator) -> None:
        """Have a code minted and trade it for credentials."""
        minted = await operator.mint(self.owner.user_id)
        await Terminal.enrol(
            self._folder,
            identity_url=identity_url,
            code=minted.code,
            name=self.name,
            region=self.owner.region,
            transport=self.transport,
        )

    async def switch_on(self) -> None:
        """Connect. What was missed is pulled meanwhile."""
        async with AsyncExitStack() as running:
            terminal = Terminal(self._folder)
            stream = terminal.updates(BUFFER)
            watching = asyncio.create_task(self._watch(terminal, stream))
            # The stream ends with the terminal, and the task with the stream.
            running.push_async_callback(asyncio.wait, [watching])
            await running.enter_async_context(terminal)
            self._terminal = terminal
            self._running = running.pop_all()

    async def switch_off(self) -> None:
        """Disconnect; nothing happens if it is off."""
        self._terminal = None
        await self._running.aclose()

    @property
    def is_on(self) -> bool:
        """Whether it is switched on."""
        return self._terminal is not None

    @property
    def terminal(self) -> Terminal:
        """The terminal.

        Raises:
            RuntimeError: it is off.
        """
        if self._terminal is None:
            raise RuntimeError(f"{self.terminal_name} is off")
        return self._terminal

    @property
    def terminal_name(self) -> str:
        """What tells it apart from all others."""
        return f"{self.owner.user_id} {self.name}"

    def arrival(self, owner: str, number: str) -> Arrival:
        """The arrival of somebody's number here."""
        return Arrival(self.terminal_name, owner, number)

    async def contacts(self) -> list[Contact]:
        """What its phonebook shows."""
        return await self.terminal.contacts()

    async def number_of(self, person: Person) -> str | None:
        """What its phonebook shows as somebody's number, found by name as people do."""
        for contact in await self.terminal.contacts(person.name):
            if contact.display_name == person.name:
                return " ".join(phone.number for phone in (contact.card.phones or {}).values())
        return None

    async def _watch(self, terminal: Terminal, stream: UpdateStream) -> None:
        clock = asyncio.get_running_loop().time
        async for update in stream:
            at = clock()
            match update:
                case ContactAdded() | ContactUpdated() if update.user_id is not None:
                    await self._note(terminal, update.contact_id, update.user_id, at)

    async def _note(self, terminal: Terminal, contact_id: str, owner: str, at: float) -> None:
        try:
            contact = await terminal.contact(contact_id)
        except UnknownContact:
            return  # joined into another contact meanwhile, which has an update of its own
        phones = (contact.card.phones or {}).values()
        await self._arrivals.note([self.arrival(owner, phone.number) for phone in phones], at)
