"""Of how many contacts something is, as far as it can be told before."""

from pathlib import Path

import pytest
from tests.unit.cli.terminal.test_sim_naming import account, sim

from contactmesh.cli.terminal.sim_spaces import _held
from contactmesh.cli.terminal.transfer import cards_in
from contactmesh.contracts.multi_sim.records import AccountView, SpaceView

CARD = b"BEGIN:VCARD\r\nVERSION:4.0\r\nFN:Ann\r\nNOTE:BEGIN:VCARD\r\nEND:VCARD\r\n"


@pytest.mark.parametrize(
    ("content", "cards"),
    [(CARD * 3, 3), (CARD.lower() + CARD, 2), (b"", None), (CARD.decode().encode("utf-16"), None)],
    ids=["three", "small letters", "empty", "not to be told"],
)
def test_the_cards_of_a_file_are_counted_before_they_are_imported(
    tmp_path: Path, content: bytes, cards: int | None
) -> None:
    file = tmp_path / "phone.vcf"
    file.write_bytes(content)
    assert cards_in(file) == cards


def holding(one: AccountView, shared: int, private: int) -> AccountView:
    return one.model_copy(
        update={
            "shared": SpaceView(contacts=shared, rev=1),
            "private": SpaceView(contacts=private, rev=1),
        }
    )


def test_what_is_laid_ready_is_at_most_what_the_account_holds() -> None:
    mine = sim("11111111-aaaa-4aaa-8aaa-aaaaaaaaaaaa", "89860012345678901238", "Work")
    accounts = [
        holding(account("cn-mobile", mine), 200, 30),
        holding(account("cn-unicom"), 7, 0),
    ]
    assert _held(accounts, mine, None) == 230
    assert _held(accounts, mine, "cn-unicom") == 7
