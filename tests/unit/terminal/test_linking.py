"""Which of the owner's entries a member is."""

from tests.unit.terminal.cards import card

from contactmesh.terminal.rules.linking import Candidate, own_entry_for, reach_keys

MEMBER = card(
    "bob", "Bob Li", phones={"m": "+8613800138000"}, emails={"e": "Bob@example.org"}
).to_json()


def candidate(
    contact_id: str,
    uid: str,
    name: str,
    *,
    phones: dict[str, str] | None = None,
    emails: dict[str, str] | None = None,
) -> Candidate:
    return Candidate(contact_id, card(uid, name, phones=phones, emails=emails).to_json())


def test_an_equal_uid_decides_where_name_or_reach_agrees_too() -> None:
    by_name = candidate("1", "x", "Bob Li", phones={"a": "+8613800138000"})
    by_uid_and_name = candidate("2", "bob", "Bob Li")
    by_uid_and_phone = candidate("3", "bob", "Bobby", phones={"a": "+8613800138000"})
    assert own_entry_for(MEMBER, [by_name, by_uid_and_name]) == "2"
    assert own_entry_for(MEMBER, [by_name, by_uid_and_phone]) == "3"


def test_a_uid_alone_proves_nothing_since_anybody_may_claim_it() -> None:
    assert own_entry_for(MEMBER, [candidate("1", "bob", "Somebody Else")]) is None


def test_the_same_phone_and_name_link_whatever_the_width_and_case() -> None:
    entry = candidate("1", "x", "ＢＯＢ  ｌｉ", phones={"a": "+86 138 0013 8000"})
    assert own_entry_for(MEMBER, [entry]) == "1"


def test_the_same_mail_and_name_link() -> None:
    entry = candidate("1", "x", "Bob Li", emails={"a": "bob@EXAMPLE.org"})
    assert own_entry_for(MEMBER, [entry]) == "1"


def test_a_national_number_links_in_its_region() -> None:
    entry = candidate("1", "x", "Bob Li", phones={"a": "138 0013 8000"})
    assert own_entry_for(MEMBER, [entry], "CN") == "1"
    assert own_entry_for(MEMBER, [entry]) is None


def test_a_shared_phone_alone_links_nobody() -> None:
    spouse = candidate("1", "x", "Eve Li", phones={"a": "+8613800138000"})
    assert own_entry_for(MEMBER, [spouse]) is None


def test_a_common_name_alone_links_nobody() -> None:
    namesake = candidate("1", "x", "Bob Li", phones={"a": "+447400123456"})
    assert own_entry_for(MEMBER, [namesake]) is None


def test_of_two_possible_entries_none_is_taken() -> None:
    twice = [
        candidate("1", "x", "Bob Li", phones={"a": "+8613800138000"}),
        candidate("2", "y", "Bob Li", emails={"a": "bob@example.org"}),
    ]
    assert own_entry_for(MEMBER, twice) is None


def test_names_in_any_script() -> None:
    theirs = card("li", "李 雷", phones={"m": "+8613800138000"}).to_json()
    assert (
        own_entry_for(theirs, [candidate("1", "x", "李　雷", phones={"a": "+8613800138000"})])
        == "1"
    )


def test_a_number_that_cannot_safely_be_matched_is_no_way_to_find_anyone() -> None:
    assert reach_keys(card("x", "X", phones={"a": "030 123456"}).to_json()) == frozenset()
