"""Offline edits of two or three terminals end the same in whatever order they arrive (Y4)."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import permutations
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.sync_service.books import LAPTOP, PHONE, TABLET, Json, Server
from tests.unit.sync_service.terminals import Terminal

from contactmesh.contracts.sync.commands import SetPolicy
from contactmesh.contracts.sync.records import Policy

PATHS: Final = ("name", "language", "phones/m/number", "phones/m/label", "phones/m", "notes/n")
VALUES: Final = ("x", "y", "z")


@dataclass(frozen=True)
class Edit:
    """An edit of some fields, or the contact's deletion; a field without a value is removed."""

    after: int
    fields: tuple[tuple[str, str | None], ...] = ()
    deletes: bool = False


fields = st.lists(
    st.tuples(st.sampled_from(PATHS), st.sampled_from((*VALUES, None))),
    min_size=1,
    max_size=3,
    unique_by=lambda field: field[0],
)
edits = st.builds(
    Edit,
    st.integers(0, 3),
    fields.map(tuple),
    st.sampled_from((False, False, False, True)),
)


def _with(card: Json, fields: Iterable[tuple[str, str | None]]) -> Json:
    card = json.loads(json.dumps(card))
    for path, value in fields:
        match path.split("/"):
            case ["name"]:
                card["name"] = {"full": value or "nobody"}
            case ["language"]:
                card.pop("language", None)
                card.update({} if value is None else {"language": value})
            case ["notes", key]:
                card["notes"].pop(key, None)
                card["notes"].update({} if value is None else {key: {"note": value}})
            case ["phones", key]:
                card["phones"].pop(key, None)
                card["phones"].update({} if value is None else {key: {"number": value}})
            case ["phones", key, member] if key in card["phones"]:
                card["phones"][key][member] = value or "0"
    return {name: value for name, value in card.items() if value != {}}


def _end(edits: Sequence[Edit], order: Sequence[int], policy: Policy) -> Json | None:
    """What the contact is after the edits, each made offline from the same, arrived in an order."""
    server = Server()
    server.does(SetPolicy(policy=policy))
    first = Terminal(server, PHONE)
    first.makes(
        "an",
        phones={"m": {"number": "1", "label": "desk"}, "w": {"number": "2"}},
        notes={"n": {"note": "note"}, "k": {"note": "kept"}},
        language="en",
    )
    first.makes("bo")
    first.syncs()
    terminals = [first, *(Terminal(server, one).begins() for one in (TABLET, LAPTOP))]
    begun = server.now
    for terminal, edit in zip(terminals, edits, strict=False):
        server.now = begun + timedelta(seconds=edit.after)
        card = terminal.holds()["an"]
        if edit.deletes:
            terminal.deletes("an")
        else:
            changed = _with(card, edit.fields)
            terminal.edits("an", **{name: changed.get(name) for name in {**card, **changed}})
    server.now = begun + timedelta(minutes=1)
    for at in order:
        server.passes()
        terminals[at].syncs()
    for terminal in terminals:
        terminal.syncs()
    ends = [terminal.holds().get("an") for terminal in terminals]
    assert ends.count(server.holds().get("an")) == len(terminals)
    return _without_keys(server.holds().get("an"))


def _without_keys(card: Json | None) -> Json | None:
    """The contact less what tells which of two new entries came first: the key that it got."""
    if card is None:
        return None
    plain = dict(card)
    for name in ("phones", "notes"):
        plain[name] = sorted(json.dumps(one, sort_keys=True) for one in card.get(name, {}).values())
    return plain


def _made(after: Sequence[int], order: Sequence[int], policy: Policy) -> Json:
    """What a contact is that each of three terminals in step has made, some seconds from then."""
    server = Server()
    server.does(SetPolicy(policy=policy))
    terminals = [Terminal(server, one).begins() for one in (PHONE, TABLET, LAPTOP)]
    for terminal in terminals:
        terminal.syncs()
    begun = server.now
    for terminal, seconds in zip(terminals, after, strict=True):
        server.now = begun + timedelta(seconds=seconds)
        terminal.makes("an", terminal.terminal_id)
    server.now = begun + timedelta(minutes=1)
    for at in order:
        server.passes()
        terminals[at].syncs()
    return server.holds()["an"]


@pytest.mark.claim("Y4")
@pytest.mark.parametrize("policy", Policy)
@pytest.mark.parametrize("after", list(permutations(range(3))))
def test_what_all_have_made_ends_as_the_last_one_made_it_in_any_order(
    policy: Policy, after: tuple[int, ...]
) -> None:
    last = (PHONE, TABLET, LAPTOP)[after.index(2)]
    for order in permutations(range(3)):
        assert _made(after, order, policy)["name"] == {"full": last}


@pytest.mark.claim("Y4")
@pytest.mark.claim("Y5")
@pytest.mark.parametrize("policy", Policy)
@given(st.lists(edits, min_size=2, max_size=3))
@settings(max_examples=60, deadline=None)
def test_any_order_ends_the_same(policy: Policy, edits: list[Edit]) -> None:
    ends = [_end(edits, order, policy) for order in permutations(range(len(edits)))]
    assert all(end == ends[0] for end in ends)
