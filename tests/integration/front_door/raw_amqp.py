"""An AMQP client that sends whatever bytes it is told, as no honest client would."""

import asyncio
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import unquote

from pamqp import commands, constants, frame, header
from pamqp.base import Frame
from pamqp.heartbeat import Heartbeat
from tests.wire import DEADLINE
from yarl import URL

from contactmesh.contracts.identity import Credentials

BASIC = 60
HEADERS_FLAG = 1 << 13
FRAME_MAX = 131_072
CHANNEL_MAX = 16


@dataclass(eq=False)
class RawClient:
    """A connection with one open channel, byte by byte."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, channel: int, *frames: Frame) -> None:
        """Send well-formed frames."""
        for one in frames:
            self.writer.write(frame.marshal(one, channel))
        await self.writer.drain()

    async def send_frame(self, kind: int, channel: int, payload: bytes) -> None:
        """Send a frame with any payload."""
        head = struct.pack(">BHI", kind, channel, len(payload))
        self.writer.write(head + payload + bytes([constants.FRAME_END]))
        await self.writer.drain()

    async def send_content(self, body: bytes, *, flags: int = 0, properties: bytes = b"") -> None:
        """Send a message's content on channel 1, with its properties as these very bytes."""
        head = struct.pack(">HHQH", BASIC, 0, len(body), flags)
        await self.send_frame(constants.FRAME_HEADER, 1, head + properties)
        if body:
            await self.send_frame(constants.FRAME_BODY, 1, body)

    async def publish(
        self, exchange: str, key: str, body: bytes, *, flags: int, properties: bytes
    ) -> None:
        """Publish a message."""
        await self.send(1, commands.Basic.Publish(exchange=exchange, routing_key=key))
        await self.send_content(body, flags=flags, properties=properties)

    async def receive(self) -> object:
        """The next frame that is no heartbeat.

        Raises:
            ConnectionError: the broker has closed the connection.
        """
        while True:
            try:
                head = await self.reader.readexactly(7)
                _, _, size = struct.unpack(">BHI", head)
                rest = await self.reader.readexactly(size + 1)
            except asyncio.IncompleteReadError as error:
                raise ConnectionError("closed") from error
            _, _, received = frame.unmarshal(head + rest)
            if not isinstance(received, (Heartbeat, header.ProtocolHeader)):
                return received

    async def expect(self, kind: type[Frame]) -> None:
        """Receive what must come next.

        Raises:
            ConnectionError: something else came; the broker does not let this client in.
        """
        received = await self.receive()
        if not isinstance(received, kind):
            raise ConnectionError(f"got {type(received).__name__}")

    async def refusal(self) -> int:
        """Wait until the broker closes channel or connection; returns the reply code, 0 for none.

        Raises:
            TimeoutError: it did not.
        """
        async with asyncio.timeout(DEADLINE):
            while True:
                try:
                    received = await self.receive()
                except ConnectionError:
                    return 0
                if isinstance(received, (commands.Channel.Close, commands.Connection.Close)):
                    return received.reply_code or 0


@asynccontextmanager
async def raw_client(credentials: Credentials) -> AsyncIterator[RawClient]:
    """Connect as a terminal and open channel 1."""
    url = URL(credentials.broker_url)
    assert url.host is not None
    reader, writer = await asyncio.open_connection(url.host, url.port)
    client = RawClient(reader, writer)
    try:
        async with asyncio.timeout(DEADLINE):
            writer.write(header.ProtocolHeader().marshal())
            await client.expect(commands.Connection.Start)
            answer = f"\0{credentials.terminal_id}\0{credentials.secret}"
            await client.send(
                0, commands.Connection.StartOk(mechanism="PLAIN", response=answer, locale="en_US")
            )
            await client.expect(commands.Connection.Tune)
            vhost = unquote(url.raw_path[1:])
            await client.send(
                0,
                commands.Connection.TuneOk(
                    channel_max=CHANNEL_MAX, frame_max=FRAME_MAX, heartbeat=0
                ),
                commands.Connection.Open(virtual_host=vhost),
            )
            await client.expect(commands.Connection.OpenOk)
            await client.send(1, commands.Channel.Open())
            await client.expect(commands.Channel.OpenOk)
        yield client
    finally:
        writer.close()


def table(content: bytes) -> bytes:
    """A field table with this content."""
    return struct.pack(">I", len(content)) + content


def entry(name: bytes, value: bytes) -> bytes:
    """A table's entry: its name, and its value with the type in front."""
    return bytes([len(name)]) + name + value


def array(content: bytes) -> bytes:
    """A field array, with its type in front."""
    return b"A" + struct.pack(">I", len(content)) + content


def nested_arrays(depth: int) -> bytes:
    """Arrays in arrays."""
    value = b"V"
    for _ in range(depth):
        value = array(value)
    return value
