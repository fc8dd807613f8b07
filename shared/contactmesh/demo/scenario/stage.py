"""What all parts of the story share: doing something for real and in the model, then comparing."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from pydantic import JsonValue, TypeAdapter

from contactmesh.demo import texts
from contactmesh.demo.checks import Difference, Fault, leaks
from contactmesh.demo.errors import DemoFailed
from contactmesh.demo.handsets import Handset
from contactmesh.demo.measuring import Arrival, Arrivals
from contactmesh.demo.narration import Narrator
from contactmesh.demo.people import NumberPlan, Person, card_of
from contactmesh.demo.phonebooks import StartingBook, starting_books
from contactmesh.demo.world import World
from contactmesh.local.waiting import until
from contactmesh.messaging.tap import Tap

ARRIVE_SECONDS: Final = 30.0
"""How long a change may take to reach a terminal before it counts as late."""
ARRIVE_AFTER_LATE_SECONDS: Final = 3.0
"""The same once something was late: it has failed already, and should end soon."""

_JSON: Final[TypeAdapter[JsonValue]] = TypeAdapter(JsonValue)


@dataclass(frozen=True, slots=True)
class Change:
    """A changed number and whom it reached."""

    person: Person
    before: str
    after: str
    reached: int
    slowest_seconds: float


@dataclass(slots=True)
class Tally:
    """What is counted on the way."""

    changes: list[Change] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    differences: list[Difference] = field(default_factory=list)
    messages: int = 0


class Cast:
    """The people, their numbers and their phonebooks at the beginning; the seed decides all."""

    def __init__(self, people: Sequence[Person], seed: int) -> None:
        source = random.Random(seed)  # noqa: S311 - the same seed has to give the same story
        self.people = tuple(people)
        self.by_id = {person.user_id: person for person in people}
        self.plan = NumberPlan(source)
        self.numbers = {person.user_id: self.plan.new(person) for person in people}
        self.books: Mapping[str, StartingBook] = starting_books(
            people, self.numbers, _KNOW_EACH_OTHER, source
        )


_KNOW_EACH_OTHER: Final = {
    "alice": ("ben", "wang-xiaoming"),
    "carol": ("grace",),
    "dave": ("alice", "erin"),
    "frank": ("ben",),
    "ivy": ("henry",),
    "jack": ("alice",),
    "chen-jing": ("liu-yang", "wang-xiaoming"),
    "zhang-wei": ("li-na",),
    "wu-fang": ("zhao-min",),
    "huang-lei": ("liu-yang",),
}
"""Whom the story needs in whose phonebook."""


class Stage:
    """The running system with everyone's terminals, and the model beside it.

    Args:
        cast: the people.
        handsets: all terminals, switched on.
        tap: sees everything that the broker delivers to them.
        arrivals: what the terminals applied.
        narrator: shows it.
    """

    def __init__(
        self,
        cast: Cast,
        handsets: Sequence[Handset],
        tap: Tap,
        arrivals: Arrivals,
        narrator: Narrator,
    ) -> None:
        self.cast = cast
        self.handsets = tuple(handsets)
        self.narrator = narrator
        self.world = World(cast.people, cast.books)
        self.numbers = dict(cast.numbers)
        self.group_ids: dict[str, str] = {}
        self.unsubscribed: set[str] = set()
        self.tally = Tally()
        self._tap = tap
        self._arrivals = arrivals

    # People and their terminals

    def person(self, user: str) -> Person:
        """Somebody."""
        return self.cast.by_id[user]

    def name(self, user: str) -> str:
        """Somebody's name."""
        return self.person(user).name

    def phone(self, user: str) -> Handset:
        """Somebody's first terminal."""
        return self.handsets_of(user)[0]

    def handsets_of(self, user: str) -> list[Handset]:
        """Somebody's terminals."""
        return [one for one in self.handsets if one.owner.user_id == user]

    async def shown(self, viewer: str, owner: str) -> str:
        """What somebody's phone shows as another's number."""
        number = await self.phone(viewer).number_of(self.person(owner))
        return texts.NOTHING if number is None else number

    def doubt(self, difference: Difference) -> None:
        """Take down that something is not as it must be."""
        self.tally.differences.append(difference)

    # What happens

    async def publish_first(self, users: Iterable[str]) -> None:
        """Let people publish their cards side by side, and wait until every phonebook has them."""
        wanted: set[Arrival] = set()
        for user in users:
            reach = self.world.publish(user, self.numbers[user])
            wanted |= self._expected(user, reach.told)
        await asyncio.gather(*(self._publish(user, self.world.groups_of(user)) for user in users))
        await self.arrived(wanted)

    async def change(self, user: str, *, full_width: bool = False) -> Change:
        """Give somebody a new number, publish it, and wait until all who may have it do."""
        number = self.cast.plan.new(self.person(user), full_width=full_width)
        return await self.change_to(
            user, number, lambda: self._publish(user, self.world.groups_of(user))
        )

    async def change_to(
        self, user: str, number: str, tell: Callable[[], Awaitable[None]]
    ) -> Change:
        """Give somebody this number, have it told, and wait until all who may have it do."""
        before, self.numbers[user] = self.numbers[user], number
        reach = self.world.publish(user, number)
        wanted = self._expected(user, reach.told)
        start = asyncio.get_running_loop().time()
        await tell()
        await self.arrived(wanted)
        seconds = [
            taken
            for arrival in wanted
            if (taken := self._arrivals.seconds_since(start, arrival)) is not None
        ]
        self.tally.seconds += seconds
        change = Change(self.person(user), before, number, len(seconds), max(seconds, default=0.0))
        self.tally.changes.append(change)
        return change

    async def block(self, setter: str, blocked: str, group: str | None = None) -> None:
        """Let somebody set "do not notify" on another."""
        await self.inspect()
        self.world.block(setter, blocked, group)
        await self.phone(setter).terminal.block(blocked, self._group_id(group))

    async def lift(self, setter: str, blocked: str, group: str | None = None) -> None:
        """Let somebody lift it, and wait until the other has the current card."""
        await self.inspect()
        self.world.lift(setter, blocked, group)
        await self.phone(setter).terminal.lift(blocked, self._group_id(group))
        await self.arrived(self.current([blocked], [setter]))

    async def arrived(self, wanted: set[Arrival]) -> None:
        """Wait for arrivals; those that do not come are taken down as late."""
        is_late = any(one.fault is Fault.LATE for one in self.tally.differences)
        seconds = ARRIVE_AFTER_LATE_SECONDS if is_late else ARRIVE_SECONDS
        for arrival in sorted(await self._arrivals.missing(wanted, seconds=seconds)):
            self.doubt(
                Difference(
                    Fault.LATE, arrival.terminal, self.name(arrival.owner), arrival.number, ""
                )
            )

    async def until(self, condition: Callable[[], Awaitable[bool]], what: str) -> None:
        """Wait for what the story cannot go on without.

        Raises:
            DemoFailed: it did not happen in time.
        """
        try:
            await until(condition, seconds=ARRIVE_SECONDS)
        except TimeoutError:
            raise DemoFailed(
                texts.DID_NOT_HAPPEN.format(what=what, seconds=ARRIVE_SECONDS)
            ) from None

    def current(self, viewers: Iterable[str], owners: Iterable[str]) -> set[Arrival]:
        """The arrivals of owners' present numbers at all of the viewers' terminals."""
        return {
            handset.arrival(owner, self.numbers[owner])
            for viewer in viewers
            for handset in self.handsets_of(viewer)
            for owner in owners
        }

    async def inspect(self) -> None:
        """Look through all that was delivered since the last time for what must not be there.

        It has to be done before anybody is allowed or forbidden something, since what counts is
        what they were allowed when it was delivered.
        """
        delivered = await self._tap.take()
        for handset in self.handsets:
            user = handset.owner.user_id
            messages = [_JSON.validate_json(body) for body in delivered[handset.terminal_name]]
            self.tally.messages += len(messages)
            silent = {(self.group_ids[group], setter) for group, setter in self.world.silent(user)}
            self.tally.differences += leaks(
                handset.terminal_name, messages, self.world.secrets(user), silent
            )

    def delivered(self) -> int:
        """How many updates with changed numbers the terminals applied."""
        return self._arrivals.count(
            {(change.person.user_id, change.after) for change in self.tally.changes}
        )

    def _group_id(self, group: str | None) -> str | None:
        return None if group is None else self.group_ids[group]

    def _expected(self, user: str, told: Iterable[str]) -> set[Arrival]:
        """The arrivals by push: at every terminal that is on and wants pushes."""
        return {
            handset.arrival(user, self.numbers[user])
            for viewer in told
            for handset in self.handsets_of(viewer)
            if handset.is_on and handset.terminal_name not in self.unsubscribed
        }

    async def _publish(self, user: str, groups: Iterable[str]) -> None:
        card = card_of(self.person(user), self.numbers[user])
        terminal = self.phone(user).terminal
        for publication in await terminal.publish(card, [self.group_ids[one] for one in groups]):
            if publication.error is not None:
                raise publication.error
