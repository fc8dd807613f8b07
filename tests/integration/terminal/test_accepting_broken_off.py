"""Accepting that is broken off: what is in the phonebook by then waits no more."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from tests.integration.terminal.people import People
from tests.integration.terminal.test_sim_spaces import keep, names, people_named, sim_of, waiting

from contactmesh.terminal import AcceptingCancelled

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.claim("M6")]


@pytest.mark.parametrize("during", ["writing it here", "telling the service"])
async def test_the_page_that_is_being_accepted_counts_in_both_places(
    people: People, monkeypatch: pytest.MonkeyPatch, during: str
) -> None:
    phone = await people.terminal("lin")
    tablet = await people.another_terminal(phone.user_id, "tablet")
    mobile, other = await sim_of(phone), await sim_of(tablet)
    called = [f"c{number:03d}" for number in range(250)]
    await keep(phone, *people_named(*called))
    await phone.store(mobile)
    await waiting(tablet, other, [name.title() for name in called])
    accepting = asyncio.ensure_future(tablet.accept_contacts(other))

    def cancelling(step: Callable[..., Awaitable[object]]) -> Callable[..., Awaitable[object]]:
        async def cancelled(*arguments: object, **options: object) -> object:
            accepting.cancel()
            return await step(*arguments, **options)

        return cancelled

    where = {"writing it here": (tablet.phonebook, "accept")}
    target, step = where.get(during, (tablet._spaces.accepting, "_decide"))
    monkeypatch.setattr(target, step, cancelling(getattr(target, step)))
    with pytest.raises(AcceptingCancelled) as broken_off:
        await accepting
    monkeypatch.undo()
    here = len(await names(tablet))
    assert 0 < here < len(called)
    assert broken_off.value.accepted.added == here
    assert len((await tablet.pending(other)).contacts) == len(called) - here
    assert (await tablet.accept_contacts(other)).added == len(called) - here
