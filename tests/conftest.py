"""Fixtures for tests that need a broker, a database or a whole running system."""

import secrets
import signal
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
import structlog
from hypothesis import settings
from pydantic import SecretStr
from tests.backends import Backends, Broker, drop_databases, fresh_vhost, running_backends

from contactmesh.local.settings import SERVICE_NAMES
from contactmesh.local.stack import Stack, StackSettings

# How long an example takes says more of the machine's other work than of the code.
settings.register_profile("contactmesh", deadline=None)
settings.load_profile("contactmesh")

# Who starts the tests in the background of a shell has Ctrl-C ignored, and what they start has too.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def logging_as_it_was() -> Iterator[None]:
    """What a command sets for its own log, while it runs in this process, ends with its test."""
    before = structlog.get_config() if structlog.is_configured() else None
    yield
    if before is None:
        structlog.reset_defaults()
    else:
        structlog.configure(**before)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def backends(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Backends]:
    """The worker's broker and database."""
    # The space is there because somebody's home folder has one.
    async with running_backends(tmp_path_factory.mktemp("backends of tests")) as running:
        yield running


@pytest_asyncio.fixture
async def broker(backends: Backends) -> AsyncIterator[Broker]:
    """A virtual host with the whole topology, for this test alone."""
    async with fresh_vhost(backends) as vhost:
        yield vhost


@pytest.fixture
def identity_port(backends: Backends) -> int:
    """Where the broker asks about terminals: an identity_service may listen there."""
    return backends.identity_port


@pytest.fixture
def database_url(backends: Backends) -> str:
    """The database server; use names that begin with `database_prefix`."""
    return backends.mongodb_url


@pytest.fixture
def database_prefix(backends: Backends) -> Iterator[str]:
    """What this test's databases are called first; they are dropped after it."""
    prefix = f"t{secrets.token_hex(6)}_"
    yield prefix
    drop_databases(backends.mongodb_url, prefix)


@pytest.fixture
def stack_settings(
    broker: Broker, database_url: str, database_prefix: str, tmp_path: Path
) -> StackSettings:
    """A stack of this test's own on the worker's broker and database: up in a second or two.

    Change what the test needs with `model_copy(update=...)`, as in `{"scale": {...}}`.
    """
    return StackSettings(
        data=tmp_path / "a stack",
        amqp_url=SecretStr(broker.url),
        service_amqp_urls={name: SecretStr(broker.service_url(name)) for name in SERVICE_NAMES},
        broker_management_url=SecretStr(broker.management_url),
        identity_port=broker.identity_port,
        terminal_mqtt_url=broker.mqtt_url,
        mongodb_url=SecretStr(database_url),
        database_prefix=database_prefix,
    )


@pytest_asyncio.fixture
async def stack(stack_settings: StackSettings) -> AsyncIterator[Stack]:
    """A running stack with one copy of each service."""
    async with Stack(stack_settings) as running:
        yield running
