"""People and carriers at a running system, each at a terminal of the SDK."""

from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.wire import System

from contactmesh.contracts.carrier.feed import Began, Ended, Fed, Feed, FeedEntry
from contactmesh.contracts.carrier.records import EndReason, RegistrationRef
from contactmesh.terminal import Phonebook, Terminal


def ref(carrier_id: str, seq: int) -> RegistrationRef:
    return RegistrationRef(carrier_id=carrier_id, registration_seq=str(seq))


@dataclass
class Town:
    """A running system with people and carriers, each at a terminal of the SDK."""

    system: System
    folder: Path
    running: AsyncExitStack
    seq: int = 0

    async def enrol(self, owner: str, code_path: str) -> Path:
        """Enrol a terminal; returns its folder."""
        code = (await self.system._post(code_path))["code"]
        folder = self.folder / owner
        url = self.system.stack.identity_url
        await Terminal.enrol(folder, identity_url=url, code=code, name="phone")
        return folder

    async def stay_at_home(self, name: str) -> Path:
        """The folder of a new person's terminal, which does not run."""
        user_id = self.system.new_user(name)
        await self.system._post("/v1/users", {"user_id": user_id, "display_name": name})
        return await self.enrol(user_id, f"/v1/users/{user_id}/enrolment-codes")

    async def person(self, name: str) -> Terminal:
        """A new person's terminal, connected."""
        folder = await self.stay_at_home(name)
        return await self.running.enter_async_context(Terminal(folder))

    async def carrier(self, carrier_id: str) -> "Carrier":
        """A carrier's terminal, connected."""
        await self.system._post("/v1/carriers", {"carrier_id": carrier_id, "name": carrier_id})
        folder = await self.enrol(carrier_id, f"/v1/carriers/{carrier_id}/enrolment-codes")
        terminal = await self.running.enter_async_context(Terminal(folder, pull=False))
        return Carrier(carrier_id, terminal)

    def next_seq(self) -> int:
        self.seq += 1
        return self.seq


@dataclass
class Carrier:
    """A carrier that says what happens to its numbers."""

    carrier_id: str
    terminal: Terminal

    async def says(self, *entries: FeedEntry) -> None:
        answer = await self.terminal.request(Feed(entries=entries))
        assert isinstance(answer, Fed)
        assert [outcome.outcome for outcome in answer.outcomes] == ["applied"] * len(entries)


def now() -> datetime:
    return datetime.now(UTC)


def begun(
    person: Terminal | str, seq: int, number: str, replaces: RegistrationRef | None = None
) -> Began:
    """A number that began some days ago; later sequence numbers began later."""
    return Began(
        registration_seq=str(seq),
        identity_id=person if isinstance(person, str) else person.user_id,
        msisdn=number,
        valid_from=now() - timedelta(days=100 - seq),
        replaces=replaces,
    )


def over(seq: int, reason: EndReason) -> Ended:
    return Ended(registration_seq=str(seq), valid_to=now(), reason=reason)


async def numbers(phonebook: Phonebook, person: Terminal) -> set[str]:
    contact = await phonebook.contact_of(person.user_id)
    phones = {} if contact is None else contact.card.phones or {}
    return {phone.number for phone in phones.values()}
