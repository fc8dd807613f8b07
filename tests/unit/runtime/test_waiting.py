"""Work that is better not cut off comes to its end when its caller is cancelled."""

import asyncio

import pytest

from contactmesh.runtime import waiting
from contactmesh.runtime.waiting import uncut


class Opening:
    """Something that is opened, in two steps."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.answered = asyncio.Event()
        self.cut_off = asyncio.Event()
        self.closed: list[str] = []

    async def open(self) -> str:
        self.begun.set()
        try:
            await self.answered.wait()
        except asyncio.CancelledError:
            self.cut_off.set()
            raise
        return "open"

    async def close(self, what: str) -> None:
        self.closed.append(what)


async def test_what_was_opened_is_given() -> None:
    opening = Opening()
    opening.answered.set()
    assert await uncut(opening.open(), opening.close) == "open"
    assert opening.closed == []


async def test_a_cancelled_caller_lets_it_come_to_its_end_and_closes_it() -> None:
    opening = Opening()
    caller = asyncio.create_task(uncut(opening.open(), opening.close))
    await opening.begun.wait()
    caller.cancel()
    opening.answered.set()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert not opening.cut_off.is_set()
    assert opening.closed == ["open"]


async def test_what_takes_too_long_is_cut_off_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(waiting, "GRACE_SECONDS", 0.0)
    opening = Opening()
    caller = asyncio.create_task(uncut(opening.open(), opening.close))
    await opening.begun.wait()
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    await opening.cut_off.wait()
    assert opening.closed == []


async def test_a_failure_is_raised_as_it_is() -> None:
    async def fail() -> str:
        raise ConnectionError

    with pytest.raises(ConnectionError):
        await uncut(fail(), Opening().close)
