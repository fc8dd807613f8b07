"""The rules of groups one by one: membership, invitations, cards, blocks, cursors, quotas."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.group_service.world import World, card_of, number_in

from contactmesh.contracts.command import Command
from contactmesh.contracts.errors import ErrorCode, Refusal
from contactmesh.contracts.group.commands import (
    Accepted,
    AcceptInvitation,
    Block,
    CardPublished,
    Created,
    CreateGroup,
    DeclineInvitation,
    DissolveGroup,
    HandOver,
    Invite,
    Invited,
    LeaveGroup,
    Lift,
    PublishCard,
    RemoveMember,
    WithdrawInvitation,
)
from contactmesh.contracts.group.events import BlockLifted
from contactmesh.contracts.group.views import MemberState, PulledMember, Role
from group_service.domain.documents import Group, Limits
from group_service.domain.pulling import page, read_cursor, write_cursor

G = "01234567-89ab-cdef-0123-456789abcdef"


class Place(World):
    """A group of lin's, with bo in it; ada is invited."""

    def __init__(self, limits: Limits | None = None) -> None:
        super().__init__(limits=limits or Limits())
        created = self.does("lin", CreateGroup(name="家人", members=("bo",)))
        assert isinstance(created, Created)
        self.group_id = created.group_id
        self.invitation_id = self.invites("lin", "ada")

    def invites(self, inviter: str, invitee: str) -> str:
        invited = self.does(inviter, Invite(group_id=self.group_id, user_id=invitee))
        assert isinstance(invited, Invited)
        return invited.invitation_id

    def accepts(self, user_id: str, invitation_id: str | None = None) -> str:
        command = AcceptInvitation(invitation_id=invitation_id or self.invitation_id)
        accepted = self.does(user_id, command)
        assert isinstance(accepted, Accepted)
        return accepted.group_id

    def publishes(self, user_id: str, number: int, base_rev: int | None = None) -> int:
        command = PublishCard(
            group_id=self.group_id, card=card_of(user_id, number), base_rev=base_rev
        )
        published = self.does(user_id, command)
        assert isinstance(published, CardPublished)
        return published.rev

    def refuses(self, user_id: str, command: Command) -> ErrorCode:
        before = len(self.under_way)
        with pytest.raises(Refusal) as caught:
            self.does(user_id, command)
        assert len(self.under_way) == before, "nobody is told of what was refused"
        return caught.value.body.code

    def head(self) -> Group:
        group = self.state.groups.get(self.group_id)
        assert group is not None
        return group

    def shown(self, viewer: str, owner: str) -> int | None:
        (member,) = [one for one in self.pulls(viewer, self.group_id) if one.user_id == owner]
        return number_in(member.card)


@pytest.fixture
def place() -> Place:
    return Place()


@pytest.mark.claim("G1a")
def test_g1a_roles_say_how_one_came_in(place: Place) -> None:
    place.accepts("ada")
    roles = {one.user_id: one.role for one in place.pulls("lin", place.group_id)}
    assert roles == {"lin": Role.CREATOR, "bo": Role.INITIAL, "ada": Role.INVITED}
    assert place.head().member_count == 3


@pytest.mark.claim("G3")
@pytest.mark.parametrize(
    ("inviter", "may"), [("lin", True), ("bo", True), ("ada", False), ("mei", False)]
)
def test_g3_first_and_second_members_invite_third_ones(
    place: Place,
    inviter: str,
    may: bool,
) -> None:
    place.accepts("ada")
    command = Invite(group_id=place.group_id, user_id="kit")
    if may:
        place.does(inviter, command)
    else:
        assert place.refuses(inviter, command) in (
            ErrorCode.PERMISSION_DENIED,
            ErrorCode.NOT_FOUND,
        )


@pytest.mark.claim("G3")
def test_g3_who_became_owner_may_invite_however_they_came_in(place: Place) -> None:
    place.accepts("ada")
    place.does("lin", HandOver(group_id=place.group_id, user_id="ada"))
    place.invites("ada", "kit")


@pytest.mark.claim("G3")
def test_g3_inviting_twice_is_one_invitation(place: Place) -> None:
    assert place.invites("lin", "ada") == place.invitation_id
    assert place.invites("bo", "ada") != place.invitation_id, "each inviter has their own"
    assert place.refuses("lin", Invite(group_id=place.group_id, user_id="bo")) is ErrorCode.CONFLICT


ENDINGS = {
    "accepted": ("ada", AcceptInvitation),
    "declined": ("ada", DeclineInvitation),
    "withdrawn by its inviter": ("lin", WithdrawInvitation),
}


@pytest.mark.claim("G3")
@pytest.mark.parametrize("first", ENDINGS)
@pytest.mark.parametrize("second", ENDINGS)
def test_g3_an_invitation_is_used_once(place: Place, first: str, second: str) -> None:
    user_id, kind = ENDINGS[first]
    place.does(user_id, kind(invitation_id=place.invitation_id))
    user_id, kind = ENDINGS[second]
    command = kind(invitation_id=place.invitation_id)
    assert place.refuses(user_id, command) is ErrorCode.NOT_FOUND


@pytest.mark.claim("G3")
@pytest.mark.parametrize("command", [AcceptInvitation, DeclineInvitation, WithdrawInvitation])
@pytest.mark.parametrize("who", ["bo", "mei"])
def test_g3_an_invitation_is_for_its_invitee_and_its_inviter(
    place: Place, who: str, command: type[AcceptInvitation]
) -> None:
    assert place.refuses(who, command(invitation_id=place.invitation_id)) is ErrorCode.NOT_FOUND


@pytest.mark.claim("G3")
@pytest.mark.parametrize(("seconds", "open_still"), [(-1, True), (0, False), (1, False)])
def test_g3_an_invitation_expires(place: Place, seconds: int, open_still: bool) -> None:
    invitation = place.state.invitations.get(place.invitation_id)
    assert invitation is not None
    assert invitation.expires_at - invitation.created_at == timedelta(days=14)
    # a command takes this world a millisecond
    place.now = invitation.expires_at + timedelta(seconds=seconds, milliseconds=-1)
    if open_still:
        place.accepts("ada")
    else:
        command = AcceptInvitation(invitation_id=place.invitation_id)
        assert place.refuses("ada", command) is ErrorCode.NOT_FOUND
        assert place.invites("lin", "ada") != place.invitation_id


OWNERS_ALONE: list[Command] = [
    RemoveMember(group_id=G, user_id="bo"),
    HandOver(group_id=G, user_id="bo"),
    DissolveGroup(group_id=G),
]


@pytest.mark.claim("G5")
@pytest.mark.parametrize("command", OWNERS_ALONE, ids=lambda command: command.action())
def test_g5_only_the_owner_removes_hands_over_and_dissolves(place: Place, command: Command) -> None:
    here = command.model_copy(update={"group_id": place.group_id})
    place.accepts("ada")
    assert place.refuses("ada", here) is ErrorCode.PERMISSION_DENIED
    assert place.refuses("mei", here) is ErrorCode.NOT_FOUND, "a stranger knows of no group"
    place.does("lin", here)


@pytest.mark.claim("G5")
def test_g5_an_owner_hands_over_before_leaving_and_the_last_one_ends_the_group(
    place: Place,
) -> None:
    leave = LeaveGroup(group_id=place.group_id)
    assert place.refuses("lin", leave) is ErrorCode.PERMISSION_DENIED
    place.does("lin", HandOver(group_id=place.group_id, user_id="bo"))
    place.does("lin", leave)
    assert not place.head().dissolved
    place.does("bo", leave)
    assert place.head().dissolved
    assert place.refuses("bo", leave) is ErrorCode.NOT_FOUND
    assert place.refuses("ada", AcceptInvitation(invitation_id=place.invitation_id)) is (
        ErrorCode.NOT_FOUND
    )


@pytest.mark.claim("G4")
def test_g4_who_left_stays_as_a_tombstone_without_a_card(place: Place) -> None:
    place.publishes("bo", 1)
    since = place.head().rev
    place.does("bo", LeaveGroup(group_id=place.group_id))
    (gone,) = place.pulls("lin", place.group_id, since)
    assert (gone.user_id, gone.state, gone.card) == ("bo", MemberState.LEFT, None)
    assert [one.user_id for one in place.pulls("lin", place.group_id)] == ["lin"]


@pytest.mark.claim("G1c")
def test_g1c_publishing_takes_the_revision_that_it_is_based_on(place: Place) -> None:
    first = place.publishes("lin", 1)
    told = len(place.under_way)
    assert place.publishes("lin", 1, base_rev=None) == first, "the same content is no change"
    assert len(place.under_way) == told
    card = card_of("lin", 2)
    for base_rev in (None, 0, first - 1, first + 1):
        command = PublishCard(group_id=place.group_id, card=card, base_rev=base_rev)
        assert place.refuses("lin", command) is ErrorCode.CONFLICT
    assert place.publishes("lin", 2, first) > first


@pytest.mark.claim("G1c")
def test_g1c_a_card_keeps_its_uid(place: Place) -> None:
    rev = place.publishes("lin", 1)
    other = card_of("mei", 2)
    command = PublishCard(group_id=place.group_id, card=other, base_rev=rev)
    assert place.refuses("lin", command) is ErrorCode.INVALID_ARGUMENT


@pytest.mark.claim("G1b")
def test_g1b_publishing_tells_nothing_of_whether_another_has_published(place: Place) -> None:
    place.does("lin", Block(user_id="bo", group_id=place.group_id))
    place.publishes("lin", 1)
    same_uid = PublishCard(group_id=place.group_id, card=card_of("lin", 3))
    assert isinstance(place.does("bo", same_uid), CardPublished)


@pytest.mark.claim("G1c")
def test_g1c_a_card_over_its_limit_is_too_large() -> None:
    place = Place(Limits(card_bytes=200))
    card = card_of("lin", 1).model_copy(update={"prod_id": "x" * 200})
    command = PublishCard(group_id=place.group_id, card=card)
    assert place.refuses("lin", command) is ErrorCode.TOO_LARGE
    place.publishes("lin", 1)


@pytest.mark.claim("G1b")
@pytest.mark.parametrize("everywhere", [False, True])
def test_g1b_the_blocked_one_keeps_the_card_of_before_and_gets_the_present_one_after(
    place: Place,
    everywhere: bool,
) -> None:
    group_id = None if everywhere else place.group_id
    rev = place.publishes("lin", 1)
    place.does("lin", Block(user_id="bo", group_id=group_id))
    for number in (2, 3):
        rev = place.publishes("lin", number, rev)
    assert place.shown("bo", "lin") == 1
    place.does("lin", Lift(user_id="bo", group_id=group_id))
    assert place.shown("bo", "lin") == 3
    assert not list(place.state.frozen), "the kept card is gone with the block"


@pytest.mark.claim("G1b")
def test_g1b_a_first_card_that_is_published_behind_a_block_is_not_there(place: Place) -> None:
    place.does("lin", Block(user_id="bo", group_id=place.group_id))
    place.publishes("lin", 1)
    assert place.shown("bo", "lin") is None
    place.does("lin", Lift(user_id="bo", group_id=place.group_id))
    assert place.shown("bo", "lin") == 1


@pytest.mark.claim("G1b")
def test_g1b_blocking_twice_or_lifting_what_is_not_set_changes_nothing(place: Place) -> None:
    place.does("lin", Block(user_id="bo", group_id=place.group_id))
    before, told = place.head(), len(place.under_way)
    place.does("lin", Block(user_id="bo", group_id=place.group_id))
    place.does("bo", Lift(user_id="lin", group_id=place.group_id))
    assert (place.head(), len(place.under_way)) == (before, told)


@pytest.mark.claim("G1b")
@pytest.mark.parametrize("everywhere", [False, True])
def test_g1b_nobody_blocks_themselves(place: Place, everywhere: bool) -> None:
    command = Block(user_id="lin", group_id=None if everywhere else place.group_id)
    assert place.refuses("lin", command) is ErrorCode.INVALID_ARGUMENT


@pytest.mark.claim("G1b")
def test_g1b_a_block_does_not_move_the_revision_that_the_blocked_one_sees(place: Place) -> None:
    rev = place.publishes("lin", 1)
    place.does("lin", Block(user_id="bo", group_id=place.group_id))
    place.publishes("lin", 2, rev)
    seen = {one.user_id: one.rev for one in place.pulls("bo", place.group_id)}
    assert seen["lin"] == rev
    assert place.pulls("bo", place.group_id, rev) == []


@pytest.mark.claim("G2")
def test_g2_as_many_groups_as_allowed_and_no_more() -> None:
    place = Place(Limits(owned_groups=2))
    place.does("lin", CreateGroup(name="two"))
    command = CreateGroup(name="three")
    assert place.refuses("lin", command) is ErrorCode.QUOTA_EXCEEDED
    place.does("bo", command)


@pytest.mark.claim("G3")
def test_g3_as_many_open_invitations_as_allowed_and_no_more() -> None:
    place = Place(Limits(open_invitations=2))
    place.invites("lin", "mei")
    command = Invite(group_id=place.group_id, user_id="kit")
    assert place.refuses("lin", command) is ErrorCode.QUOTA_EXCEEDED
    place.invites("bo", "kit")


@pytest.mark.claim("G2")
def test_g2_what_is_given_up_makes_room_at_once() -> None:
    """Commands of one batch see what the ones before them have changed."""
    place = Place(Limits(owned_groups=1, open_invitations=1))
    one_more = Invite(group_id=place.group_id, user_id="kit")
    assert place.refuses("lin", one_more) is ErrorCode.QUOTA_EXCEEDED
    place.does("lin", WithdrawInvitation(invitation_id=place.invitation_id))
    place.does("lin", one_more)
    place.does("lin", HandOver(group_id=place.group_id, user_id="bo"))
    place.does("lin", CreateGroup(name="two"))
    assert place.refuses("lin", CreateGroup(name="three")) is ErrorCode.QUOTA_EXCEEDED


@pytest.mark.claim("G2")
def test_g2_a_group_that_was_dissolved_or_taken_over_counts() -> None:
    place = Place(Limits(owned_groups=1))
    place.does("lin", DissolveGroup(group_id=place.group_id))
    place.does("lin", CreateGroup(name="two"))
    other = Place(Limits(owned_groups=2))
    other.does("bo", CreateGroup(name="bo's"))
    other.does("lin", HandOver(group_id=other.group_id, user_id="bo"))
    assert other.refuses("bo", CreateGroup(name="three")) is ErrorCode.QUOTA_EXCEEDED


@pytest.mark.claim("G1a")
def test_g1a_as_many_members_as_allowed_and_no_more() -> None:
    place = Place(Limits(members=3))
    other = place.invites("lin", "mei")
    place.accepts("ada")
    command = AcceptInvitation(invitation_id=other)
    assert place.refuses("mei", command) is ErrorCode.QUOTA_EXCEEDED
    many = CreateGroup(name="many", members=("a1", "a2", "a3"))
    assert place.refuses("kit", many) is ErrorCode.INVALID_ARGUMENT
    place.does("bo", LeaveGroup(group_id=place.group_id))
    place.accepts("mei", other)


# --- cursors and pages ----------------------------------------------------------------------------

ids = st.sampled_from(["lin", "bo", "ada"])
groups = st.sampled_from([G, G.replace("0", "f")])
revs = st.integers(0, 2**63)


@pytest.mark.claim("G4")
@given(rev=revs, user_id=ids, group_id=groups)
def test_g4_a_cursor_brings_back_its_revision(rev: int, user_id: str, group_id: str) -> None:
    cursor = write_cursor(b"key", group_id, user_id, rev)
    assert read_cursor(b"key", group_id, user_id, cursor, newest=rev) == rev
    for key, group, user, newest in (
        (b"other", group_id, user_id, rev),
        (b"key", group_id[::-1], user_id, rev),
        (b"key", group_id, user_id + "x", rev),
        (b"key", group_id, user_id, rev - 1),
    ):
        with pytest.raises(Refusal) as caught:
            read_cursor(key, group, user, cursor, newest=newest)
        assert caught.value.body.code is ErrorCode.FULL_SYNC_REQUIRED


@pytest.mark.claim("G4")
@given(st.from_regex(r"[A-Za-z0-9_-]{1,200}", fullmatch=True))
def test_g4_what_is_no_cursor_asks_for_a_full_pull(text: str) -> None:
    with pytest.raises(Refusal) as caught:
        read_cursor(b"key", G, "lin", text, newest=2**64)
    assert caught.value.body.code is ErrorCode.FULL_SYNC_REQUIRED


@pytest.mark.claim("G4")
@given(
    st.lists(
        st.tuples(st.integers(1, 10_000), st.sampled_from(MemberState)),
        unique_by=lambda one: one[0],
    ),
    st.integers(1, 5),
    st.integers(0, 10_000),
)
def test_g4_pages_together_are_everything_newer_in_order(
    members: list[tuple[int, MemberState]], limit: int, since: int
) -> None:
    found = [
        PulledMember(user_id=f"u{rev}", state=state, role=Role.INITIAL, rev=rev)
        for rev, state in members
    ]
    pulled: list[int] = []
    at, more = since, True
    while more:
        shown, more = page(found, since=at, until=10**9, limit=limit)
        assert len(shown) == limit or not more
        pulled += [one.rev for one in shown]
        at = pulled[-1] if pulled else at
    everything = sorted(rev for rev, _ in members if rev > since)
    gone = {rev for rev, state in members if state is not MemberState.ACTIVE}
    assert pulled == sorted(pulled)
    assert set(everything) - gone <= set(pulled) <= set(everything)
    if since:
        assert pulled == everything


@pytest.mark.claim("G1b")
@pytest.mark.parametrize("lifted_everywhere", [False, True])
@pytest.mark.parametrize("who_leaves", ["lin", "bo"])
def test_g1b_a_block_everywhere_holds_after_an_earlier_one_was_lifted(
    lifted_everywhere: bool, who_leaves: str
) -> None:
    """An old, lifted block is no exception from a block everywhere that is set after it."""
    place = Place()
    place.accepts("ada")
    place.does("lin", HandOver(group_id=place.group_id, user_id="ada"))
    group_id = None if lifted_everywhere else place.group_id
    place.does("lin", Block(user_id="bo", group_id=group_id))
    place.does("lin", Lift(user_id="bo", group_id=group_id))
    place.does(who_leaves, LeaveGroup(group_id=place.group_id))
    place.does("lin", Block(user_id="bo"))
    invited = place.does("ada", Invite(group_id=place.group_id, user_id=who_leaves))
    assert isinstance(invited, Invited)
    place.does(who_leaves, AcceptInvitation(invitation_id=invited.invitation_id))
    place.publishes("lin", 2)
    assert all(member.card is None for member in place.pulls("bo", place.group_id))


@pytest.mark.claim("G1b")
def test_g1b_a_lift_in_one_group_is_an_exception_until_one_blocks_everywhere_again(
    place: Place,
) -> None:
    place.does("lin", Block(user_id="bo"))
    place.does("lin", Lift(user_id="bo", group_id=place.group_id))
    rev = place.publishes("lin", 1)
    assert place.shown("bo", "lin") == 1
    place.does("lin", Block(user_id="bo"))
    place.publishes("lin", 2, rev)
    assert place.shown("bo", "lin") == 1


@pytest.mark.claim("G1b")
def test_g1b_a_change_that_was_taken_back_while_blocked_is_none(place: Place) -> None:
    rev = place.publishes("lin", 1)
    before = place.pulls("bo", place.group_id)
    place.does("lin", Block(user_id="bo", group_id=place.group_id))
    rev = place.publishes("lin", 2, rev)
    rev = place.publishes("lin", 1, rev)
    place.does("lin", Lift(user_id="bo", group_id=place.group_id))
    assert place.pulls("bo", place.group_id) == before
    place.publishes("lin", 3, rev)
    (changed,) = place.pulls("bo", place.group_id, since=max(one.rev for one in before))
    assert number_in(changed.card) == 3


@pytest.mark.claim("G4")
def test_g4_what_changed_after_the_pull_began_is_left_to_the_next_one() -> None:
    """Members are read one after the other: a later change may be seen without an earlier one."""
    found = [
        PulledMember(user_id="an", state=MemberState.ACTIVE, role=Role.INITIAL, rev=90),
        PulledMember(user_id="bo", state=MemberState.ACTIVE, role=Role.INITIAL, rev=101),
    ]
    shown, more = page(found, since=0, until=99, limit=10)
    assert [one.user_id for one in shown] == ["an"]
    assert not more


END_OF_SHARING = {
    "the setter left": lambda place: place.does("bo", LeaveGroup(group_id=place.group_id)),
    "the setter was removed": lambda place: place.does(
        "lin", RemoveMember(group_id=place.group_id, user_id="bo")
    ),
    "the blocked one dissolved it": lambda place: place.does(
        "lin", DissolveGroup(group_id=place.group_id)
    ),
}


@pytest.mark.claim("G1b")
@pytest.mark.parametrize("how", END_OF_SHARING)
@pytest.mark.parametrize("everywhere", [False, True])
def test_g1b_whoever_set_a_block_lifts_it_in_the_group_or_out_of_it(
    place: Place, how: str, everywhere: bool
) -> None:
    place.publishes("bo", 1)
    place.does("bo", Block(user_id="lin", group_id=place.group_id))
    END_OF_SHARING[how](place)
    block = place.state.blocks.get((place.group_id, "bo", "lin"))
    assert block is not None
    assert block.active, "nobody lifts a block on themselves by ending what they share"
    lift = Lift(user_id="lin", group_id=None if everywhere else place.group_id)
    version = place.head().audience_version
    place.does("bo", lift)
    (lifted,) = [one for one in place.under_way if isinstance(one, BlockLifted)]
    assert (lifted.setter_id, lifted.blocked_id) == ("bo", "lin")
    assert lifted.audience_version == version + 1
    assert not lifted.refresh, "there is no card to be pulled"
    block = place.state.blocks.get((place.group_id, "bo", "lin"))
    assert block is None or not block.active
    place.does("bo", Lift(user_id="lin"))
    assert place.head().audience_version == version + 1, "there is no block any more"


@pytest.mark.claim("G1b")
def test_g1b_only_the_block_that_one_has_set_oneself_opens_a_group_to_its_setter(
    place: Place,
) -> None:
    place.does("bo", Block(user_id="lin", group_id=place.group_id))
    for stranger in ("mei", "ada"):
        lift = Lift(user_id="lin", group_id=place.group_id)
        assert place.refuses(stranger, lift) is ErrorCode.NOT_FOUND
    place.does("bo", LeaveGroup(group_id=place.group_id))
    other = Lift(user_id="mei", group_id=place.group_id)
    assert place.refuses("bo", other) is ErrorCode.NOT_FOUND


@pytest.mark.claim("G1b")
def test_g1b_who_comes_back_after_lifting_outside_is_seen_again(place: Place) -> None:
    place.publishes("bo", 1)
    place.does("bo", Block(user_id="lin", group_id=place.group_id))
    place.does("bo", LeaveGroup(group_id=place.group_id))
    place.does("bo", Lift(user_id="lin", group_id=place.group_id))
    place.accepts("bo", place.invites("lin", "bo"))
    assert place.shown("lin", "bo") is None
    place.publishes("bo", 2)
    assert place.shown("lin", "bo") == 2
