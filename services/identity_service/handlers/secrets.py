"""Terminals and their secrets: who shows one, how it is changed, and what is remembered of it."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import structlog

from contactmesh.contracts.errors import ErrorCode, Refusal
from contactmesh.contracts.identity import (
    AccessKind,
    AccessLog,
    AccessRow,
    IntegratorRow,
    NewSecret,
)
from contactmesh.runtime.commands import Clock, on_fresh_state
from contactmesh.storage.transaction import Addition
from identity_service.access_log import AccessLogs, counted_by_the_hour
from identity_service.domain.secret import (
    SALT_BYTES,
    TERMINAL_SECRET_BYTES,
    SecretHash,
    secret_text,
)
from identity_service.domain.terminal import Terminal
from identity_service.domain.upkeep import after_revoking
from identity_service.handlers.commit import Committer
from identity_service.handlers.registration import RandomBytes
from identity_service.repository import Repository, terminal_write, upkeep_write
from identity_service.upkeep import BrokerUpkeep

log = structlog.get_logger()

LOG_LINES: Final = 500


@dataclass(frozen=True, slots=True)
class Secrets:
    """Checks and changes secrets. Every method may be repeated after an answer that got lost."""

    repository: Repository
    access_logs: AccessLogs
    committer: Committer
    upkeep: BrokerUpkeep
    broker_cache_lifetime: timedelta
    random_bytes: RandomBytes
    clock: Clock

    async def authenticated(self, terminal_id: str, secret: str) -> Terminal | None:
        """The terminal, if this is its secret. A changed secret is the only one from its first use.

        Raises:
            DatabaseUnavailable: nothing can be said.
        """

        async def unit() -> Terminal | None:
            terminal = await self.repository.terminal(terminal_id)
            if terminal is None or not terminal.authenticates(secret):
                if terminal is not None:
                    await self._count_wrong(terminal)
                return None
            return await self._used(terminal, secret)

        return await on_fresh_state(unit)

    async def rotate(self, terminal_id: str, secret: str) -> NewSecret:
        """Give a terminal another secret; the old one is good until the other is used.

        Raises:
            Refusal: `unauthenticated`.
            DatabaseUnavailable: it may be asked again.
        """

        async def unit() -> NewSecret:
            terminal = await self.repository.terminal(terminal_id)
            if terminal is None or not terminal.may_rotate(secret):
                if terminal is not None:
                    await self._count_wrong(terminal)
                raise not_authenticated()
            terminal = await self._used(terminal, secret)
            following = secret_text(self.random_bytes(TERMINAL_SECRET_BYTES))
            hashed = SecretHash.of(following, self.random_bytes(SALT_BYTES))
            await self.committer.commit(
                [
                    terminal_write(terminal.with_next(hashed)),
                    self._counted(AccessKind.ROTATION_BEGUN, terminal),
                ]
            )
            return NewSecret(terminal_id=terminal.id, secret=following)

        issued = await on_fresh_state(unit)
        log.info("secret issued", terminal_id=terminal_id)
        return issued

    async def demand_rotation(self, terminal_id: str) -> None:
        """Let a terminal do nothing more before it has changed its secret.

        Its connections are closed; a terminal that runs changes the secret by itself and goes on.

        Raises:
            Refusal: `not_found`, there is none, or it was revoked.
        """

        async def unit() -> None:
            terminal = await self.repository.terminal(terminal_id)
            if terminal is None or not terminal.active:
                raise Refusal(ErrorCode.NOT_FOUND, f"There is no active terminal {terminal_id}.")
            upkeep = after_revoking(terminal_id, self.clock(), self.broker_cache_lifetime)
            await self.committer.commit(
                [
                    terminal_write(terminal.told_to_rotate()),
                    upkeep_write(upkeep),
                    self._counted(AccessKind.ROTATION_DEMANDED, terminal),
                ]
            )
            await self.upkeep.attempt(upkeep)

        await on_fresh_state(unit)
        log.info("rotation demanded", terminal_id=terminal_id)

    async def access_log(self, terminal_id: str, secret: str) -> AccessLog:
        """What happened to the terminals and secrets of the terminal's user.

        Raises:
            Refusal: `unauthenticated`.
        """
        terminal = await self.authenticated(terminal_id, secret)
        if terminal is None:
            raise not_authenticated()
        lines = await self.access_logs.newest(terminal.user_id, LOG_LINES)
        return AccessLog(
            entries=tuple(
                AccessRow(
                    kind=line.kind,
                    at=line.at,
                    last_at=line.last_at,
                    terminal_id=line.terminal_id,
                    count=line.count,
                )
                for line in lines
            ),
            integrators=tuple(
                IntegratorRow(name=one.name, scopes=one.scopes, added_at=one.added_at)
                for one in await self.repository.integrators()
            ),
        )

    async def _used(self, terminal: Terminal, secret: str) -> Terminal:
        """The terminal after this secret was shown.

        Raises:
            StaleState: it changed meanwhile.
        """
        changed = terminal.used(secret)
        if changed is terminal:
            return terminal
        await self.committer.commit(
            [terminal_write(changed), self._counted(AccessKind.ROTATED, terminal)]
        )
        log.info("secret changed", terminal_id=terminal.id)
        stored = await self.repository.terminal(terminal.id)
        return changed if stored is None else stored

    async def _count_wrong(self, terminal: Terminal) -> None:
        log.warning("wrong secret", terminal_id=terminal.id)
        await self.access_logs.count_attempt(
            AccessKind.REFUSED, terminal.user_id, self.clock(), terminal.id
        )

    def _counted(self, kind: AccessKind, terminal: Terminal) -> Addition:
        return counted_by_the_hour(kind, terminal.user_id, self.clock(), terminal.id)


def not_authenticated() -> Refusal:
    """The one answer to whoever is not the terminal."""
    return Refusal(
        ErrorCode.UNAUTHENTICATED,
        "This terminal is unknown, was revoked or has another secret. Enrol it again.",
    )
