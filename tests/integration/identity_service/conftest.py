"""A running identity_service, asked over HTTP and by the broker."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from io import BytesIO
from pathlib import Path
from typing import Any

import aio_pika
import aiormq
import pytest
import pytest_asyncio
from aio_pika.abc import AbstractConnection
from aiohttp import ClientSession, encode_basic_auth
from tests.backends import Broker
from yarl import URL

from contactmesh.contracts.errors import ErrorBody
from contactmesh.contracts.identity import Credentials, EnrolmentCode
from contactmesh.local.waiting import accepts_connections, until
from contactmesh.messaging.connection import open_connection
from identity_service.__main__ import serve
from identity_service.settings import IdentitySettings

TOKEN = "operator-token"
READY_SECONDS = 20


@dataclass(frozen=True)
class Answer:
    """An answer over HTTP."""

    status: int
    body: Any

    @property
    def error(self) -> ErrorBody:
        """The error that it carries."""
        return ErrorBody.model_validate(self.body["error"])


@dataclass(frozen=True)
class Identity:
    """A client of the service under test."""

    url: URL
    session: ClientSession

    async def ask(
        self,
        method: str,
        path: str,
        json: object = None,
        *,
        authorization: str | None = f"Bearer {TOKEN}",
        data: bytes | BytesIO | None = None,
    ) -> Answer:
        """Send a request, by default as an operator."""
        headers = {"Authorization": authorization} if authorization else {}
        async with self.session.request(
            method, URL(f"{self.url}/{path}", encoded=True), json=json, data=data, headers=headers
        ) as answer:
            is_json = answer.content_type == "application/json"
            return Answer(answer.status, await (answer.json() if is_json else answer.text()))

    async def register(self, user_id: str, display_name: str = "Ada") -> Answer:
        """Register a user."""
        return await self.ask(
            "POST", "v1/users", {"user_id": user_id, "display_name": display_name}
        )

    async def mint(self, user_id: str) -> str:
        """Mint a code that has to be granted."""
        answer = await self.ask("POST", f"v1/users/{user_id}/enrolment-codes")
        assert answer.status == HTTPStatus.CREATED, answer.body
        return EnrolmentCode.model_validate(answer.body).code

    async def try_enrol(self, code: str, name: str = "phone", **more: object) -> Answer:
        """Trade a code."""
        return await self.ask(
            "POST",
            "v1/enrolments",
            {"code": code, "terminal_name": name, **more},
            authorization=None,
        )

    async def enrolled(self, user_id: str) -> Credentials:
        """A new terminal of a user, who is registered if need be."""
        assert (await self.register(user_id)).status == HTTPStatus.OK
        answer = await self.try_enrol(await self.mint(user_id))
        assert answer.status == HTTPStatus.CREATED, answer.body
        return Credentials.model_validate(answer.body)

    async def make_queue(
        self, terminal_id: str, user: str, secret: str, transport: str | None = None
    ) -> Answer:
        """Ask for a terminal's queue as `user`."""
        return await self.ask(
            "POST",
            f"v1/terminals/{terminal_id}/queue",
            None if transport is None else {"transport": transport},
            authorization=encode_basic_auth(user, secret),
        )

    async def revoke(self, terminal_id: str) -> Answer:
        """Revoke a terminal."""
        return await self.ask("DELETE", f"v1/terminals/{terminal_id}")

    async def broker_asks(self, question: str, **form: str) -> str:
        """Ask what the broker asks."""
        async with self.session.post(self.url / "broker" / question, data=form) as answer:
            assert answer.status == HTTPStatus.OK
            return await answer.text()


RunIdentity = Callable[..., AbstractAsyncContextManager[Identity]]


@pytest.fixture
def run_identity(
    broker: Broker, database_url: str, database_prefix: str, identity_port: int, tmp_path: Path
) -> RunIdentity:
    """Run a service, with settings that differ from the usual ones as given."""
    token_file = tmp_path / "operator-token"
    token_file.write_text(f"{TOKEN}\n")

    @asynccontextmanager
    async def run(**different: object) -> AsyncIterator[Identity]:
        settings = IdentitySettings.model_validate(
            {
                "AMQP_URL": broker.service_url("identity_service"),
                "MONGODB_URL": database_url,
                "database_prefix": database_prefix,
                "http_port": identity_port,
                "operator_token_file": token_file,
                "terminal_amqp_url": broker.terminal_url,
                "terminal_mqtt_url": broker.mqtt_url,
                "broker_management_url": broker.management_url,
                **different,
            }
        )
        stopping = asyncio.Event()
        service = asyncio.create_task(serve(settings, stopping))
        url = URL(f"http://127.0.0.1:{settings.http_port}")
        try:
            async with ClientSession() as session:

                async def ready() -> bool:
                    if service.done():
                        service.result()
                    if not await accepts_connections("127.0.0.1", settings.http_port):
                        return False
                    async with session.get(url / "readyz") as answer:
                        return answer.status == HTTPStatus.OK

                await until(ready, seconds=READY_SECONDS)
                yield Identity(url, session)
        finally:
            stopping.set()
            await service

    return run


@pytest_asyncio.fixture
async def identity(run_identity: RunIdentity) -> AsyncIterator[Identity]:
    """A running service with its usual settings."""
    async with run_identity() as running:
        yield running


async def connect(credentials: Credentials) -> AbstractConnection:
    """Connect to the broker as a terminal."""
    url = URL(credentials.broker_url)
    return await open_connection(
        str(url.with_user(credentials.terminal_id).with_password(credentials.secret)), "terminal"
    )


async def publish(broker: Broker, exchange: str, key: str, *bcc: str) -> None:
    """Publish as a service does."""
    async with await aio_pika.connect(broker.url) as connection:
        raw = await (await connection.channel()).get_underlay_channel()
        headers: dict[str, Any] = {"BCC": list(bcc)} if bcc else {}
        await raw.basic_publish(
            b"{}",
            exchange=exchange,
            routing_key=key,
            properties=aiormq.spec.Basic.Properties(headers=headers),
        )
