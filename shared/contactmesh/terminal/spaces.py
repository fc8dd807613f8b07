"""All that goes between a phonebook and the spaces of SIM accounts."""

import asyncio
from collections.abc import Callable, Iterable

from contactmesh.contracts.multi_sim.commands import AccountList, ListAccounts
from contactmesh.terminal.accepting import Accepting
from contactmesh.terminal.auto_accepting import AutoAccepter
from contactmesh.terminal.errors import SimElsewhere, UnknownSim
from contactmesh.terminal.phonebook import Phonebook
from contactmesh.terminal.pulling import Ask
from contactmesh.terminal.storing import Storing
from contactmesh.terminal.updates import Update


class Spaces:
    """Stores, accepts, and accepts by itself, one after the other.

    Args:
        phonebook: the local phonebook.
        ask: sends a command and gives its result.
        emit: takes what changed in the phonebook.
        terminal_id: which terminal it is.

    Attributes:
        storing: stores the phonebook's entries.
        accepting: looks at what waits, and decides on it.
        accepter: accepts by itself.
    """

    def __init__(
        self,
        phonebook: Phonebook,
        ask: Ask,
        emit: Callable[[Iterable[Update]], None],
        terminal_id: str,
    ) -> None:
        one_at_a_time = asyncio.Lock()
        self.accepting = Accepting(phonebook, ask, emit, one_at_a_time)
        self.storing = Storing(phonebook, ask, self.accepting, one_at_a_time)
        self.accepter = AutoAccepter(phonebook, ask, self.accepting, emit, terminal_id)
        self._ask = ask
        self._terminal_id = terminal_id

    async def carrier_of(self, sim_id: str, *, here: bool) -> str:
        """At which carrier a SIM's account is.

        Args:
            sim_id: the SIM.
            here: whether it has to be in this terminal.

        Raises:
            UnknownSim: the user has no such SIM.
            SimElsewhere: it is in another terminal.
        """
        for account in (await self._ask(ListAccounts(), AccountList)).accounts:
            for sim in account.sims:
                if sim.sim_id == sim_id:
                    if here and sim.terminal_id != self._terminal_id:
                        raise SimElsewhere(
                            f"{sim.name} is in another terminal. Move it here first, if it is."
                        )
                    return account.carrier_id
        raise UnknownSim("You have no such SIM. List your accounts to find it.")
