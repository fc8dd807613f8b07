"""Answering the broker: may this connection do this?

Services and operators have accounts of the broker's own, which it looks into first. So only
terminals and integrators are known here, and everybody else is refused.

The broker names the client id of those who speak MQTT, and it is the plugin that says so: by AMQP
nobody can pass for one. It has to be the terminal's id, since who connects under a client id throws
out who has it, and gets that one's session. An integrator speaks AMQP alone.
"""

from dataclasses import dataclass

from contactmesh.contracts.identifiers import is_terminal_id
from contactmesh.messaging.topology import (
    COMMANDS,
    MQTT,
    subscription_queue,
    terminal_key,
    terminal_queue,
    user_key,
)
from identity_service.domain.permissions import Question, Realm, allows
from identity_service.domain.terminal import Terminal
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

    async def may_connect(self, username: str, password: str, client_id: str | None) -> bool:
        """Whether these are a terminal's id, or an integrator's account, and its secret.

        By MQTT a terminal's id is its client id too, and nobody else is let in.

        Raises:
            DatabaseUnavailable: nothing can be said.
        """
        if not is_terminal_id(username):
            return client_id is None and await self.integration.may_connect(username, password)
        if not _is_own(client_id, username):
            return False
        return await self.secrets.authenticated(username, password) is not None

    async def may_do(self, username: str, question: Question, client_id: str | None) -> bool:
        """Whether a terminal or integrator that has connected may do this.

        Raises:
            DatabaseUnavailable: nothing can be said.
        """
        if not is_terminal_id(username):
            return client_id is None and await self.integration.may_do(
                username, self.vhost, question
            )
        if not _is_own(client_id, username):
            return False
        terminal = await self.repository.terminal(username)
        if terminal is None or not terminal.active:
            return False
        return allows(self._realm(terminal, by_mqtt=client_id is not None), question)

    def _realm(self, terminal: Terminal, *, by_mqtt: bool) -> Realm:
        if not by_mqtt:
            return Realm(terminal.id, self.vhost, COMMANDS, terminal_queue(terminal.id))
        keys = frozenset((terminal_key(terminal.id), user_key(terminal.user_id)))
        return Realm(terminal.id, self.vhost, MQTT, subscription_queue(terminal.id), keys)


def _is_own(client_id: str | None, terminal_id: str) -> bool:
    return client_id in (None, terminal_id)
