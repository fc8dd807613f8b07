"""Terminals that speak MQTT with a client that knows nothing of ContactMesh."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiomqtt
import pytest
from yarl import URL

from contactmesh.contracts.identity import Credentials
from contactmesh.messaging.topology import terminal_key, topic, user_key

ANSWER_SECONDS = 5.0
QUIET_SECONDS = 0.5
"""How long nothing may come before it counts as nothing: the broker answers within some ms."""


def client(credentials: Credentials, **different: object) -> aiomqtt.Client:
    """A client for a terminal, which keeps its session unless told otherwise."""
    if credentials.mqtt_url is None:
        pytest.skip("the broker of the environment offers no MQTT")
    url = URL(credentials.mqtt_url)
    vhost = url.path.removeprefix("/") or "/"
    usual: dict[str, Any] = {
        "hostname": str(url.host),
        "port": url.port,
        "username": f"{vhost}:{credentials.terminal_id}",
        "password": credentials.secret,
        "identifier": credentials.terminal_id,
        "clean_session": False,
        "timeout": ANSWER_SECONDS,
    }
    return aiomqtt.Client(**{**usual, **different})


def own_topics(credentials: Credentials) -> list[tuple[str, int]]:
    """What a terminal may subscribe to."""
    keys = (terminal_key(credentials.terminal_id), user_key(credentials.user_id))
    return [(topic(key), 1) for key in keys]


@asynccontextmanager
async def subscribed(
    credentials: Credentials, **different: object
) -> AsyncIterator[aiomqtt.Client]:
    """A connected client that receives what is the terminal's."""
    async with client(credentials, **different) as connected:
        await connected.subscribe(own_topics(credentials))
        yield connected


async def next_message(connected: aiomqtt.Client) -> aiomqtt.Message:
    """The next message that arrives."""
    async with asyncio.timeout(ANSWER_SECONDS):
        return await anext(connected.messages)


async def is_quiet(connected: aiomqtt.Client) -> bool:
    """Whether nothing arrives."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(QUIET_SECONDS):
            await anext(connected.messages)
            return False
    return True


async def wait_until_thrown_out(connected: aiomqtt.Client) -> None:
    """Wait until the broker closes the connection; what arrives before is let go of."""
    with contextlib.suppress(aiomqtt.MqttError):
        async with asyncio.timeout(4 * ANSWER_SECONDS):
            async for _ in connected.messages:
                pass
