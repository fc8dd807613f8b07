"""Terminals as they look from the wire: AMQP and HTTP alone, nothing of the SDK.

A test sees here what the broker really delivered. Nothing sleeps: everything that is waited for has
a deadline.
"""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any, TypeVar

import aio_pika
from aio_pika.abc import AbstractConnection, AbstractIncomingMessage
from aio_pika.exceptions import AMQPError
from aiohttp import ClientSession
from pydantic import SecretStr
from tests.backends import Backends, Broker, drop_databases, fresh_vhost
from yarl import URL

from contactmesh.contacts import Card
from contactmesh.contracts.command import Command
from contactmesh.contracts.envelope import CONTENT_TYPE, Envelope
from contactmesh.contracts.errors import ErrorBody
from contactmesh.contracts.group.commands import (
    AcceptInvitation,
    CardPublished,
    Created,
    CreateGroup,
    Invite,
    Invited,
    PublishCard,
    Pull,
    Pulled,
)
from contactmesh.contracts.group.views import PulledMember
from contactmesh.contracts.identity import Credentials
from contactmesh.contracts.reply import Reply, Result
from contactmesh.local.settings import SERVICE_NAMES
from contactmesh.local.stack import Stack, StackSettings
from contactmesh.messaging.topology import COMMANDS, EVENTS

DEADLINE = 30.0
ANSWERED_AFTER = 150.0
"""How long a command is sent again: longer than the database keeps a dead one's transaction."""
LOST_AFTER = 2.0
"""How long a reply may take before the command is sent again, under the same id."""

ResultKind = TypeVar("ResultKind", bound=Result)


def card_of(owner: str, number: str, name: str = "林晓雨", **more: object) -> Card:
    """A person's card with one mobile number."""
    return Card.model_validate(
        {
            "@type": "Card",
            "version": "1.0",
            "uid": f"urn:example:{owner}",
            "name": {"full": name},
            "phones": {"mobile": {"number": number}},
            **more,
        }
    )


def number_of(card: Mapping[str, Any] | None) -> str | None:
    """The mobile number on a card that `card_of` made."""
    return None if card is None else str(card["phones"]["mobile"]["number"])


@dataclass(eq=False, repr=False)
class Terminal:
    """One terminal: it sends commands, and keeps everything that its queue brings."""

    credentials: Credentials
    received: list[Envelope] = field(default_factory=list)
    """Every message that was not a reply, in the order of arrival."""
    raw: list[AbstractIncomingMessage] = field(default_factory=list)
    """Every message as the broker delivered it."""
    replies: dict[str, list[Envelope]] = field(default_factory=dict)
    """All replies, by the id of the message that they answer."""
    _news: asyncio.Event = field(default_factory=asyncio.Event)
    _connection: AbstractConnection | None = None
    _exchange: aio_pika.abc.AbstractExchange | None = None

    @property
    def id(self) -> str:
        """The terminal's id."""
        return self.credentials.terminal_id

    @property
    def user_id(self) -> str:
        """Its user's id."""
        return self.credentials.user_id

    async def connect(self) -> None:
        """Connect and consume the own queue."""
        url = URL(self.credentials.broker_url)
        self._connection = await aio_pika.connect(
            str(url.with_user(self.id).with_password(self.credentials.secret))
        )
        channel = await self._connection.channel()
        self._exchange = await channel.get_exchange(COMMANDS, ensure=False)
        queue = await channel.get_queue(self.credentials.queue, ensure=False)
        await queue.consume(self._arrived, no_ack=True)

    async def close(self) -> None:
        """Disconnect; the queue goes on to collect."""
        if self._connection is not None:
            await self._connection.close()
            self._connection = None

    async def _arrived(self, message: AbstractIncomingMessage) -> None:
        self.raw.append(message)
        envelope = Envelope.decode(message.body)
        if envelope.type == Reply.TYPE:
            self.replies.setdefault(envelope.correlationid or "", []).append(envelope)
        else:
            self.received.append(envelope)
        self._news.set()

    async def until(self, condition: Callable[[], object], *, seconds: float = DEADLINE) -> None:
        """Wait until something that arrives makes the condition true.

        Raises:
            TimeoutError: it did not come true in time.
        """
        async with asyncio.timeout(seconds):
            while not condition():
                self._news.clear()
                await self._news.wait()

    # --- sending ----------------------------------------------------------------------------------

    async def send(
        self,
        body: bytes,
        routing_key: str,
        *,
        message_id: str | None = None,
        headers: Mapping[str, Any] | None = None,
    ) -> str:
        """Publish whatever bytes; returns the message id."""
        assert self._exchange is not None, "connect first"
        message_id = message_id or secrets.token_hex(12)
        await self._exchange.publish(
            aio_pika.Message(
                body, content_type=CONTENT_TYPE, message_id=message_id, headers=dict(headers or {})
            ),
            routing_key,
            mandatory=False,
        )
        return message_id

    def envelope(self, command: Command, command_id: str | None = None) -> Envelope:
        """A command in its envelope."""
        return Envelope.of(
            command,
            id=command_id or secrets.token_hex(12),
            source=f"/terminals/{self.id}",
            time=datetime.now(UTC),
        )

    async def send_command(
        self,
        command: Command,
        command_id: str | None = None,
        headers: Mapping[str, Any] | None = None,
    ) -> str:
        """Send a command and do not wait; returns its id."""
        envelope = self.envelope(command, command_id)
        key = command.routing_key(self.id)
        return await self.send(envelope.encode(), key, message_id=envelope.id, headers=headers)

    async def reply_to(self, message_id: str, *, number: int = 1) -> Reply:
        """The reply to a message, or the `number`-th of them."""
        await self.until(lambda: len(self.replies.get(message_id, ())) >= number)
        return Reply.model_validate(self.replies[message_id][number - 1].data)

    async def ask(self, command: Command, command_id: str | None = None) -> Reply:
        """Send a command, again under the same id when the reply is lost, and await the reply."""
        message_id = command_id or secrets.token_hex(12)
        async with asyncio.timeout(ANSWERED_AFTER):
            while True:
                try:
                    await self.send_command(command, message_id)
                    await self.until(lambda: message_id in self.replies, seconds=LOST_AFTER)
                except (TimeoutError, AMQPError):
                    continue
                return await self.reply_to(message_id)

    async def does(self, command: Command, command_id: str | None = None) -> Result:
        """Do a command that has to be granted; returns its result."""
        reply = await self.ask(command, command_id)
        assert reply.error is None, reply.error
        return command.RESULT.model_validate(reply.result)

    async def refused(self, command: Command) -> ErrorBody:
        """Send a command that has to be refused; returns the error."""
        reply = await self.ask(command)
        assert reply.error is not None, reply.result
        assert reply.status == "error"
        return reply.error

    # --- what tests do all the time ---------------------------------------------------------------

    async def creates(self, *members: "Terminal | str", name: str = "家人 family") -> str:
        """Create a group with initial members; returns its id."""
        users = tuple(one if isinstance(one, str) else one.user_id for one in members)
        created = await self.does(CreateGroup(name=name, members=users))
        assert isinstance(created, Created)
        return created.group_id

    async def invites(self, group_id: str, invitee: "Terminal | str") -> str:
        """Invite a user; returns the invitation's id."""
        user_id = invitee if isinstance(invitee, str) else invitee.user_id
        invited = await self.does(Invite(group_id=group_id, user_id=user_id))
        assert isinstance(invited, Invited)
        return invited.invitation_id

    async def accepts(self, invitation_id: str) -> None:
        """Accept an invitation."""
        await self.does(AcceptInvitation(invitation_id=invitation_id))

    async def publishes(
        self, group_id: str, number: str, base_rev: int | None = None, **more: object
    ) -> int:
        """Publish the own card with this number; returns its revision."""
        card = card_of(self.user_id, number, **more)  # type: ignore[arg-type]
        done = await self.does(PublishCard(group_id=group_id, card=card, base_rev=base_rev))
        assert isinstance(done, CardPublished)
        return done.rev

    async def pull(self, group_id: str, since: str | None = None, limit: int = 200) -> Pulled:
        """One page of a pull."""
        pulled = await self.does(Pull(group_id=group_id, since=since, limit=limit))
        assert isinstance(pulled, Pulled)
        return pulled

    async def pulls(self, group_id: str, since: str | None = None) -> dict[str, PulledMember]:
        """All pages of a pull: the members that it brought, by user."""
        members: dict[str, PulledMember] = {}
        while True:
            page = await self.pull(group_id, since)
            members |= {member.user_id: member for member in page.members}
            if not page.has_more:
                return members
            since = page.cursor

    def updates(self, kind: str, group_id: str | None = None) -> list[dict[str, Any]]:
        """What was pushed of one type, and for one group, each event once."""
        once = {envelope.id: envelope for envelope in self.received}
        return [
            envelope.data
            for envelope in once.values()
            if envelope.type == kind and group_id in (None, envelope.data.get("group_id"))
        ]

    async def until_told(
        self, kind: str, group_id: str | None = None, *, number: int = 1
    ) -> list[dict[str, Any]]:
        """Wait until as many updates of a type have come; returns them."""
        await self.until(lambda: len(self.updates(kind, group_id)) >= number)
        return self.updates(kind, group_id)

    def pushed_numbers(self, owner: "Terminal", group_id: str) -> list[str | None]:
        """The numbers of an owner that were pushed here, in the order of arrival."""
        return [
            number_of(data.get("card"))
            for data in self.updates("contact.changed", group_id)
            if data["owner_id"] == owner.user_id
        ]

    async def until_pushed(self, owner: "Terminal", group_id: str, number: str) -> None:
        """Wait for the push of a number."""
        await self.until(lambda: number in self.pushed_numbers(owner, group_id))

    def ever_saw(self, text: str) -> bool:
        """Whether any message that the queue carried has this text in it."""
        return any(text.encode() in message.body for message in self.raw)


@dataclass(eq=False, repr=False)
class System:
    """A running stack, with an operator's hands."""

    stack: Stack
    broker: Broker
    mongodb_url: str
    database_prefix: str
    http: ClientSession
    log: list[tuple[str, str]] = field(default_factory=list)
    """Every line that any process has written, with the process."""
    _closing: AsyncExitStack = field(default_factory=AsyncExitStack)

    def new_user(self, name: str) -> str:
        """A user id that no other test has."""
        return f"{name}-{secrets.token_hex(4)}"

    async def _post(
        self, path: str, body: object = None, *, operator: bool = True
    ) -> dict[str, Any]:
        token = self.stack.operator_token_file.read_text().strip()
        headers = {"Authorization": f"Bearer {token}"} if operator else {}
        url = f"{self.stack.identity_url}{path}"
        async with self.http.post(url, json=body, headers=headers) as answer:
            assert answer.status < HTTPStatus.BAD_REQUEST, await answer.text()
            content: dict[str, Any] = await answer.json()
            return content

    async def enrol(self, user_id: str, display_name: str = "林晓雨") -> Credentials:
        """Enrol one more terminal of a user."""
        await self._post("/v1/users", {"user_id": user_id, "display_name": display_name})
        code = (await self._post(f"/v1/users/{user_id}/enrolment-codes"))["code"]
        body = {"code": code, "terminal_name": "phone"}
        return Credentials.model_validate(await self._post("/v1/enrolments", body, operator=False))

    async def terminal(self, name: str) -> Terminal:
        """A connected terminal of a new user whose id begins with `name`."""
        return await self.another_terminal(self.new_user(name))

    async def terminals(self, *names: str) -> list[Terminal]:
        """Connected terminals of new users."""
        return list(await asyncio.gather(*(self.terminal(name) for name in names)))

    async def another_terminal(self, user_id: str) -> Terminal:
        """A connected terminal of a user."""
        terminal = Terminal(await self.enrol(user_id))
        await terminal.connect()
        self._closing.push_async_callback(terminal.close)
        return terminal

    async def revoke(self, terminal_id: str) -> None:
        """Revoke a terminal, as an operator."""
        token = self.stack.operator_token_file.read_text().strip()
        url = f"{self.stack.identity_url}/v1/terminals/{terminal_id}"
        headers = {"Authorization": f"Bearer {token}"}
        async with self.http.delete(url, headers=headers) as answer:
            assert answer.status == HTTPStatus.NO_CONTENT, await answer.text()

    @asynccontextmanager
    async def channel(self) -> AsyncIterator[aio_pika.abc.AbstractChannel]:
        """A channel of the broker's administrator."""
        connection = await aio_pika.connect(self.broker.url)
        async with connection:
            yield await connection.channel()

    async def publish_events(self, messages: Sequence[tuple[str, bytes]]) -> None:
        """Publish events as some service would: (routing key, body) each."""
        async with self.channel() as channel:
            exchange = await channel.get_exchange(EVENTS)
            for key, body in messages:
                message = aio_pika.Message(body, content_type=CONTENT_TYPE)
                await exchange.publish(message, key, mandatory=False)

    async def parked(self, queue: str) -> AbstractIncomingMessage:
        """Take the next message out of a queue's parking, waiting for it."""
        return await take_parked(self.broker.url, queue)


async def take_parked(url: str, queue: str) -> AbstractIncomingMessage:
    """Take the next message out of a queue's parking, waiting for it."""
    arrived: asyncio.Queue[AbstractIncomingMessage] = asyncio.Queue()
    connection = await aio_pika.connect(url)
    async with connection, asyncio.timeout(DEADLINE):
        channel = await connection.channel()
        await channel.set_qos(1)
        parking = await channel.get_queue(f"{queue}.dead")
        await parking.consume(arrived.put)
        message = await arrived.get()
        await message.ack()
        return message


@asynccontextmanager
async def running_system(
    backends: Backends,
    folder: Path,
    *,
    scale: Mapping[str, int] | None = None,
    environment: Mapping[str, Mapping[str, str]] | None = None,
) -> AsyncIterator[System]:
    """Run every service as a process of its own, on the worker's broker and database."""
    prefix = f"w{secrets.token_hex(6)}_"
    log: list[tuple[str, str]] = []
    async with AsyncExitStack() as running:
        broker = await running.enter_async_context(fresh_vhost(backends))
        running.callback(drop_databases, backends.mongodb_url, prefix)
        settings = StackSettings(
            data=folder / "a stack",
            scale=scale or {},
            environment=environment or {},
            grace_seconds=10,
            amqp_url=SecretStr(broker.url),
            service_amqp_urls={name: SecretStr(broker.service_url(name)) for name in SERVICE_NAMES},
            broker_management_url=SecretStr(broker.management_url),
            identity_port=broker.identity_port,
            terminal_mqtt_url=broker.mqtt_url,
            mongodb_url=SecretStr(backends.mongodb_url),
            database_prefix=prefix,
        )
        stack = await running.enter_async_context(
            Stack(settings, log_reader=lambda process, line: log.append((process, line)))
        )
        http = await running.enter_async_context(ClientSession())
        closing = await running.enter_async_context(AsyncExitStack())
        yield System(stack, broker, backends.mongodb_url, prefix, http, log, closing)
