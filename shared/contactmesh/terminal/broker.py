"""Connecting to the broker as a terminal, and what its failures are."""

import asyncio
from typing import Final

import aio_pika
from aio_pika.abc import AbstractConnection
from yarl import URL

from contactmesh.contracts.identity import Credentials
from contactmesh.messaging.connection import BROKER_FAILURES, HEARTBEAT_SECONDS

ANSWER_SECONDS: Final = 5.0
"""How long the broker may take to confirm a publish, take an acknowledgement, or say good-bye."""


async def connect(credentials: Credentials, purpose: str) -> AbstractConnection:
    """Open a connection that does not come back by itself: its owner knows what has to follow.

    Raises:
        Exception: one of `BROKER_FAILURES`.
    """
    return await aio_pika.connect(
        broker_address(credentials),
        client_properties={"connection_name": f"{credentials.terminal_id} {purpose}"},
        heartbeat=HEARTBEAT_SECONDS,
    )


async def close(connection: AbstractConnection) -> None:
    """Close a connection, whatever state it is in."""
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            await connection.close()
    except BROKER_FAILURES:
        # It is gone already, which is what was wanted.
        return


def broker_address(credentials: Credentials) -> str:
    """The broker's URL with the terminal's credentials, unless it carries others."""
    url = URL(credentials.broker_url)
    if url.user is None:
        url = url.with_user(credentials.terminal_id).with_password(credentials.secret)
    return str(url)
