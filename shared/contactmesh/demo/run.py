"""Running the demo from nothing to nothing: a system of its own, the story, and the cleaning up."""

import asyncio
import secrets
import signal
import tempfile
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from contactmesh.contracts.identity import RegisterUser, Transport
from contactmesh.demo import texts
from contactmesh.demo.carriers import CarrierDesks
from contactmesh.demo.handsets import Handset, Operator
from contactmesh.demo.logs import logging_to
from contactmesh.demo.measuring import Arrivals
from contactmesh.demo.narration import Narrator
from contactmesh.demo.people import Person, everyone
from contactmesh.demo.result import Result
from contactmesh.demo.scenario import absences, blocks, carriers, changes, ending, opening
from contactmesh.demo.scenario.stage import Cast, Stage
from contactmesh.local.stack import Stack, StackSettings, Step
from contactmesh.messaging.tap import tapped
from contactmesh.messaging.topology import terminal_key, user_key

OperatorAt = Callable[[str, Path], Operator]
"""Gives the operator of the system at an address, with the token in a file."""

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_TWO_TERMINALS: Final = "erin"
_ENROL_AT_ONCE: Final = 4


@dataclass(frozen=True, slots=True)
class DemoOptions:
    """How the demo is played.

    Attributes:
        people: how many take part.
        seed: decides what is left to chance.
        keep: where to keep everything; a folder that goes at the end if none is given.
        silent: whether to tell nothing.
    """

    people: int
    seed: int
    keep: Path | None = None
    silent: bool = False


class Demo:
    """One run.

    Args:
        options: how it is played.
        operator_at: reaches identity_service as an operator.
    """

    def __init__(self, options: DemoOptions, operator_at: OperatorAt) -> None:
        self._options = options
        self._operator_at = operator_at
        self._narrator = Narrator(silent=options.silent)
        self._interrupted = False
        self._starting: Stack | None = None

    async def run(self) -> Result | None:
        """Play it; none if a signal ended it."""
        loop = asyncio.get_running_loop()
        playing = asyncio.create_task(self._play())

        def interrupt() -> None:
            if not self._interrupted:
                self._interrupted = True
                playing.cancel()
                if self._starting is not None:
                    self._starting.hasten()
                # Last, since nobody may be there to read it.
                self._narrator.say(texts.INTERRUPTED)

        for number in _SIGNALS:
            loop.add_signal_handler(number, interrupt)
        try:
            return await playing
        except asyncio.CancelledError:
            if not self._interrupted:
                raise
            return None
        finally:
            for number in _SIGNALS:
                loop.remove_signal_handler(number)

    async def _play(self) -> Result:
        narrator = self._narrator
        narrator.title(texts.TITLE)
        narrator.step(texts.STEP_SYSTEM)
        async with AsyncExitStack() as running:
            folder = self._options.keep
            if folder is None:
                temporary = tempfile.TemporaryDirectory(prefix="contactmesh-demo-")
                folder = Path(running.enter_context(temporary))
            running.enter_context(logging_to(folder / "terminals.log"))
            stack = await self._start(running, folder / "system")
            cast = Cast(everyone(self._options.people), self._options.seed)
            arrivals = Arrivals()
            by_mqtt = stack.terminal_mqtt_url is not None
            handsets = _handsets(cast, folder / "terminals", arrivals, by_mqtt=by_mqtt)
            await self._enrol(cast, handsets, stack)
            desks = CarrierDesks(folder / "carriers")
            operator = self._operator_at(stack.identity_url, stack.operator_token_file)
            async with operator:
                await desks.open(running, operator, stack.identity_url)
            for handset in handsets:
                running.push_async_callback(handset.switch_off)
                await handset.switch_on()
            await self._import(cast, handsets)
            tap = await running.enter_async_context(
                tapped(stack.amqp_url, {one.terminal_name: _keys(one) for one in handsets})
            )
            stage = Stage(cast, handsets, tap, arrivals, narrator)
            await _tell_story(stage, desks)
            result = await ending.check(stage, stack.services)
        result.tell(narrator, books=len(handsets))
        if self._options.keep is not None:
            narrator.say(texts.KEPT.format(folder=self._options.keep))
        return result

    async def _start(self, running: AsyncExitStack, data: Path) -> Stack:
        settings = StackSettings(data=data, database_prefix=f"demo_{secrets.token_hex(4)}_")
        with self._narrator.progress(texts.STARTING, total=None) as advance:

            def watch(name: str, step: Step) -> None:
                if step is Step.READY:
                    advance(name)

            stack = self._starting = Stack(settings, watcher=watch)
            await running.enter_async_context(stack)
            self._starting = None
        if self._options.keep is None:
            # Nobody will read this data again, so nothing has to be put in order for it.
            running.callback(stack.hasten)
        self._narrator.done(texts.STARTED.format(services=len(stack.services)))
        return stack

    async def _enrol(self, cast: Cast, handsets: Sequence[Handset], stack: Stack) -> None:
        operator = self._operator_at(stack.identity_url, stack.operator_token_file)
        at_once = asyncio.Semaphore(_ENROL_AT_ONCE)
        with self._narrator.progress(texts.ENROLLING, total=len(handsets)) as advance:

            async def enrol(person: Person) -> None:
                async with at_once:
                    await operator.register(
                        RegisterUser(user_id=person.user_id, display_name=person.name)
                    )
                    for handset in handsets:
                        if handset.owner is person:
                            await handset.enrol(stack.identity_url, operator)
                            advance(person.name)

            async with operator:
                await asyncio.gather(*(enrol(person) for person in cast.people))
        self._narrator.done(texts.ENROLLED.format(people=len(cast.people), terminals=len(handsets)))
        for handset in handsets:
            if handset.transport is Transport.MQTT:
                owner = handset.owner.name
                self._narrator.say(texts.BY_MQTT.format(owner=owner, terminal=handset.name))

    async def _import(self, cast: Cast, handsets: Sequence[Handset]) -> None:
        total = sum(cast.books[one.owner.user_id].cards() for one in handsets)
        typed = sum(len(cast.books[one.owner.user_id].entries) for one in handsets)
        with self._narrator.progress(texts.IMPORTING, total=len(handsets)) as advance:
            for handset in handsets:
                for file in cast.books[handset.owner.user_id].files:
                    await handset.terminal.import_cards(file.content, file_name=file.name)
                advance(handset.owner.name)
        self._narrator.done(texts.IMPORTED.format(cards=total, books=len(handsets), typed=typed))


def _handsets(cast: Cast, folder: Path, arrivals: Arrivals, *, by_mqtt: bool) -> list[Handset]:
    handsets: list[Handset] = []
    for person in cast.people:
        names = (texts.PHONE, texts.TABLET) if person.user_id == _TWO_TERMINALS else (texts.PHONE,)
        for name in names:
            transport = Transport.MQTT if by_mqtt and name == texts.TABLET else Transport.AMQP
            place = folder / f"{person.user_id} {name}"
            handsets.append(Handset(person, name, place, arrivals, transport))
    return handsets


def _keys(handset: Handset) -> tuple[str, str]:
    return terminal_key(handset.terminal.terminal_id), user_key(handset.owner.user_id)


async def _tell_story(stage: Stage, desks: CarrierDesks) -> None:
    await opening.found_groups(stage)
    await opening.publish_cards(stage)
    await changes.change_numbers(stage)
    await blocks.block_in_one_group(stage)
    await blocks.block_everywhere(stage)
    await absences.be_offline(stage)
    await absences.be_unsubscribed(stage)
    await absences.leave(stage)
    await carriers.carriers_speak(stage, desks)
