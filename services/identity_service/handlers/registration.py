"""What operators do: register users and carriers, mint codes, see terminals, revoke them."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Final

import structlog

from contactmesh.contracts.errors import ErrorCode, Refusal
from contactmesh.contracts.identifiers import carrier_of, carrier_owner
from contactmesh.contracts.identity import (
    AccessKind,
    AddCarrier,
    CarrierRow,
    EnrolmentCode,
    RegisterUser,
    TerminalRevoked,
    TerminalRow,
    UserRegistered,
    UserRow,
)
from contactmesh.runtime.commands import Clock, on_fresh_state
from identity_service.access_log import access_write
from identity_service.domain import enrolment
from identity_service.domain.access_log import Access
from identity_service.domain.secret import SALT_BYTES
from identity_service.domain.terminal import Terminal
from identity_service.domain.upkeep import Upkeep, after_revoking
from identity_service.domain.user import Limits, User, add_carrier, register
from identity_service.handlers.commit import Committer
from identity_service.repository import (
    Repository,
    code_write,
    terminal_write,
    upkeep_write,
    user_write,
)
from identity_service.upkeep import BrokerUpkeep

log = structlog.get_logger()

USERS_PAGE: Final = 500

RandomBytes = Callable[[int], bytes]


class Registration:
    """The operators' side. Every method may be repeated after an answer that got lost."""

    def __init__(
        self,
        repository: Repository,
        committer: Committer,
        upkeep: BrokerUpkeep,
        *,
        limits: Limits,
        code_lifetime: timedelta,
        broker_cache_lifetime: timedelta,
        random_bytes: RandomBytes,
        clock: Clock,
    ) -> None:
        self._repository = repository
        self._committer = committer
        self._upkeep = upkeep
        self._limits = limits
        self._code_lifetime = code_lifetime
        self._broker_cache_lifetime = broker_cache_lifetime
        self._random_bytes = random_bytes
        self._clock = clock

    async def register(self, request: RegisterUser) -> UserRow:
        """Register a user; nothing happens if exactly this user is there already.

        Raises:
            Refusal: `conflict`, the id is taken under another name.
        """

        async def unit() -> User:
            existing = await self._repository.user(request.user_id)
            user = register(existing, request, self._clock())
            if user is not existing:
                event = UserRegistered(user_id=user.id)
                await self._committer.commit([user_write(user)], event, subject=user.id)
                log.info("user registered", user_id=user.id)
            return user

        return _user_row(await on_fresh_state(unit))

    async def users(self, *, after: str = "") -> tuple[Sequence[UserRow], str | None]:
        """Users by id, those after `after`, and what to ask the next page with, if there is one."""
        users = await self._repository.users(after=after, limit=USERS_PAGE + 1)
        page = users[:USERS_PAGE]
        return [_user_row(user) for user in page], page[-1].id if len(users) > USERS_PAGE else None

    async def add_carrier(self, request: AddCarrier) -> CarrierRow:
        """Add a carrier; nothing happens if exactly this one is there already.

        Raises:
            Refusal: `conflict`, the id is taken under another name.
        """

        async def unit() -> User:
            existing = await self._repository.user(carrier_owner(request.carrier_id))
            carrier = add_carrier(existing, request, self._clock())
            if carrier is not existing:
                await self._committer.commit([user_write(carrier)])
                log.info("carrier added", carrier_id=request.carrier_id)
            return carrier

        return _carrier_row(await on_fresh_state(unit))

    async def carriers(self, *, after: str = "") -> tuple[Sequence[CarrierRow], str | None]:
        """Carriers by id, and what to ask the next page with, if there is one.

        Args:
            after: what the page before said.
        """
        carriers = await self._repository.carriers(after=after, limit=USERS_PAGE + 1)
        page = carriers[:USERS_PAGE]
        following = page[-1].id if len(carriers) > USERS_PAGE else None
        return [_carrier_row(carrier) for carrier in page], following

    async def mint(self, user_id: str) -> EnrolmentCode:
        """Mint a one-time code with which one terminal of the user, or carrier, can enrol.

        Raises:
            Refusal: `not_found`, `quota_exceeded`.
        """

        async def unit() -> EnrolmentCode:
            user = await self._user(user_id)
            text = enrolment.CodeText.drawn(
                self._random_bytes(enrolment.PUBLIC_BYTES),
                self._random_bytes(enrolment.SECRET_BYTES),
            )
            code = enrolment.mint(
                user,
                await self._repository.codes(user_id),
                text,
                salt=self._random_bytes(SALT_BYTES),
                lifetime=self._code_lifetime,
                limits=self._limits,
                now=self._clock(),
            )
            # The user is written unchanged, so that of two codes minted at once one has to count
            # the other.
            line = Access.once(AccessKind.CODE_MINTED, user_id, self._clock())
            await self._committer.commit([user_write(user), code_write(code), access_write(line)])
            return EnrolmentCode(
                user_id=user_id, code=str(text), expires_at=code.expires_at.isoformat()
            )

        minted = await on_fresh_state(unit)
        log.info("enrolment code minted", user_id=user_id)
        return minted

    async def terminals(self, user_id: str) -> Sequence[TerminalRow]:
        """All terminals that a user or carrier ever enrolled, oldest first.

        Raises:
            Refusal: `not_found`.
        """
        await self._user(user_id)
        return [_terminal_row(terminal) for terminal in await self._repository.terminals(user_id)]

    async def revoke(self, terminal_id: str) -> None:
        """Take a terminal's credentials, queue and connections away, for good.

        The credentials are void when this returns. Queue and connections are gone too if the broker
        could be reached, otherwise as soon as it can be.

        Raises:
            Refusal: `not_found`.
        """

        async def unit() -> Upkeep | None:
            terminal = await self._repository.terminal(terminal_id)
            if terminal is None:
                raise Refusal(ErrorCode.NOT_FOUND, f"There is no terminal {terminal_id}.")
            if not terminal.active:
                return None
            user = await self._user(terminal.user_id)
            now = self._clock()
            upkeep = after_revoking(terminal_id, now, self._broker_cache_lifetime)
            await self._committer.commit(
                [
                    terminal_write(terminal.revoked(now)),
                    user_write(user.with_a_terminal_less()),
                    upkeep_write(upkeep),
                    access_write(Access.once(AccessKind.REVOKED, user.id, now, terminal_id)),
                ],
                TerminalRevoked(terminal_id=terminal_id, user_id=user.id),
                subject=terminal_id,
            )
            return upkeep

        upkeep = await on_fresh_state(unit)
        if upkeep is not None:
            log.info("terminal revoked", terminal_id=terminal_id)
            await self._upkeep.attempt(upkeep)

    async def _user(self, user_id: str) -> User:
        user = await self._repository.user(user_id)
        if user is not None:
            return user
        carrier_id = carrier_of(user_id)
        raise Refusal(
            ErrorCode.NOT_FOUND,
            f"There is no user {user_id}. Register the user first."
            if carrier_id is None
            else f"There is no carrier {carrier_id}. Add the carrier first.",
        )


def _user_row(user: User) -> UserRow:
    return UserRow(user_id=user.id, display_name=user.display_name, terminals=user.terminals)


def _carrier_row(carrier: User) -> CarrierRow:
    return CarrierRow(
        carrier_id=carrier_of(carrier.id) or carrier.id,
        name=carrier.display_name,
        terminals=carrier.terminals,
    )


def _terminal_row(terminal: Terminal) -> TerminalRow:
    revoked_at = terminal.revoked_at
    return TerminalRow(
        terminal_id=terminal.id,
        name=terminal.name,
        enrolled_at=terminal.enrolled_at.isoformat(),
        revoked_at=None if revoked_at is None else revoked_at.isoformat(),
        must_rotate=terminal.must_rotate,
    )
