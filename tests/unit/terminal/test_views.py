"""What a terminal learns of a member has one outcome, in any order and however often it comes."""

from functools import reduce

from hypothesis import given
from hypothesis import strategies as st

from contactmesh.contracts.group.views import MemberState, Role
from contactmesh.terminal.rules.views import CardJson, Claim, View, join_claims, newest


def view(
    rev: int,
    *,
    state: MemberState = MemberState.ACTIVE,
    name: str | None = None,
    role: Role | None = None,
) -> View:
    shown: CardJson | None = (
        None if name is None else {"uid": "urn:example:bob", "name": {"full": name}}
    )
    return View(
        group_id="g",
        user_id="bob",
        rev=rev,
        state=state,
        card=shown if state is MemberState.ACTIVE else None,
        role=role,
        role_rev=-1 if role is None else rev,
    )


def histories() -> st.SearchStrategy[list[View]]:
    """What a service may say of one member: one state per revision, some with the role."""
    states = st.tuples(
        st.sampled_from(MemberState),
        st.none() | st.text(max_size=3),
        st.sampled_from([None, *Role]),
    )
    return st.lists(states, min_size=1, max_size=6).map(
        lambda history: [
            view(rev, state=state, name=name, role=role)
            for rev, (state, name, role) in enumerate(history)
        ]
    )


def test_a_late_view_changes_nothing() -> None:
    new = view(5, name="new")
    assert newest(new, view(4, name="old")) == new
    assert newest(new, view(4, state=MemberState.LEFT)) == new


def test_a_repeated_view_changes_nothing() -> None:
    new = view(5, name="new")
    assert newest(new, new) == new


def test_a_card_that_comes_before_the_joining_keeps_both_card_and_role() -> None:
    joined = view(3, role=Role.INVITED)
    changed = view(4, name="Bob")
    late = newest(newest(None, changed), joined)
    assert late.card == changed.card
    assert late.role is Role.INVITED
    assert late == newest(newest(None, joined), changed)


@given(histories(), st.data())
def test_order_and_repetition_do_not_matter(history: list[View], data: st.DataObject) -> None:
    in_order = reduce(newest, history[1:], history[0])
    repeated = history + data.draw(st.lists(st.sampled_from(history), max_size=4))
    first, *others = data.draw(st.permutations(repeated))
    assert reduce(newest, others, first) == in_order


claims = st.dictionaries(
    st.sampled_from(["phones", "emails"]),
    st.dictionaries(
        st.sampled_from("ab"),
        st.builds(Claim, st.sampled_from("xy"), st.integers(0, 3)),
        min_size=1,
    ),
    max_size=2,
)


@given(claims, claims, claims)
def test_claims_join_in_any_order(
    one: dict[str, dict[str, Claim]],
    two: dict[str, dict[str, Claim]],
    three: dict[str, dict[str, Claim]],
) -> None:
    assert join_claims(one, two) == join_claims(two, one)
    assert join_claims(join_claims(one, two), three) == join_claims(one, join_claims(two, three))
    assert join_claims(one, one) == one
