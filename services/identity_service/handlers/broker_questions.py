"""Answering the broker: may this connection do this?

Services and operators have accounts of the broker's own, which it looks into first. So only
terminals and integrators are known here, and everybody else is refused.
"""

from dataclasses import dataclass

from contactmesh.contracts.identifiers import is_terminal_id
from contactmesh.messaging.topology import COMMANDS, terminal_queue
from identity_service.domain.permissions import Question, Realm, allows
from identity_service.handlers.integration import Integration
from identity_service.handlers.secrets import Secrets
from identity_service.repository import Repository


@dataclass(frozen=True, slots=True)
class BrokerQuestions:
    """Answers for terminals and integrators in the one virtual host of the system."""

    repository: Repository
    secrets: Secrets
    integration: Integration
    vhost: str

    async def may_connect(self, username: str, password: str) -> bool:
        """Whether these are a terminal's id, or an integrator's account, and its secret.

        Raises:
            DatabaseUnavailable: nothing can be said.
        """
        if not is_terminal_id(username):
            return await self.integration.may_connect(username, password)
        return await self.secrets.authenticated(username, password) is not None

    async def may_do(self, username: str, question: Question) -> bool:
        """Whether a terminal or integrator that has connected may do this.

        Raises:
            DatabaseUnavailable: nothing can be said.
        """
        if not is_terminal_id(username):
            return await self.integration.may_do(username, self.vhost, question)
        terminal = await self.repository.terminal(username)
        if terminal is None or not terminal.active:
            return False
        realm = Realm(terminal.id, self.vhost, COMMANDS, terminal_queue(terminal.id))
        return allows(realm, question)
