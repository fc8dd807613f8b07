"""What a terminal writes into a message's properties reaches the services, and stops none."""

import random
import struct
from collections.abc import Sequence

import pytest
from tests.wire import System

from contactmesh.contracts.group.commands import ListGroups
from contactmesh.messaging.topology import COMMANDS

from .raw_amqp import (
    HEADERS_FLAG,
    array,
    entry,
    nested_arrays,
    raw_client,
    table,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")

HEADERS = {
    "a name that is no UTF-8": table(entry(b"\xff\xfe", b"t\x01")),
    "an empty name": table(entry(b"", b"V")),
    "a text that is no UTF-8": table(entry(b"a", b"S" + struct.pack(">I", 2) + b"\xff\xfe")),
    "a time without end": table(entry(b"a", b"T\x7f" + b"\xff" * 7)),
    "a decimal with 255 places": table(entry(b"a", b"D\xff\xff\xff\xff\xff")),
    "no number": table(entry(b"a", b"d\x7f\xf8\0\0\0\0\0\0")),
    "nesting as deep as a frame": table(entry(b"a", nested_arrays(24_000))),
    "as many values as a frame holds": table(entry(b"a", array(b"V" * 120_000))),
    "as many names as a frame holds": table(entry(b"a", b"V") * 40_000),
    "a length beyond the table": struct.pack(">I", 9) + entry(b"a", b"V"),
    "a name beyond the table": table(b"\x09a"),
    "a text beyond the table": table(entry(b"a", b"S" + struct.pack(">I", 99) + b"b")),
    "an array beyond the table": table(entry(b"a", b"A" + struct.pack(">I", 99) + b"V")),
}


async def _bombard(system: System, messages: Sequence[tuple[int, bytes]]) -> None:
    """Send messages with these flags and properties; a good terminal is answered all the while."""
    good, bad = await system.terminals("good", "bad")
    key = ListGroups.routing_key(bad.id)
    for flags, properties in messages:
        async with raw_client(bad.credentials) as client:
            for _ in range(3):
                await client.publish(COMMANDS, key, b"{}", flags=flags, properties=properties)
            await good.does(ListGroups())
    await good.does(ListGroups())


@pytest.mark.parametrize("what", HEADERS)
async def test_hostile_headers_stop_no_service(system: System, what: str) -> None:
    await _bombard(system, [(HEADERS_FLAG, HEADERS[what])])


async def test_values_of_any_type_stop_no_service(system: System) -> None:
    tables = [table(entry(b"a", bytes([kind]) + b"\0" * 16)) for kind in range(256)]
    await _bombard(system, [(HEADERS_FLAG, one) for one in tables])


async def test_properties_of_any_bytes_stop_no_service(system: System) -> None:
    drawn = random.Random(0)
    await _bombard(
        system,
        [
            (drawn.getrandbits(16), drawn.randbytes(drawn.choice((0, 3, 40, 400))))
            for _ in range(100)
        ],
    )
