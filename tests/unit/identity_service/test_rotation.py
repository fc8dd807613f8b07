"""A terminal's secret through any number of changes, used and unused."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from identity_service.domain.secret import SecretHash
from identity_service.domain.terminal import Terminal

NOW = datetime(2030, 1, 1, tzinfo=UTC)
SALT = b"s" * 16
FIRST = Terminal("ada_aaaaaaaa", "ada", "phone", SecretHash.of("0", SALT), NOW)


@given(st.lists(st.sampled_from(["issue", "use", "demand"]), max_size=12))
def test_at_every_moment_the_secret_that_is_kept_gets_the_terminal_on(steps: list[str]) -> None:
    """The terminal keeps what it was given last; one whose answer got lost keeps the one before."""
    terminal, kept, used, issued = FIRST, "0", "0", 0
    for step in steps:
        if step == "issue":
            assert terminal.may_rotate(kept)
            terminal = terminal.used(kept)
            used = kept
            issued += 1
            kept = str(issued)
            terminal = terminal.with_next(SecretHash.of(kept, SALT))
        elif step == "demand":
            terminal = terminal.told_to_rotate()
        elif terminal.authenticates(kept):
            terminal, used = terminal.used(kept), kept
        assert terminal.may_rotate(kept)
        assert terminal.may_rotate(used), "an answer that got lost is asked for again"
        good = [one for one in map(str, range(issued + 1)) if terminal.authenticates(one)]
        assert set(good) <= {kept, used}
        assert not terminal.revoked(NOW).may_rotate(kept)
        assert not terminal.revoked(NOW).authenticates(kept)


def test_a_demand_leaves_the_old_secret_good_for_the_next_alone() -> None:
    told = FIRST.told_to_rotate()
    assert not told.authenticates("0")
    assert told.may_rotate("0")
    changed = told.with_next(SecretHash.of("1", SALT))
    assert not changed.authenticates("0")
    assert changed.authenticates("1")
    assert changed.used("1").authenticates("1")
    assert not changed.used("1").may_rotate("0")
