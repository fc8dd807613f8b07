"""The fixtures give what they say: a real broker and a real database."""

from typing import Any

import aio_pika
import pytest
from aio_pika.exceptions import AMQPError
from aiohttp import web
from pymongo import MongoClient
from tests.backends import Broker

from contactmesh.messaging.connection import open_connection


async def test_broker_has_the_topology_and_keeps_to_the_rights(broker: Broker) -> None:
    connection = await aio_pika.connect(broker.service_url("group_service"))
    async with connection:
        channel = await connection.channel()
        queue = await channel.declare_queue("group_service.commands", passive=True)
        assert queue.declaration_result.message_count == 0
        with pytest.raises(AMQPError, match="ACCESS_REFUSED"):
            await channel.declare_queue("fanout_service.commands", durable=True)


async def test_broker_asks_the_identity_port_about_strangers(
    broker: Broker, identity_port: int
) -> None:
    asked: list[tuple[str, str]] = []

    async def answer(request: web.Request) -> web.Response:
        form = await request.post()
        asked.append((request.path, str(form["username"])))
        return web.Response(text="allow" if form["username"] == "terminal-1" else "deny")

    app = web.Application()
    app.router.add_post("/broker/{question}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", identity_port).start()
    try:
        url = broker.terminal_url.replace("//", "//{}:secret@")
        async with await aio_pika.connect(url.format("terminal-1")):
            pass
        with pytest.raises(AMQPError):
            await open_connection(url.format("terminal-2"), "a stranger")
    finally:
        await runner.cleanup()
    assert set(asked) == {
        ("/broker/user", "terminal-1"),
        ("/broker/vhost", "terminal-1"),
        ("/broker/user", "terminal-2"),
    }


def test_database_takes_transactions(database_url: str, database_prefix: str) -> None:
    with MongoClient[dict[str, Any]](database_url) as client:
        documents = client[f"{database_prefix}local"].documents
        with client.start_session() as session, session.start_transaction():
            documents.insert_one({"_id": 1}, session=session)
        assert documents.find_one() == {"_id": 1}
