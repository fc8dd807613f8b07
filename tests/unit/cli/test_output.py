"""What commands show: lined up in every script, unharmed by what others wrote."""

import json
import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from contactmesh.cli.output import harmless, print_error, print_json, print_table
from contactmesh.contracts.identity import UserRow

NAMES = ["Ada", "李伟", "محمد", "Zoë", "さくら🌸", "कमल"]


def test_columns_line_up_whatever_script_they_are_in(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("Name", "Terminals"), [(name, "7") for name in NAMES])
    title, *lines = capsys.readouterr().out.splitlines()
    starts = {cell_len(line[: line.index("7")]) for line in lines}
    assert starts == {cell_len(title[: title.index("Terminals")])}


def test_table_is_not_cut_when_nobody_reads_it(capsys: pytest.CaptureFixture[str]) -> None:
    long = "名" * 300
    print_table(("Name",), [(long,)])
    assert long in capsys.readouterr().out


BESIDE = """\
Number  State      Plan left
13800   in a call  not known
13900"""
BELOW = """\
Number     13800
State      in a
           call
Plan left  not
           known

Number     13900"""


@pytest.mark.parametrize(("width", "expected"), [(40, BESIDE), (19, BELOW)])
def test_a_screen_that_is_too_narrow_for_a_row_shows_its_values_below_each_other(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    width: int,
    expected: str,
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("NO_COLOR", "1")
    columns = ("Number", "State", "Plan left")
    print_table(columns, [("13800", "in a call", "not known"), ("13900", "", "")])
    shown = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)
    assert [line.rstrip() for line in shown.splitlines()] == expected.splitlines()


def test_names_are_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("Name",), [("[red]Ada[/]",)])
    print_error("[red]no[/]")
    shown = capsys.readouterr()
    assert "[red]Ada[/]" in shown.out
    assert shown.err == "error: [red]no[/]\n"


def test_json_is_one_line_with_every_script_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    print_json([UserRow(user_id="li-wei", display_name="李伟", terminals=2)])
    (line,) = capsys.readouterr().out.splitlines()
    assert "李伟" in line
    assert json.loads(line) == [{"user_id": "li-wei", "display_name": "李伟", "terminals": 2}]


@pytest.mark.parametrize("evil", ["\x1b[2J", "\r", "\x07", "\x9b31m", "\u202e", "\u2066"])
def test_what_others_wrote_cannot_steer_the_terminal(evil: str) -> None:
    assert harmless(f"Ada{evil}Bea") == f"Ada\ufffd{harmless(evil[1:])}Bea"
    assert evil[0] not in harmless(evil)


@given(st.text(st.characters(categories=["L", "M", "N", "P", "S", "Zs"])))
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert harmless(text) == text
