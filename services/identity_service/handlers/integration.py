"""What operators do for integrators: add them with their scopes, see them, remove them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import structlog

from contactmesh.contracts.errors import ErrorCode, Refusal
from contactmesh.contracts.identifiers import integrator_account, integrator_of
from contactmesh.contracts.identity import AddIntegrator, IntegratorCredentials, IntegratorRow
from contactmesh.messaging.connection import BrokerUnavailable
from contactmesh.runtime.commands import Clock, on_fresh_state
from identity_service.broker import TerminalBroker
from identity_service.domain.integrator import Integrator, add
from identity_service.domain.permissions import Question, allows_integrator
from identity_service.domain.secret import (
    SALT_BYTES,
    TERMINAL_SECRET_BYTES,
    SecretHash,
    secret_text,
)
from identity_service.domain.upkeep import after_revoking
from identity_service.handlers.commit import Committer
from identity_service.handlers.registration import RandomBytes
from identity_service.repository import (
    Repository,
    integrator_write,
    no_integrator,
    upkeep_write,
)
from identity_service.upkeep import BrokerUpkeep

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Integration:
    """The operators' side of integrators, and what the broker asks about them."""

    repository: Repository
    committer: Committer
    broker: TerminalBroker
    upkeep: BrokerUpkeep
    broker_url: str
    broker_cache_lifetime: timedelta
    random_bytes: RandomBytes
    clock: Clock

    async def add(self, request: AddIntegrator) -> IntegratorCredentials:
        """Add an integrator, with its queue ready.

        After an answer that got lost remove it and add it again: the secret is shown once.

        Raises:
            Refusal: `conflict`, there is one of this name.
            BrokerUnavailable: nothing was added.
        """
        account = integrator_account(request.name)
        secret = secret_text(self.random_bytes(TERMINAL_SECRET_BYTES))

        async def unit() -> Integrator:
            integrator = add(
                await self.repository.integrator(request.name),
                request.name,
                request.scopes,
                SecretHash.of(secret, self.random_bytes(SALT_BYTES)),
                self.clock(),
            )
            await self.committer.commit([integrator_write(integrator)])
            return integrator

        integrator = await on_fresh_state(unit)
        try:
            await self.broker.make_integrator_queue(account, integrator.scopes)
        except BrokerUnavailable:
            await self._remove(request.name)
            raise
        log.info("integrator added", name=request.name, scopes=list(integrator.scopes))
        return IntegratorCredentials(
            name=integrator.name,
            account=account,
            secret=secret,
            queue=account,
            scopes=integrator.scopes,
            broker_url=self.broker_url,
        )

    async def rows(self) -> Sequence[IntegratorRow]:
        """All integrators, by name."""
        return [
            IntegratorRow(name=one.name, scopes=one.scopes, added_at=one.added_at)
            for one in await self.repository.integrators()
        ]

    async def remove(self, name: str) -> None:
        """Take an integrator's account, queue and connections away, as a terminal's are.

        Raises:
            Refusal: `not_found`.
        """
        if await self.repository.integrator(name) is None:
            raise Refusal(ErrorCode.NOT_FOUND, f"There is no integrator {name}.")
        await self._remove(name)

    async def _remove(self, name: str) -> None:
        account = integrator_account(name)
        upkeep = after_revoking(account, self.clock(), self.broker_cache_lifetime)
        await on_fresh_state(
            lambda: self.committer.commit([no_integrator(name), upkeep_write(upkeep)])
        )
        log.info("integrator removed", name=name)
        await self.upkeep.attempt(upkeep)

    async def may_connect(self, account: str, secret: str) -> bool:
        """Whether these are an integrator's account and secret.

        Raises:
            DatabaseUnavailable: nothing can be said.
        """
        integrator = await self._integrator(account)
        return integrator is not None and integrator.secret.matches(secret)

    async def may_do(self, account: str, vhost: str, question: Question) -> bool:
        """Whether an integrator that has connected may do this.

        Raises:
            DatabaseUnavailable: nothing can be said.
        """
        return await self._integrator(account) is not None and allows_integrator(
            vhost, account, question
        )

    async def _integrator(self, account: str) -> Integrator | None:
        name = integrator_of(account)
        return None if name is None else await self.repository.integrator(name)
