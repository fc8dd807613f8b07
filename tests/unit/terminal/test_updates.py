"""Streams of updates: several readers, slow readers, the end."""

import asyncio
import gc

import pytest

from contactmesh.terminal import AuthenticationRefused, ContactAdded, UpdateStream
from contactmesh.terminal.updates import UpdateStreams


def added(number: int) -> ContactAdded:
    return ContactAdded(f"contact-{number}", "Bob")


async def taken(stream: UpdateStream) -> list[str]:
    return [update.contact_id async for update in stream if isinstance(update, ContactAdded)]


async def test_every_stream_gets_what_comes_after_it_was_opened() -> None:
    streams = UpdateStreams()
    early = streams.open(10)
    streams.emit([added(1)])
    late = streams.open(10)
    streams.emit([added(2)])
    streams.end()
    assert await taken(early) == ["contact-1", "contact-2"]
    assert await taken(late) == ["contact-2"]


async def test_a_reader_waits_for_the_next_update() -> None:
    streams = UpdateStreams()
    stream = streams.open(10)
    reading = asyncio.create_task(anext(stream))
    await asyncio.sleep(0)
    assert not reading.done()
    streams.emit([added(1)])
    assert await reading == added(1)


async def test_a_slow_reader_loses_the_oldest_and_learns_how_many() -> None:
    streams = UpdateStreams()
    slow, quick = streams.open(2), streams.open(10)
    streams.emit(added(number) for number in range(5))
    streams.end()
    assert (slow.dropped, quick.dropped) == (3, 0)
    assert await taken(slow) == ["contact-3", "contact-4"]
    assert len(await taken(quick)) == 5


async def test_a_failure_is_raised_after_what_was_left() -> None:
    streams = UpdateStreams()
    stream = streams.open(10)
    streams.emit([added(1)])
    streams.end(AuthenticationRefused("Enrol again."))
    assert await anext(stream) == added(1)
    with pytest.raises(AuthenticationRefused):
        await anext(stream)
    with pytest.raises(AuthenticationRefused):
        await anext(streams.open(10))


async def test_a_forgotten_stream_goes_by_itself() -> None:
    streams = UpdateStreams()
    stream = streams.open(10)
    assert len(streams._streams) == 1
    del stream
    gc.collect()
    assert len(streams._streams) == 0
