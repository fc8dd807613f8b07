"""The rules of fan-out: audiences, and who is told of what."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contactmesh.audience.model import STANDING, Audience, Listener, base_of, begun, moved_on
from contactmesh.contracts.contact import (
    ContactChanged,
    ContactUpdate,
    Origin,
    PendingSpace,
    Scope,
)
from contactmesh.contracts.group.events import (
    AudienceBlock,
    AudienceEvent,
    AudienceMember,
    AudienceSnapshot,
    BlockLifted,
    BlockSet,
    GroupCreated,
    GroupDissolved,
    HandedOver,
    InvitationClosed,
    InvitationSent,
    MemberJoined,
    MemberLeft,
    SubscriptionChanged,
)
from contactmesh.contracts.group.views import MemberState, Role
from fanout_service.domain.delivery import (
    may_know,
    of_book,
    of_change,
    of_group,
    of_invitation,
    of_space,
)

G = "01234567-89ab-cdef-0123-456789abcdef"
WHEN = "2026-11-30T08:15:00Z"


def _created(version: int = 1, **more: object) -> GroupCreated:
    return GroupCreated.model_validate(
        {
            "group_id": G,
            "audience_version": version,
            "name": "家人",
            "owner_id": "lin",
            "members": ("lin", "bo"),
            **more,
        }
    )


def _joined(user_id: str, version: int, *blocks: tuple[str, str]) -> MemberJoined:
    return MemberJoined(
        group_id=G,
        audience_version=version,
        user_id=user_id,
        role=Role.INVITED,
        rev=version,
        group_name="家人",
        owner_id="lin",
        blocks=blocks,
    )


def _left(user_id: str, version: int) -> MemberLeft:
    return MemberLeft(
        group_id=G, audience_version=version, user_id=user_id, state=MemberState.LEFT, rev=version
    )


def _set(setter: str, blocked: str, version: int) -> BlockSet:
    return BlockSet(group_id=G, audience_version=version, setter_id=setter, blocked_id=blocked)


def _lifted(setter: str, blocked: str, version: int, *, refresh: bool = True) -> BlockLifted:
    return BlockLifted(
        group_id=G,
        audience_version=version,
        setter_id=setter,
        blocked_id=blocked,
        refresh=refresh,
    )


def _muted(user_id: str, version: int, *terminals: str) -> SubscriptionChanged:
    return SubscriptionChanged(
        group_id=G, audience_version=version, user_id=user_id, muted_terminals=terminals
    )


def _changed(owner: str, version: int) -> ContactChanged:
    return ContactChanged(
        scope=Scope.CARD,
        owner_id=owner,
        uid="urn:example:1",
        rev=7,
        card={"uid": "urn:example:1"},
        origin=Origin(service="group_service", terminal_id=f"{owner}_aaaaaaaa"),
        group_id=G,
        audience_version=version,
    )


def _after(*events: AudienceEvent) -> Audience:
    first, *rest = events
    assert isinstance(first, GroupCreated | AudienceSnapshot)
    audience = begun(first)
    for event in rest:
        assert base_of(event) == audience.version
        audience = moved_on(audience, event)
    return audience


def _told(audience: Audience, owner: str, version: int) -> set[str]:
    return set(of_change(audience, _changed(owner, version)).user_ids)


@pytest.mark.claim("G1")
@pytest.mark.claim("G1b")
@pytest.mark.parametrize(
    ("history", "owner", "version", "told"),
    [
        ([_created()], "lin", 1, {"lin", "bo"}),
        ([_created(), _joined("ada", 2)], "lin", 2, {"lin", "bo", "ada"}),
        # made before she came: her first pull brings it
        ([_created(), _joined("ada", 2)], "lin", 1, {"lin", "bo"}),
        ([_created(), _left("bo", 2)], "lin", 1, {"lin"}),
        # a block holds, also for what was under way when it was set
        ([_created(), _set("lin", "bo", 2)], "lin", 2, {"lin"}),
        ([_created(), _set("lin", "bo", 2)], "lin", 1, {"lin"}),
        # one way only
        ([_created(), _set("lin", "bo", 2)], "bo", 2, {"lin", "bo"}),
        # lifted: what was changed after it
        ([_created(), _set("lin", "bo", 2), _lifted("lin", "bo", 3)], "lin", 3, {"lin", "bo"}),
        # but not what was changed while it stood, however late it arrives
        ([_created(), _set("lin", "bo", 2), _lifted("lin", "bo", 3)], "lin", 2, {"lin"}),
        # set again
        (
            [_created(), _set("lin", "bo", 2), _lifted("lin", "bo", 3), _set("lin", "bo", 4)],
            "lin",
            3,
            {"lin"},
        ),
        # standing blocks come with those who come
        ([_created(blocks=(("lin", "bo"),))], "lin", 1, {"lin"}),
        ([_created(), _joined("ada", 2, ("bo", "ada"))], "bo", 2, {"lin", "bo"}),
        # a block outlives leaving and coming back
        (
            [_created(), _set("lin", "bo", 2), _left("bo", 3), _joined("bo", 4)],
            "lin",
            4,
            {"lin"},
        ),
        ([_created(), GroupDissolved(group_id=G, audience_version=2)], "lin", 2, {"lin", "bo"}),
    ],
)
def test_g1b_who_is_told_of_a_change(
    history: list[AudienceEvent], owner: str, version: int, told: set[str]
) -> None:
    assert _told(_after(*history), owner, version) == told


@pytest.mark.claim("G1b")
@given(lifted=st.none() | st.integers(0, 6), version=st.integers(1, 6), since=st.integers(1, 6))
def test_g1b_may_know_is_no_more_than_membership_and_block_allow(
    lifted: int | None, version: int, since: int
) -> None:
    blocks = {} if lifted is None else {"lin": {"bo": lifted}}
    audience = Audience(G, 6, {"bo": Listener(since)}, blocks)
    allowed = version >= since and (lifted is None or (lifted != STANDING and version >= lifted))
    assert may_know(audience, "lin", "bo", version) == allowed
    assert not may_know(audience, "lin", "mei", version), "who is no member knows nothing"


def test_a_change_reaches_terminals_without_its_origin() -> None:
    delivery = of_change(_after(_created()), _changed("lin", 1))
    assert isinstance(delivery.message, ContactUpdate)
    payload = delivery.message.payload()
    assert not {"origin", "audience_version"} & set(payload)
    assert payload["rev"] == delivery.rev == 7


def test_an_entry_of_a_book_goes_to_its_owner_alone_without_saying_where_from() -> None:
    entry = ContactChanged(
        scope=Scope.BOOK,
        owner_id="lin",
        uid="urn:example:1",
        rev=7,
        card={"uid": "urn:example:1"},
        origin=Origin(service="sync_service", terminal_id="lin_aaaaaaaa"),
        own_card=True,
        erased=True,
    )
    delivery = of_book(entry)
    assert isinstance(delivery.message, ContactUpdate)
    assert delivery.message.erased, "its terminals have to forget it too"
    assert (delivery.user_ids, delivery.terminal_ids, delivery.rev) == (("lin",), (), 7)
    assert delivery.muted_terminals == (("lin", ("lin_aaaaaaaa",)),), "who changed it has the reply"
    assert not {"origin", "own_card", "audience_version"} & set(delivery.message.payload())


@pytest.mark.claim("M5")
@pytest.mark.parametrize(("waiting", "filling"), [(3, True), (3, False), (0, False)])
def test_what_waits_for_a_sim_is_told_to_the_terminal_that_holds_it(
    waiting: int, filling: bool
) -> None:
    pending = PendingSpace(sim_id=G, terminal_id="lin_aaaaaaaa", waiting=waiting, filling=filling)
    event = ContactChanged(
        scope=Scope.SPACE,
        owner_id="lin",
        uid=G,
        rev=7,
        origin=Origin(service="multi_sim_replication_service"),
        pending=pending,
    )
    (delivery,) = of_space(event)
    assert (delivery.user_ids, delivery.terminal_ids) == ((), ("lin_aaaaaaaa",))
    assert delivery.message == ContactUpdate(
        scope=Scope.SPACE, owner_id="lin", uid=G, rev=7, waiting=waiting, filling=filling
    )


def test_withheld_counts_the_members_who_are_not_told_because_of_a_block() -> None:
    audience = _after(_created(), _joined("ada", 2), _set("lin", "bo", 3), _set("lin", "ada", 4))
    assert of_change(audience, _changed("lin", 4)).withheld == 2
    assert of_change(_after(_created()), _changed("lin", 1)).withheld == 0


@pytest.mark.claim("G4")
def test_g4_muted_terminals_are_left_out_and_come_back() -> None:
    history = [_created(), _muted("bo", 2, "bo_aaaaaaaa")]
    delivery = of_change(_after(*history), _changed("lin", 2))
    assert delivery.user_ids == ("lin", "bo")
    assert delivery.muted_terminals == (("bo", ("bo_aaaaaaaa",)),)
    again = _after(*history, _muted("bo", 3))
    assert of_change(again, _changed("lin", 3)).muted_terminals == ()


def test_muting_by_who_is_no_member_moves_the_audience_on_and_nothing_else() -> None:
    audience = _after(_created(), _left("bo", 2), _muted("bo", 3, "bo_aaaaaaaa"))
    assert audience.version == 3
    assert set(audience.members) == {"lin"}


@pytest.mark.claim("G1b")
@pytest.mark.parametrize("event", [_set("lin", "bo", 2), _lifted("lin", "bo", 2, refresh=False)])
def test_g1b_nobody_is_told_of_a_block(event: AudienceEvent) -> None:
    assert of_group(_after(_created()), event) == []


@pytest.mark.claim("G1b")
def test_g1b_lifting_tells_the_other_alone_that_there_is_something_to_pull() -> None:
    audience = _after(_created(), _joined("ada", 2), _set("lin", "bo", 3), _lifted("lin", "bo", 4))
    (delivery,) = of_group(audience, _lifted("lin", "bo", 4))
    assert delivery.user_ids == ("bo",)
    assert delivery.message.payload() == {"group_id": G}
    gone = _after(_created(), _left("bo", 2))
    assert of_group(gone, _lifted("lin", "bo", 2)) == [], "who has left is told nothing"


@pytest.mark.parametrize(
    ("event", "told"),
    [
        (_created(), [("group.joined", {"lin", "bo"})]),
        (_joined("bo", 1), [("group.joined", {"bo"}), ("group.member.joined", {"lin"})]),
        (_left("bo", 1), [("group.member.left", {"bo"}), ("group.member.left", {"lin"})]),
        (
            HandedOver(group_id=G, audience_version=1, owner_id="bo"),
            [("group.handed_over", {"lin", "bo"})],
        ),
        (
            GroupDissolved(group_id=G, audience_version=1),
            [("group.dissolved", {"lin", "bo"})],
        ),
        (_muted("bo", 1, "bo_aaaaaaaa"), []),
    ],
)
def test_who_is_told_of_what_happens_to_the_group(
    event: AudienceEvent, told: list[tuple[str, set[str]]]
) -> None:
    deliveries = of_group(_after(_created()), event)
    assert [(one.message.TYPE, set(one.user_ids)) for one in deliveries] == told


@pytest.mark.claim("G3")
def test_g3_an_invitation_goes_to_the_invited_and_its_end_to_both() -> None:
    common = {
        "invitation_id": G,
        "group_id": G,
        "group_name": "家人",
        "inviter_id": "lin",
        "invitee_id": "ada",
    }
    sent = InvitationSent.model_validate(common | {"expires_at": WHEN})
    closed = InvitationClosed.model_validate(common | {"outcome": "declined"})
    assert [one.user_ids for one in of_invitation(sent)] == [("ada",)]
    assert [one.user_ids for one in of_invitation(closed)] == [("lin", "ada")]


@pytest.mark.claim("G1b")
@given(st.data())
def test_g1b_a_snapshot_is_worth_the_events_that_led_to_it(data: st.DataObject) -> None:
    """Whoever begins with a snapshot tells the same people as whoever saw every event."""
    events: list[AudienceEvent] = [_created()]
    users = ["lin", "bo", "ada"]
    since = dict.fromkeys(("lin", "bo"), 1)
    blocks: dict[tuple[str, str], int | None] = {}
    for version in range(2, data.draw(st.integers(2, 9))):
        user, other = data.draw(st.permutations(users))[:2]
        kind = data.draw(st.sampled_from(["join", "leave", "set", "lift"]))
        if kind == "join" and user not in since:
            events.append(_joined(user, version))
            since[user] = version
        elif kind == "leave":
            events.append(_left(user, version))
            since.pop(user, None)
        elif kind == "lift" and (user, other) in blocks:
            events.append(_lifted(user, other, version))
            blocks[user, other] = version
        else:
            events.append(_set(user, other, version))
            blocks[user, other] = None
    seen = _after(*events)
    snapshot = AudienceSnapshot(
        group_id=G,
        audience_version=seen.version,
        members=tuple(AudienceMember(user_id=user, since=at) for user, at in since.items()),
        blocks=tuple(
            AudienceBlock(setter_id=setter, blocked_id=blocked, lifted_version=lifted)
            for (setter, blocked), lifted in blocks.items()
        ),
    )
    fetched = begun(snapshot)
    for owner in users:
        for version in range(1, seen.version + 1):
            assert _told(fetched, owner, version) == _told(seen, owner, version)
