"""The owner's card in their address book is published to their groups, and nothing else of it."""

import itertools
from datetime import UTC, datetime, timedelta

import pytest
from tests.unit.group_service.world import World, card_of, number_in

from contactmesh.contacts import Card, CardTooLarge
from contactmesh.contracts.contact import ContactChanged, Operation, Origin, Scope
from contactmesh.contracts.group.commands import (
    Block,
    Created,
    CreateGroup,
    LeaveGroup,
    PublishCard,
)
from contactmesh.deciding.decision import Told
from group_service.domain.cards import follow_book
from group_service.domain.documents import Limits, Member

UID, OTHER = "urn:example:in-the-book", "urn:example:at-work"
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def entry(
    rev: int,
    number: int,
    op: Operation = Operation.MODIFIED,
    uid: str = UID,
    book: str = "main",
    **more: object,
) -> ContactChanged:
    card = {**card_of("ada", number).to_json(), "uid": uid, **more}
    return ContactChanged(
        scope=Scope.BOOK,
        owner_id="ada",
        uid=uid,
        rev=rev,
        op=op,
        card=card if op is Operation.MODIFIED else None,
        origin=Origin(service="sync_service", terminal_id="ada_bbbbbbbb"),
        book=book,
        own_card=True,
    )


class Groups:
    """Groups that Ada made, each with Bo in it."""

    def __init__(self, *names: str) -> None:
        self.world = World()
        self.ids = []
        for name in names:
            created = self.world.does("ada", CreateGroup(name=name, members=("bo",)))
            assert isinstance(created, Created)
            self.ids.append(created.group_id)

    def member(self, group_id: str) -> Member:
        member = self.world.state.members.get((group_id, "ada"))
        assert member is not None
        return member

    def shown(self, group_id: str) -> int | None:
        return number_in(self.member(group_id).card)

    def publish(self, group_id: str, card: Card) -> None:
        base_rev = self.member(group_id).card_rev
        self.world.does("ada", PublishCard(group_id=group_id, card=card, base_rev=base_rev))

    def take(
        self, *events: ContactChanged, limits: Limits | None = None, told_at: int = 0
    ) -> list[ContactChanged]:
        told: list[Told] = []
        for event in events:
            world = self.world
            at = BEGIN + timedelta(seconds=told_at or event.rev)
            told += follow_book(world.state, event, at, limits or world.limits, world.now)
        messages = [one.message for one in told]
        return [message for message in messages if isinstance(message, ContactChanged)]


def test_every_group_is_shown_the_card_once() -> None:
    groups = Groups("family", "work")
    told = groups.take(entry(5, 1), entry(5, 1))
    assert [one.group_id for one in told] == groups.ids
    assert {one.scope for one in told} == {Scope.CARD}
    assert {one.origin for one in told} == {
        Origin(service="group_service", terminal_id="ada_bbbbbbbb")
    }
    assert [groups.shown(group_id) for group_id in groups.ids] == [1, 1]


def test_a_card_that_says_the_same_is_told_to_nobody() -> None:
    groups = Groups("family", "work")
    groups.publish(groups.ids[0], card_of("ada", 1))
    assert [one.group_id for one in groups.take(entry(5, 1))] == groups.ids[1:]
    assert groups.take(entry(6, 1)) == []


def test_a_group_keeps_the_uid_that_it_knows() -> None:
    groups = Groups("family", "work")
    groups.publish(groups.ids[0], card_of("ada", 1))
    told = groups.take(entry(5, 2))
    assert [(one.uid, (one.card or {})["uid"]) for one in told] == [
        ("urn:example:ada", "urn:example:ada"),
        (UID, UID),
    ]
    groups.publish(groups.ids[0], card_of("ada", 3))
    assert groups.shown(groups.ids[0]) == 3


def test_what_is_private_stays_in_the_book() -> None:
    groups = Groups("family")
    groups.take(entry(5, 1, notes={"n": {"note": "pin 1234"}}, keywords={"me": True}))
    card = groups.member(groups.ids[0]).card
    assert card is not None
    assert not {"notes", "keywords"} & card.keys()
    assert groups.take(entry(6, 1, notes={"n": {"note": "pin 4321"}})) == [], (
        "nothing shown changed"
    )


@pytest.mark.parametrize("order", list(itertools.permutations((1, 2, 3))))
def test_whatever_the_order_of_arrival_the_newest_stands(order: tuple[int, ...]) -> None:
    groups = Groups("family")
    groups.take(*(entry(number, number) for number in order))
    groups.take(*(entry(number, number) for number in order))
    assert groups.shown(groups.ids[0]) == 3


def test_the_entry_that_was_chosen_last_is_shown_however_old_it_is() -> None:
    groups = Groups("family")
    chosen = [
        (entry(10, 1), 10),
        (entry(5, 2, uid=OTHER), 11),
        (entry(10, 1), 12),
        (entry(4, 3, book="work"), 13),
    ]
    shown = []
    for event, told_at in chosen:
        groups.take(event, told_at=told_at)
        for again, earlier in chosen:
            if earlier <= told_at:
                groups.take(again, told_at=earlier)
        shown.append(groups.shown(groups.ids[0]))
    assert shown == [1, 2, 1, 3]


def test_a_deletion_takes_the_card_from_nobody_and_is_not_overtaken() -> None:
    groups = Groups("family")
    groups.take(entry(5, 1))
    assert groups.take(entry(7, 0, Operation.DELETED), entry(6, 2)) == []
    assert groups.shown(groups.ids[0]) == 1


def test_a_card_too_large_leaves_the_groups_as_they_are() -> None:
    groups = Groups("family")
    groups.take(entry(5, 1))
    with pytest.raises(CardTooLarge):
        groups.take(entry(6, 2, title="x" * 2_000), limits=Limits(card_bytes=1_024))
    assert groups.shown(groups.ids[0]) == 1


def test_a_group_that_its_owner_has_left_is_shown_nothing() -> None:
    groups = Groups("family")
    created = groups.world.does("bo", CreateGroup(name="bo's", members=("ada",)))
    assert isinstance(created, Created)
    groups.world.does("ada", LeaveGroup(group_id=created.group_id))
    assert [one.group_id for one in groups.take(entry(5, 1))] == groups.ids


@pytest.mark.claim("G1b")
def test_who_is_kept_from_knowing_sees_the_card_from_before() -> None:
    groups = Groups("family")
    groups.take(entry(5, 1))
    groups.world.does("ada", Block(user_id="bo", group_id=groups.ids[0]))
    groups.take(entry(6, 2))
    (seen,) = (one for one in groups.world.pulls("bo", groups.ids[0]) if one.user_id == "ada")
    assert number_in(seen.card) == 1
