"""Connecting to the broker as a terminal, and what its failures are."""

from typing import Final

from aio_pika.abc import AbstractConnection
from yarl import URL

from contactmesh.contracts.identity import Credentials
from contactmesh.messaging.connection import open_connection

ANSWER_SECONDS: Final = 5.0
"""How long the broker may take to confirm a publish or take an acknowledgement."""


async def connect(credentials: Credentials, purpose: str) -> AbstractConnection:
    """Open a connection that does not come back by itself: its owner knows what has to follow.

    Raises:
        Exception: one of `BROKER_FAILURES`.
    """
    return await open_connection(
        broker_address(credentials), f"{credentials.terminal_id} {purpose}"
    )


def broker_address(credentials: Credentials) -> str:
    """The broker's URL with the terminal's credentials, unless it carries others."""
    url = URL(credentials.broker_url)
    if url.user is None:
        url = url.with_user(credentials.terminal_id).with_password(credentials.secret)
    return str(url)
