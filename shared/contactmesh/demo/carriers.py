"""The carriers of the demo: each speaks of its own numbers at a terminal of its own."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from contactmesh.contacts import match_key
from contactmesh.contracts.carrier.feed import Began, Ended, Fed, Feed, FeedEntry
from contactmesh.contracts.carrier.records import EndReason, RegistrationRef
from contactmesh.contracts.identity import AddCarrier
from contactmesh.demo import texts
from contactmesh.demo.errors import DemoFailed
from contactmesh.demo.handsets import Operator
from contactmesh.terminal import Terminal

MOBILE: Final = "cn-mobile"
UNICOM: Final = "cn-unicom"
EE: Final = "gb-ee"
CARRIERS: Final = (MOBILE, UNICOM, EE)

_A_WHILE: Final = timedelta(days=400)


@dataclass(frozen=True, slots=True)
class Registered:
    """A registration that a carrier has told of."""

    ref: RegistrationRef
    user: str
    number: str


class CarrierDesks:
    """Where the carriers say what happens to their numbers.

    Args:
        folder: where their terminals keep their credentials.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._terminals: dict[str, Terminal] = {}
        self._issued = 0

    async def open(self, running: AsyncExitStack, operator: Operator, identity_url: str) -> None:
        """Have every carrier added, and its terminal enrolled and connected."""
        for carrier_id in CARRIERS:
            name = texts.CARRIERS[carrier_id]
            await operator.add_carrier(AddCarrier(carrier_id=carrier_id, name=name))
            minted = await operator.mint_for_carrier(carrier_id)
            folder = self._folder / carrier_id
            await Terminal.enrol(
                folder, identity_url=identity_url, code=minted.code, name=texts.DESK
            )
            self._terminals[carrier_id] = await running.enter_async_context(
                Terminal(folder, pull=False)
            )

    async def register(self, carrier_id: str, user: str, number: str) -> Registered:
        """Somebody has had a number at a carrier for a while."""
        registered = self._next(carrier_id, user, number)
        await self._say(carrier_id, _began(registered, datetime.now(UTC) - _A_WHILE))
        return registered

    async def replace(self, old: Registered, carrier_id: str, number: str) -> Registered:
        """Somebody gets another number, or the same one at another carrier."""
        now = datetime.now(UTC)
        new = self._next(carrier_id, old.user, number)
        same = carrier_id == old.ref.carrier_id
        reason = EndReason.REPLACED if same else EndReason.PORTED_OUT
        await self._say(old.ref.carrier_id, _ended(old, now, reason))
        await self._say(carrier_id, _began(new, now, replaces=old.ref))
        return new

    async def recycle(self, old: Registered, user: str) -> Registered:
        """A number that its holder has no more is given to somebody else."""
        now = datetime.now(UTC)
        carrier_id = old.ref.carrier_id
        new = self._next(carrier_id, user, old.number)
        await self._say(carrier_id, _ended(old, now, EndReason.RECYCLED), _began(new, now))
        return new

    def _next(self, carrier_id: str, user: str, number: str) -> Registered:
        self._issued += 1
        ref = RegistrationRef(carrier_id=carrier_id, registration_seq=str(self._issued))
        return Registered(ref, user, as_carriers_write(number))

    async def _say(self, carrier_id: str, *entries: FeedEntry) -> None:
        answer = await self._terminals[carrier_id].request(Feed(entries=entries))
        if not isinstance(answer, Fed) or _rejected(answer):
            raise DemoFailed(texts.FEED_REJECTED.format(carrier=texts.CARRIERS[carrier_id]))


def as_carriers_write(number: str) -> str:
    """A number in E.164, whatever way people write it."""
    return match_key(number) or number


def _rejected(answer: Fed) -> Sequence[object]:
    return [outcome for outcome in answer.outcomes if outcome.outcome != "applied"]


def _began(registered: Registered, at: datetime, replaces: RegistrationRef | None = None) -> Began:
    return Began(
        registration_seq=registered.ref.registration_seq,
        identity_id=registered.user,
        msisdn=registered.number,
        valid_from=at,
        replaces=replaces,
    )


def _ended(registered: Registered, at: datetime, reason: EndReason) -> Ended:
    return Ended(registration_seq=registered.ref.registration_seq, valid_to=at, reason=reason)
