"""One's own card: the first, and a changed number."""

from datetime import UTC, datetime

import pytest

from contactmesh.cli.errors import CommandError, WrongUsage
from contactmesh.cli.terminal.own_card import first_card, read_edits
from contactmesh.contacts import Card

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
OLD = "+8613800138000"
NEW = "+8613900139000"


def card(*numbers: str) -> Card:
    phones = {f"p{place}": {"number": number} for place, number in enumerate(numbers)}
    return Card.model_validate(
        {"@type": "Card", "version": "1.0", "uid": "u", "name": {"full": "张伟"}, "phones": phones}
    )


def numbers(changed: Card) -> list[str]:
    return [phone.number for phone in (changed.phones or {}).values()]


@pytest.mark.parametrize(
    "old", [OLD, "13800138000", "１３８００１３８０００", "138-0013-8000", "tel:+8613800138000"]
)
@pytest.mark.parametrize("sign", ["=", "＝"])
def test_the_old_number_may_be_written_any_way(old: str, sign: str) -> None:
    changed = read_edits(None, [f"{old}{sign}{NEW}"], "CN").applied(card(OLD, "10086"), NOW)
    assert numbers(changed) == [NEW, "10086"]


def test_the_entry_keeps_what_else_it_says() -> None:
    work = Card.model_validate(
        {**card(OLD).to_json(), "phones": {"x": {"number": OLD, "contexts": {"work": True}}}}
    )
    changed = read_edits(None, [NEW], None).applied(work, NOW)
    assert changed.phones is not None
    assert changed.phones["x"].contexts == {"work": True}
    assert changed.to_json()["updated"] == "2026-11-30T12:00:00Z"


def test_the_only_number_needs_no_naming_and_several_do() -> None:
    assert numbers(read_edits(None, [NEW], None).applied(card(OLD), NOW)) == [NEW]
    assert numbers(read_edits(None, [NEW], None).applied(card(), NOW)) == [NEW]
    with pytest.raises(WrongUsage, match=r"OLD=\+8613900139000"):
        read_edits(None, [NEW], None).applied(card(OLD, "10086"), NOW)


def test_what_is_done_already_changes_nothing() -> None:
    done = card(NEW)
    assert read_edits("张伟", [f"{OLD}={NEW}"], None).applied(done, NOW) is done


def test_a_number_that_is_not_there_is_told_with_those_that_are() -> None:
    with pytest.raises(CommandError, match=r"It holds: 10086"):
        read_edits(None, [f"{OLD}={NEW}"], None).applied(card("10086"), NOW)


@pytest.mark.parametrize(
    ("typed", "region", "published"),
    [
        ("１３９００１３９０００", "CN", NEW),
        ("+86 139 0013 9000", None, "+86 139 0013 9000"),
        ("＋８６ １３９００１３９０００", None, "+86 13900139000"),
    ],
)
def test_a_number_is_published_as_others_can_dial_it(
    typed: str, region: str | None, published: str
) -> None:
    (number,) = read_edits(None, [typed], region).numbers
    assert number.number == published


@pytest.mark.parametrize("typed", ["13900139000", "abc", "", f"{OLD}=", f"{OLD}=nobody"])
def test_what_others_could_not_dial_is_refused(typed: str) -> None:
    with pytest.raises(WrongUsage):
        read_edits(None, [typed], None)


def test_a_first_card_needs_a_name() -> None:
    assert numbers(first_card(read_edits(" 张伟 ", [NEW, OLD], None), NOW)) == [NEW, OLD]
    for edits in (read_edits(None, [NEW], None), read_edits("张伟", [f"{OLD}={NEW}"], None)):
        with pytest.raises(WrongUsage, match=r"--card me\.vcf"):
            first_card(edits, NOW)


@pytest.mark.parametrize("name", ["", "　"])
def test_an_empty_name_is_refused(name: str) -> None:
    with pytest.raises(WrongUsage):
        read_edits(name, [], None)


@pytest.mark.parametrize(
    ("typed", "region", "fault"),
    [
        ("12345", "CN", "too short"),
        ("+8612345", None, "too short"),
        ("+861", None, "too short"),
        ("+442071234567890123", None, "too long"),
        ("139001390001", "CN", "no number of CN: it has too many"),
        ("62345678", "CN", "lacks the area code"),
        ("+999123456789", "CN", "country code that does not exist"),
        ("13900139000", None, "with the country code"),
        ("*100#", "CN", "no phone number"),
    ],
)
def test_a_number_that_is_refused_is_told_its_fault(
    typed: str, region: str | None, fault: str
) -> None:
    with pytest.raises(WrongUsage, match=fault):
        read_edits(None, [typed], region)


def test_a_number_that_no_plan_lists_is_doubtful_and_no_more() -> None:
    doubtful, sure = read_edits(None, ["+86139001390001", NEW], None).numbers
    assert doubtful.doubtful
    assert not sure.doubtful
