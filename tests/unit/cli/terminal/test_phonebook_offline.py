"""What works without any system: the phonebook, and saying what is wrong."""

import base64
import json
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.cells import cell_len
from tests.unit.cli.terminal.conftest import Run

from contactmesh.cli.exit_codes import ExitCode

PEOPLE = """\
BEGIN:VCARD
VERSION:4.0
FN:张伟
TEL:１３８００１３８０００
NOTE:老同学
END:VCARD
BEGIN:VCARD
VERSION:4.0
FN:Ann Smith
NICKNAME:Annie
TEL:+14155550100
END:VCARD
"""


@pytest.fixture
def alice(enrolled: Callable[[str], None], run: Run) -> Run:
    enrolled("alice")
    assert run("import", "-", stdin=PEOPLE).exit_code == ExitCode.OK
    return run


def test_wide_characters_line_up(alice: Run) -> None:
    heading, *rows = alice("contacts").stdout.rstrip().split("\n")
    assert len(rows) == 2
    for column, values in (
        ("Numbers", ("+14155550100", "１３８００１３８０００")),
        ("Yours", ("Annie", "老同学")),
    ):
        at = cell_len(heading[: heading.index(column)])
        assert {
            cell_len(row[: row.index(value)]) for row, value in zip(rows, values, strict=True)
        } == {at}


def test_json_is_one_value_on_standard_output(alice: Run) -> None:
    result = alice("contacts", "--json")
    assert result.stderr == ""
    assert result.stdout.count("\n") == 1
    assert [contact["display_name"] for contact in json.loads(result.stdout)] == [
        "Ann Smith",
        "张伟",
    ]
    assert json.loads(alice("contacts", "nobody", "--json").stdout) == []


@pytest.mark.parametrize("search", ["138 0013", "１３８", "张", "老同学"])
def test_search_finds_width_and_script(alice: Run, search: str) -> None:
    (contact,) = json.loads(alice("contacts", search, "--json").stdout)
    assert contact["display_name"] == "张伟"


@pytest.mark.parametrize("name", ["张伟", "ann smith", "ANNIE", "ａｎｎ ｓｍｉｔｈ"])
def test_a_contact_is_named_as_people_do(alice: Run, name: str) -> None:
    assert alice("contact", name).exit_code == ExitCode.OK


def test_a_contact_is_named_by_the_id_that_the_table_shows(alice: Run) -> None:
    shown = re.findall(r"[0-9a-f]{8}(?=\s*$)", alice("contacts", "张").stdout, re.MULTILINE)
    assert alice("contact", shown[0]).stdout.startswith("张伟")


def test_several_of_one_name_are_told_apart(alice: Run) -> None:
    alice("import", "-", stdin=PEOPLE.replace("TEL:+14155550100", "TEL:+14155550101"))
    result = alice("contact", "Ann Smith")
    assert result.exit_code == ExitCode.FAILED
    assert "(Ann Smith, +14155550100)" in result.stderr
    assert "(Ann Smith, +14155550101)" in result.stderr


def test_damaged_cards_are_told_with_line_reason_and_hint(alice: Run) -> None:
    result = alice("import", "-", stdin=PEOPLE + "BEGIN:VCARD\nVERSION:4.0\nFN:王芳\n")
    assert result.exit_code == ExitCode.FAILED
    assert "-:13" in result.stdout
    assert "END:VCARD is missing" in result.stdout
    assert "0 new, 0 changed, 2 the same, 1 not imported" in result.stdout
    assert result.stderr == ""  # the progress bar is for people who look at it


def test_a_missing_file_stops_before_anything_is_imported(alice: Run, tmp_path: Path) -> None:
    good = tmp_path / "good.vcf"
    good.write_text(PEOPLE.replace("Ann Smith", "Ben"), encoding="utf-8")
    result = alice("import", str(good), str(tmp_path / "missing.vcf"))
    assert result.exit_code == ExitCode.USAGE
    assert len(json.loads(alice("contacts", "--json").stdout)) == 2


def test_notes_are_added_replaced_and_removed(alice: Run) -> None:
    alice("note", "张伟", "喜欢喝茶")
    alice("note", "张伟", "周末打球")
    (contact,) = json.loads(alice("contacts", "张伟", "--json").stdout)
    assert [note["note"] for note in contact["card"]["notes"].values()] == [
        "老同学",
        "喜欢喝茶",
        "周末打球",
    ]
    alice("note", "张伟", "", "--replace")
    (contact,) = json.loads(alice("contacts", "张伟", "--json").stdout)
    assert "notes" not in contact["card"]


def test_a_label_is_put_on_a_number_written_any_way(alice: Run) -> None:
    alice("label", "张伟", "+86 138-0013-8000", "老板")
    assert "１３８００１３８０００ (老板)" in alice("contacts").stdout
    wrong = alice("label", "张伟", "10086", "老板")
    assert wrong.exit_code == ExitCode.FAILED
    assert "１３８００１３８０００" in wrong.stderr


@pytest.mark.parametrize("version", ["3.0", "4.0"])
def test_export_writes_the_version(alice: Run, version: str) -> None:
    result = alice("export", "--version", version)
    assert result.stdout_bytes.count(f"VERSION:{version}\r\n".encode()) == 2


def test_text_of_others_cannot_move_the_cursor(alice: Run) -> None:
    alice("import", "-", stdin="BEGIN:VCARD\nVERSION:4.0\nFN:Eve\x1b[2J\nEND:VCARD\n")
    assert "\x1b" not in alice("contacts").stdout
    assert "\x1b" not in alice("contact", "Eve").stderr


def test_a_photo_is_told_and_not_spelled_out(alice: Run) -> None:
    photo = base64.b64encode(bytes(1234)).decode()
    card = f"BEGIN:VCARD\nVERSION:4.0\nFN:Eve\nPHOTO:data:image/jpeg;base64,{photo}\nEND:VCARD\n"
    alice("import", "-", stdin=card)
    shown = alice("contact", "Eve").stdout
    assert "photo (jpeg, 1.2 kB)" in shown
    assert photo[:50] not in shown
    assert photo in alice("contact", "Eve", "--json").stdout


def test_a_system_of_this_machine_that_does_not_run_is_told_at_once(alice: Run, data: Path) -> None:
    (data / "ports.json").write_text(json.dumps({"identity_service#1": 9}))
    begun = time.monotonic()
    result = alice("pull")
    assert time.monotonic() - begun < 5
    assert result.exit_code == ExitCode.UNREACHABLE
    assert f"No stack runs on {data}: start one with 'contactmesh up'." in result.stderr
    assert "unreachable" in alice("show", "--json").stdout


def test_an_entry_is_deleted_once_its_owner_is_sure(alice: Run) -> None:
    asked = alice("delete", "Ann Smith")
    assert asked.exit_code == ExitCode.USAGE
    assert "Delete Ann Smith? Say --yes" in asked.stderr
    assert "Ann Smith" in alice("contacts").stdout
    assert alice("delete", "Ann Smith", "--yes").stdout == "Ann Smith is deleted.\n"
    assert "Ann Smith" not in alice("contacts").stdout
    assert alice("delete", "Ann Smith", "--yes").exit_code == ExitCode.FAILED
