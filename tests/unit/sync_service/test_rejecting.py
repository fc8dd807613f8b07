"""One bad change holds nothing up (Y4)."""

from dataclasses import replace

import pytest
from tests.unit.sync_service.books import TABLET, card
from tests.unit.sync_service.terminals import shared

from contactmesh.contracts.errors import ErrorCode
from contactmesh.contracts.sync.commands import Exchange
from contactmesh.contracts.sync.records import Change, Outcome


@pytest.mark.claim("Y4")
def test_of_a_hundred_changes_one_is_invalid_and_one_in_conflict() -> None:
    server, phone, tablet = shared("c60")
    tablet.edits("c60", name={"full": "earlier"})
    server.passes()
    phone.edits("c60", name={"full": "later"})
    phone.syncs()
    for number in range(100):
        if number not in (37, 60):
            tablet.makes(f"c{number:02d}")
    changes = list(tablet.command().changes)
    invalid = Change(
        uid="c37",
        updated_at=tablet.clock,
        card={"@type": "Card", "name": {"full": "bad one"}, "phones": {"m": {"number": 7}}},
    )
    changes.insert(37, invalid)
    command = Exchange(token=tablet.token, changes=tuple(changes), sent_at=tablet.clock)
    for turn in range(3):
        reply = server.exchanges(command, TABLET)
        server.passes()
        outcomes = [result.outcome for result in reply.results]
        assert outcomes.count(Outcome.APPLIED if turn == 0 else Outcome.SAME) == 98
        named = [(one.name, one.outcome, one.code) for one in reply.results if one.name]
        assert sorted(named, key=lambda one: str(one[0])) == [
            ("bad one", Outcome.REJECTED, ErrorCode.INVALID_ARGUMENT),
            ("earlier", Outcome.CONFLICT, None),
        ]
    assert len(server.holds()) == 99
    assert len(server.conflicts()) == 1
    assert len(server.told) == 1 + 1 + 98


@pytest.mark.claim("Y4")
@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"card": {"uid": "other", "name": {"full": "x"}}}, ErrorCode.INVALID_ARGUMENT),
        ({"card": None}, ErrorCode.INVALID_ARGUMENT),
        ({"card": {"name": "x"}}, ErrorCode.INVALID_ARGUMENT),
        ({"card": card("x", notes={"n": {"note": "x" * 300_000}})}, ErrorCode.TOO_LARGE),
        (
            {"card": card("x", media={"p": {"kind": "photo", "uri": "data:," + "x" * 300_000}})},
            ErrorCode.TOO_LARGE,
        ),
        ({"card": card("x"), "base_rev": 7}, ErrorCode.NOT_FOUND),
        ({"uid": "an", "card": card("an", "new"), "base_rev": 7}, ErrorCode.CONFLICT),
    ],
)
def test_a_change_that_cannot_be_applied_is_named_and_the_others_are(
    change: dict[str, object], code: ErrorCode
) -> None:
    server, _, tablet = shared("an")
    bad = Change.model_validate({"uid": "x", "updated_at": server.now, **change})
    good = Change(uid="bo", updated_at=server.now, card=card("bo"))
    command = Exchange(token=tablet.token, changes=(bad, good), sent_at=server.now)
    rejected, applied = server.exchanges(command, TABLET).results
    assert (rejected.outcome, rejected.code, rejected.rev) == (Outcome.REJECTED, code, None)
    assert rejected.problem
    assert applied.outcome is Outcome.APPLIED
    assert set(server.holds()) == {"an", "bo"}


@pytest.mark.claim("Y4")
def test_the_same_contact_twice_in_one_exchange_is_taken_in_order() -> None:
    server, phone, _ = shared("an")
    base = server.entry("an")
    changes = tuple(
        Change(
            uid="an",
            base_rev=base.rev,
            updated_at=server.now,
            card={**(base.card or {}), "name": {"full": name}},
        )
        for name in ("first", "second")
    )
    reply = server.exchanges(Exchange(token=phone.token, changes=changes, sent_at=server.now))
    assert [one.outcome for one in reply.results] == [Outcome.APPLIED, Outcome.APPLIED]
    assert server.holds()["an"]["name"] == {"full": "second"}
    assert server.conflicts() == []


@pytest.mark.claim("Y4")
def test_a_book_has_its_quota() -> None:
    server, phone, _ = shared("an", "bo")
    server.limits = replace(server.limits, entries=2)
    phone.makes("chen")
    phone.syncs()
    assert phone.results[-1].code is ErrorCode.QUOTA_EXCEEDED
    phone.deletes("an")
    phone.makes("dai")
    phone.syncs()
    assert set(server.holds()) == {"bo", "dai"}
