"""A number that changed at the carrier changes on its owner's cards, and nothing else does."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.group_service.world import World

from contactmesh.contacts import CARRIER_PROPERTY, Card
from contactmesh.contracts.carrier.records import Line, RegistrationRef
from contactmesh.contracts.contact import ContactChanged, LineReplaced, Origin, Scope
from contactmesh.contracts.group.commands import Block, Created, CreateGroup, PublishCard
from contactmesh.deciding.decision import Told
from group_service.domain.documents import Member
from group_service.domain.lines import follow

OLD, NEW, NEWER, SECOND = "+8613800138000", "+8613900139000", "+8613700137000", "+8615912345678"


def line(seq: int, number: str, carrier_id: str = "cn-mobile") -> Line:
    ref = RegistrationRef(carrier_id=carrier_id, registration_seq=str(seq))
    return Line(ref=ref, msisdn=number)


A, B, C = line(1, OLD), line(2, NEW), line(3, NEWER)


def event(rev: int, *lines: LineReplaced, owner_id: str = "ada") -> ContactChanged:
    return ContactChanged(
        scope=Scope.LINE,
        owner_id=owner_id,
        uid=owner_id,
        rev=rev,
        origin=Origin(service="carrier_registry_service"),
        lines=lines,
    )


def replaced(rev: int, before: Line, after: Line) -> ContactChanged:
    return event(rev, LineReplaced(before=before, after=after))


def withdrawn(rev: int, before: Line) -> ContactChanged:
    return event(rev, LineReplaced(before=before))


class Family:
    """Ada's card in one group with Bo, whom numbers come to by line events alone."""

    def __init__(self, **phones: dict[str, Any] | str) -> None:
        self.world = World()
        created = self.world.does("ada", CreateGroup(name="family", members=("bo",)))
        assert isinstance(created, Created)
        self.group_id = created.group_id
        self.publish(**phones)

    def publish(self, **phones: dict[str, Any] | str) -> None:
        written = {
            key: {"number": phone} if isinstance(phone, str) else phone
            for key, phone in phones.items()
        }
        card = Card.model_validate(
            {
                "@type": "Card",
                "version": "1.0",
                "uid": "urn:example:ada",
                "name": {"full": "Ada"},
                "phones": written,
            }
        )
        base_rev = self.member.card_rev
        self.world.does("ada", PublishCard(group_id=self.group_id, card=card, base_rev=base_rev))

    @property
    def member(self) -> Member:
        member = self.world.state.members.get((self.group_id, "ada"))
        assert member is not None
        return member

    @property
    def card(self) -> dict[str, Any]:
        assert self.member.card is not None
        return self.member.card

    def hears(self, changed: ContactChanged) -> tuple[Told, ...]:
        self.world.now += timedelta(milliseconds=1)
        return follow(self.world.state, changed, self.world.now)

    @property
    def phones(self) -> dict[str, Any]:
        return dict(self.card.get("phones", {}))

    @property
    def numbers(self) -> dict[str, str]:
        return {key: phone["number"] for key, phone in self.phones.items()}


@pytest.mark.parametrize(
    ("written", "becomes"),
    [
        (OLD, NEW),
        ("138 0013 8000", NEW),
        ("0086-13800138000", NEW),
        ("tel:+86-138-0013-8000", f"tel:{NEW}"),
        (SECOND, SECOND),
        ("8000", "8000"),
    ],
)
@pytest.mark.claim("C2")
def test_c2_a_replaced_number_is_found_however_it_is_written(written: str, becomes: str) -> None:
    family = Family(mobile=written)
    family.hears(replaced(1, A, B))
    assert family.numbers == {"mobile": becomes}


def test_the_change_is_told_to_the_group_as_the_owners_own() -> None:
    family = Family(mobile={"number": OLD, "label": "private", "features": {"mobile": True}})
    before = family.member
    (told,) = family.hears(replaced(7, A, B))
    changed = told.message
    assert isinstance(changed, ContactChanged)
    assert (changed.scope, changed.owner_id, changed.group_id) == (
        Scope.CARD,
        "ada",
        family.group_id,
    )
    assert changed.rev > (before.card_rev or 0)
    assert changed.changed_fields == ("phones/mobile/number",)
    assert changed.origin == Origin(service="carrier_registry_service")
    group = family.world.state.groups.get(family.group_id)
    assert group is not None
    assert changed.audience_version == group.audience_version
    assert family.phones["mobile"] == {
        "number": NEW,
        "label": "private",
        "features": {"mobile": True},
    }


def test_every_group_of_the_owners_gets_it_and_no_group_of_others() -> None:
    family = Family(mobile=OLD)
    other = family.world.does("ada", CreateGroup(name="club", members=("mei",)))
    assert isinstance(other, Created)
    card = Card.model_validate(family.member.card)
    family.world.does("ada", PublishCard(group_id=other.group_id, card=card))
    bos = card.model_copy(update={"uid": "urn:example:bo"})
    family.world.does("bo", PublishCard(group_id=family.group_id, card=bos))
    told = family.hears(replaced(1, A, B))
    assert {message.message.group_id for message in told} == {  # type: ignore[attr-defined]
        family.group_id,
        other.group_id,
    }
    of_bo = family.world.state.members.get((family.group_id, "bo"))
    assert of_bo is not None
    assert of_bo.card is not None
    assert of_bo.card["phones"]["mobile"]["number"] == OLD


def test_a_blocked_member_is_shown_the_number_of_the_moment_of_blocking() -> None:
    family = Family(mobile=OLD)
    family.world.does("ada", Block(user_id="bo", group_id=family.group_id))
    family.hears(replaced(1, A, B))
    (seen,) = (one for one in family.world.pulls("bo", family.group_id) if one.user_id == "ada")
    assert seen.card is not None
    assert seen.card["phones"]["mobile"]["number"] == OLD


def test_a_withdrawn_number_is_taken_off_the_card() -> None:
    family = Family(mobile=OLD, work=SECOND)
    family.hears(withdrawn(1, A))
    assert family.numbers == {"work": SECOND}
    family.hears(withdrawn(2, line(9, SECOND)))
    assert "phones" not in family.card


def test_an_added_number_is_put_on_no_card() -> None:
    family = Family(mobile=OLD)
    assert family.hears(event(1, LineReplaced(after=B))) == ()
    assert family.numbers == {"mobile": OLD}


@given(st.permutations([withdrawn(1, A), replaced(2, A, A)]))
def test_a_number_that_stands_again_comes_back(order: list[ContactChanged]) -> None:
    family = Family(mobile="138 0013 8000")
    for changed in order:
        family.hears(changed)
    assert family.numbers == {"mobile": "138 0013 8000"}


@given(
    st.permutations(
        [
            replaced(1, A, B),
            event(2, LineReplaced(before=B, after=A), LineReplaced(before=A, after=A)),
        ]
    )
)
def test_a_replacement_that_is_taken_back_is_undone(order: list[ContactChanged]) -> None:
    family = Family(mobile=OLD)
    for changed in order:
        family.hears(changed)
    assert family.numbers == {"mobile": OLD}


def test_a_ported_number_is_the_same_number_and_tells_nothing() -> None:
    family = Family(mobile="138 0013 8000")
    assert family.hears(replaced(1, A, line(1, OLD, "cn-unicom"))) == ()
    assert family.numbers == {"mobile": "138 0013 8000"}


def test_a_reference_on_the_card_goes_along() -> None:
    carrier = {"carrierId": "cn-mobile", "registrationSeq": "1", "plmn": "460-00"}
    family = Family(mobile={"number": OLD, CARRIER_PROPERTY: carrier})
    family.hears(replaced(1, A, line(1, OLD, "cn-unicom")))
    moved = {"carrierId": "cn-unicom", "registrationSeq": "1"}
    assert family.phones["mobile"] == {"number": OLD, CARRIER_PROPERTY: moved}


def test_a_reference_on_the_card_decides_before_the_number_does() -> None:
    other_tenure = {"carrierId": "cn-mobile", "registrationSeq": "8"}
    family = Family(mobile={"number": OLD, CARRIER_PROPERTY: other_tenure})
    assert family.hears(replaced(1, A, B)) == ()


def test_a_repeated_event_does_nothing_even_when_the_owner_put_the_old_number_back() -> None:
    family = Family(mobile=OLD)
    family.hears(replaced(1, A, B))
    assert family.hears(replaced(1, A, B)) == ()
    family.publish(mobile=OLD)
    assert family.hears(replaced(1, A, B)) == ()
    assert family.numbers == {"mobile": OLD}


def test_a_number_that_came_back_to_its_owner_stands() -> None:
    family = Family(mobile=OLD)
    family.hears(replaced(1, A, B))
    family.hears(replaced(2, B, line(4, OLD)))
    assert family.numbers == {"mobile": OLD}
    family.hears(replaced(3, A, B))
    assert family.numbers == {"mobile": OLD}


def test_a_number_that_the_card_has_already_is_not_there_twice() -> None:
    family = Family(mobile=OLD, work=f"tel:{NEW}")
    family.hears(replaced(1, A, B))
    assert family.numbers == {"work": f"tel:{NEW}"}


def test_a_withdrawal_that_turns_out_to_be_a_replacement_is_made_good() -> None:
    family = Family(mobile={"number": OLD, "label": "private"}, work=SECOND)
    family.hears(withdrawn(1, A))
    family.hears(replaced(2, A, B))
    assert family.phones["mobile"] == {"number": NEW, "label": "private"}


def test_what_the_owner_published_since_is_left_alone() -> None:
    family = Family(mobile=OLD, work=SECOND)
    family.hears(withdrawn(1, A))
    family.publish(work=SECOND, home=NEWER)
    family.hears(replaced(2, A, B))
    assert family.numbers == {"work": SECOND, "home": NEWER}


CHAIN = [
    withdrawn(1, A),
    replaced(2, A, B),
    withdrawn(3, B),
    replaced(4, B, C),
    withdrawn(5, line(20, SECOND)),
    replaced(6, line(20, SECOND), line(21, "+8618612345678", "cn-unicom")),
]
"""Every fact comes in two parts, as when a carrier names the successor later."""


@given(
    st.permutations(CHAIN),
    st.lists(st.tuples(st.sampled_from(CHAIN), st.integers(0, len(CHAIN)))),
)
@pytest.mark.claim("C2")
def test_c2_the_card_comes_out_the_same_in_any_order_and_with_any_repeats(
    order: list[ContactChanged], repeats: list[tuple[ContactChanged, int]]
) -> None:
    family = Family(mobile=OLD, work=SECOND)
    heard = list(order)
    for again, at in repeats:
        heard.insert(at, again)
    for changed in heard:
        family.hears(changed)
    assert family.numbers == {"mobile": NEWER, "work": "+8618612345678"}
