"""Commands of one batch see each other's changes, as if each were a unit of work of its own."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.sync_service.books import LAPTOP, PHONE, TABLET, Server
from tests.unit.sync_service.terminals import Terminal

from contactmesh.contracts.sync.commands import Exchanged, SetPolicy
from contactmesh.contracts.sync.records import Policy
from sync_service.domain.documents import Limits

TERMINALS = (PHONE, TABLET, LAPTOP)
UIDS = ("an", "bo", "chen")

steps = st.lists(
    st.tuples(
        st.sampled_from(range(3)),
        st.sampled_from(UIDS),
        st.sampled_from(("name", "kind", "delete", "same")),
    ),
    min_size=1,
    max_size=8,
)


def _terminals(server: Server, steps: Sequence[tuple[int, str, str]]) -> list[Terminal]:
    """Three terminals that have edited offline."""
    first = Terminal(server, PHONE)
    for uid in UIDS:
        first.makes(uid)
    first.syncs()
    server.passes()
    terminals = [first, *(Terminal(server, one).begins() for one in TERMINALS[1:])]
    for at, uid, what in steps:
        terminal = terminals[at]
        server.passes()
        if what == "delete":
            terminal.deletes(uid)
        elif terminal.contacts[uid].card is None:
            terminal.makes(uid)
        else:
            value = "the same" if what == "same" else f"{uid} {terminal.terminal_id}"
            terminal.edits(
                uid, **({"name": {"full": value}} if what == "name" else {"kind": value})
            )
    return terminals


@pytest.mark.claim("Y3")
@pytest.mark.claim("Y4")
@pytest.mark.parametrize("policy", Policy)
@given(steps, st.permutations(range(3)))
@settings(max_examples=50, deadline=None)
def test_a_batch_comes_to_the_same_as_one_command_after_the_other(
    policy: Policy, steps: list[tuple[int, str, str]], order: list[int]
) -> None:
    ends = []
    for together in (True, False):
        server = Server()
        server.does(SetPolicy(policy=policy))
        terminals = _terminals(server, steps)
        commands = [(terminals[at].command(), terminals[at].terminal_id) for at in (*order, *order)]
        if together:
            replies = server.batch(commands)
        else:
            replies = [server.does(*command) for command in commands]
        ends.append((replies, server.stored, server.told))
    assert ends[0] == ends[1]


@pytest.mark.claim("Y3")
@given(steps, st.permutations(range(3)), st.integers(1, 2))
@settings(max_examples=50, deadline=None)
def test_what_a_batch_has_changed_is_on_the_pages_that_follow(
    steps: list[tuple[int, str, str]], order: list[int], page: int
) -> None:
    server = Server(Limits(page=page))
    terminals = _terminals(server, steps)
    commands = [(terminals[at].command(), terminals[at].terminal_id) for at in order]
    for at, reply in zip(order, server.batch(commands), strict=True):
        assert isinstance(reply, Exchanged)
        terminals[at].takes(reply)
    for terminal in terminals:
        terminal.syncs()
    assert all(terminal.holds() == server.holds() for terminal in terminals)
    for terminal in terminals:
        assert len(set(terminal.received)) == len(terminal.received)


@pytest.mark.claim("Y3")
def test_what_changes_while_a_page_is_made_is_given_once_as_it_is_then() -> None:
    server = Server(Limits(page=1))
    phone, tablet = Terminal(server, PHONE), Terminal(server, TABLET, token=Server().lists())
    for uid in UIDS:
        phone.makes(uid)
    phone.syncs()
    server.passes()
    phone.edits("an", kind="individual")
    commands = [(phone.command(), PHONE), (tablet.command(), TABLET)]
    for terminal, reply in zip((phone, tablet), server.batch(commands), strict=True):
        assert isinstance(reply, Exchanged)
        terminal.takes(reply)
    tablet.syncs()
    assert [uid for uid, _ in tablet.received] == ["bo", "chen", "an"]
    assert tablet.holds() == server.holds()
