"""A member's update changes what the member owns and nothing else."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contactmesh.contacts import Card
from contactmesh.contracts.group.views import MemberState
from contactmesh.terminal.rules.ownership import (
    MEMBER_MAPS,
    MEMBER_SINGLES,
    Inherited,
    claims_by,
    compose,
    entry_value,
    still_theirs,
)
from contactmesh.terminal.rules.views import Claims, View


def view(
    card: dict[str, Any], *, rev: int = 1, group_id: str = "g", claims: Claims | None = None
) -> View:
    return View(
        group_id=group_id,
        user_id="bob",
        rev=rev,
        state=MemberState.ACTIVE,
        card=card,
        claims=claims or {},
    )


def card(uid: str = "urn:example:bob", **properties: object) -> dict[str, Any]:
    return {"@type": "Card", "version": "1.0", "uid": uid, **properties}


def composed(
    own: Mapping[str, Any],
    views: list[View],
    inherited: Inherited | None = None,
    region: str | None = None,
) -> dict[str, Any]:
    return dict(compose(own, views, inherited, region).card)


def phones(**numbers: str) -> dict[str, dict[str, Any]]:
    return {key: {"number": number} for key, number in numbers.items()}


OWN = card(
    "urn:example:own",
    name={"full": "Bobby from work"},
    nicknames={"k": {"name": "鲍伯"}},
    notes={"n": {"note": "owes me 20"}},
    keywords={"friend": True},
    relatedTo={"urn:example:eve": {"relation": {"spouse": True}}},
    phones={"tel-1": {"number": "+8613800138000", "label": "mobile (Bob)", "pref": 1}},
)


def test_what_the_owner_owns_stays_and_what_the_member_owns_comes() -> None:
    theirs = card(
        name={"full": "Bob Li"},
        nicknames={"k": {"name": "the boss"}},
        notes={"n": {"note": "the member's own note"}},
        keywords={"vip": True},
        phones=phones(m="+8613900139000"),
        titles={"t": {"name": "Engineer"}},
    )
    shown = composed(OWN, [view(theirs)])
    for name in ("uid", "nicknames", "notes", "keywords", "relatedTo"):
        assert shown[name] == OWN[name]
    assert shown["name"] == {"full": "Bob Li"}
    assert shown["titles"] == {"t": {"name": "Engineer"}}


def test_an_entry_that_both_have_is_shown_once_with_the_owners_label() -> None:
    theirs = card(phones={"m": {"number": "+86 138 0013 8000", "label": "cell", "pref": 7}})
    shown = composed(OWN, [view(theirs)])
    assert shown["phones"] == {
        "m": {"number": "+86 138 0013 8000", "label": "mobile (Bob)", "pref": 1}
    }


def test_a_changed_number_keeps_the_owners_label_and_takes_the_old_number_away() -> None:
    before = card(phones=phones(m="+8613800138000"))
    claims = claims_by(OWN, before, 1)
    after = card(phones=phones(m="+8613900139000"))
    shown = composed(OWN, [view(after, rev=2, claims=claims)])
    assert shown["phones"] == {
        "m": {"number": "+8613900139000", "label": "mobile (Bob)", "pref": 1}
    }


def test_a_number_that_the_member_takes_away_does_not_come_back_as_the_owners() -> None:
    claims = claims_by(OWN, card(phones=phones(m="+8613800138000")), 1)
    assert "phones" not in composed(OWN, [view(card(), rev=2, claims=claims)])


def test_the_owners_own_entries_stay_beside_the_members() -> None:
    own = card("urn:example:own", phones=phones(m="+493012345678"))
    shown = composed(own, [view(card(phones=phones(m="+8613900139000")))])
    assert shown["phones"] == {
        "m": {"number": "+8613900139000"},
        "own1-m": {"number": "+493012345678"},
    }


def test_the_owners_order_is_not_mixed_with_the_members() -> None:
    own = card("urn:example:own", phones={"w": {"number": "+493012345678", "pref": 1}})
    theirs = card(phones={"m": {"number": "+8613900139000", "pref": 1}})
    assert composed(own, [view(theirs)])["phones"] == {
        "m": {"number": "+8613900139000"},
        "w": {"number": "+493012345678", "pref": 1},
    }


def test_the_newest_view_wins_entry_by_entry_and_value_by_value() -> None:
    family = card(name={"full": "Bob"}, phones=phones(m="+8613900139000", home="+493012345678"))
    club = card(name={"full": "Robert"}, phones=phones(m="+8613800138000", tel="+493012345678"))
    shown = composed({}, [view(family, rev=9), view(club, rev=5, group_id="c")])
    assert shown["name"] == {"full": "Bob"}
    assert shown["phones"] == phones(m="+8613900139000", home="+493012345678")


def test_a_national_number_is_the_members_international_one() -> None:
    own = card("urn:example:own", phones=phones(t="138 0013 8000"))
    theirs = card(phones=phones(m="+8613800138000"))
    assert len(composed(own, [view(theirs)], region="CN")["phones"]) == 1
    assert len(composed(own, [view(theirs)])["phones"]) == 2


def test_without_a_view_the_owners_part_is_shown_as_it_is() -> None:
    assert composed(OWN, []) == OWN
    gone = View(group_id="g", user_id="bob", rev=3, state=MemberState.LEFT)
    assert composed(OWN, [gone]) == OWN


def test_a_title_of_the_owners_follows_its_organisation() -> None:
    own = card(
        "urn:example:own",
        organizations={"o": {"name": "Tea Club"}},
        titles={"t": {"name": "Chair", "organizationId": "o"}},
    )
    theirs = card(organizations={"o": {"name": "ACME"}})
    shown = composed(own, [view(theirs)])
    assert shown["organizations"] == {"o": {"name": "ACME"}, "own1-o": {"name": "Tea Club"}}
    assert shown["titles"] == {"t": {"name": "Chair", "organizationId": "own1-o"}}


def test_translations_follow_what_they_translate() -> None:
    own = card(
        "urn:example:own",
        notes={"n": {"note": "tea"}},
        localizations={"zh": {"notes/n/note": "茶", "name/full": "老鲍"}},
    )
    theirs = card(
        name={"full": "Bob"}, localizations={"zh": {"name/full": "鲍勃", "notes/n/note": "不是"}}
    )
    shown = composed(own, [view(theirs)])
    assert shown["localizations"] == {"zh": {"notes/n/note": "茶", "name/full": "鲍勃"}}


def test_last_known_details_give_way_when_the_member_is_back() -> None:
    claims = claims_by(OWN, card(phones=phones(m="+8613800138000")), 1)
    last = compose(OWN, [view(card(phones=phones(m="+8613900139000")), claims=claims)])
    back = view(card(phones=phones(m="+447400123456")), rev=9)
    assert composed(last.card, [back], last.from_member)["phones"] == {
        "m": {"number": "+447400123456", "label": "mobile (Bob)", "pref": 1}
    }


def test_an_edited_entry_is_not_the_members_any_more() -> None:
    claims = claims_by(OWN, card(phones=phones(m="+8613800138000")), 1)
    edited = {**OWN, "phones": phones(**{"tel-1": "+493012345678"})}
    assert still_theirs(claims, OWN, edited) == {}
    assert still_theirs(claims, OWN, {**OWN, "notes": {}}) == claims


@pytest.mark.parametrize(
    ("name", "one", "other"),
    [
        ("phones", {"number": "+86 138-0013-8000"}, {"number": "tel:+86-13800138000"}),
        ("emails", {"address": "Bob@Example.org"}, {"address": "bob@example.org", "pref": 1}),
        ("onlineServices", {"uri": "xmpp:b@example.org"}, {"uri": "xmpp:B@example.org"}),
        (
            "onlineServices",
            {"service": "WeChat", "user": "bob"},
            {"service": "wechat", "user": "Bob"},
        ),
        ("organizations", {"name": "ＡＣＭＥ"}, {"name": "Acme"}),
        ("links", {"uri": "https://example.org"}, {"uri": "https://example.org", "label": "x"}),
        (
            "anniversaries",
            {"kind": "birth", "date": {"@type": "PartialDate", "month": 5, "day": 4}},
            {"kind": "birth", "date": {"day": 4, "month": 5}},
        ),
    ],
)
def test_equal_values(name: str, one: dict[str, Any], other: dict[str, Any]) -> None:
    assert entry_value(name, one) == entry_value(name, other) is not None


def test_an_entry_that_says_nothing_equals_none() -> None:
    assert entry_value("addresses", {"countryCode": "DE"}) is None


numbers = st.sampled_from(
    ["+8613800138000", "+8613900139000", "+493012345678", "+447400123456", "110", "12 34"]
)
entries = st.dictionaries(
    st.sampled_from(["a", "b", "own1-a"]),
    st.fixed_dictionaries(
        {"number": numbers},
        optional={"label": st.sampled_from(["x", "y"]), "pref": st.integers(1, 3)},
    ),
    max_size=3,
)
owners = st.fixed_dictionaries(
    {
        "@type": st.just("Card"),
        "version": st.just("1.0"),
        "uid": st.just("urn:example:own"),
        "name": st.builds(lambda text: {"full": text}, st.text(max_size=4)),
        "phones": entries,
        "notes": st.builds(lambda text: {"n": {"note": text}}, st.text(max_size=4)),
    }
)
published = st.fixed_dictionaries(
    {
        "@type": st.just("Card"),
        "version": st.just("1.0"),
        "uid": st.just("urn:example:bob"),
        "phones": entries,
        "notes": st.just({"n": {"note": "not yours"}}),
    },
    optional={"name": st.builds(lambda text: {"full": text}, st.text(max_size=4))},
)


@given(owners, st.lists(published, min_size=1, max_size=3))
def test_what_is_composed_is_a_card_with_all_of_the_owners_and_all_of_the_members(
    own: dict[str, Any], cards: list[dict[str, Any]]
) -> None:
    views = [view(one, rev=rev, group_id=f"g{rev}") for rev, one in enumerate(cards)]
    shown = composed(own, views)
    Card.model_validate(shown)
    assert {name: shown[name] for name in own if name not in (*MEMBER_MAPS, *MEMBER_SINGLES)} == {
        name: own[name] for name in own if name not in (*MEMBER_MAPS, *MEMBER_SINGLES)
    }
    values = {entry_value("phones", entry) for entry in shown.get("phones", {}).values()}
    newest = cards[-1]
    for source in (own, newest):
        assert values >= {entry_value("phones", entry) for entry in source["phones"].values()}
    assert composed(own, list(reversed(views))) == shown


@given(owners, published, published)
def test_an_update_of_the_member_never_changes_the_owners_part(
    own: dict[str, Any], before: dict[str, Any], after: dict[str, Any]
) -> None:
    claims = claims_by(own, before, 1)
    one = composed(own, [view(before, claims=claims)])
    two = composed(own, [view(after, rev=2, claims=claims)])
    assert one["notes"] == two["notes"] == own["notes"]
    assert one["uid"] == two["uid"] == own["uid"]
