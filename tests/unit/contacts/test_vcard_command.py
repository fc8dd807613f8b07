"""`contactmesh vcard`, as people and scripts use it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rich.cells import cell_len
from tests.unit.contacts.vcards import vcard
from typer.testing import CliRunner, Result

from contactmesh.cli.vcard import app
from contactmesh.contacts import Card, Damage, display_name, read_vcards

GOOD = vcard("UID:1", "FN:王小明", "N:王;小明;;;", "TEL:13800138000")
BAD = vcard("FN:Two", ":no name")


def run(*arguments: str, stdin: bytes = b"") -> Result:
    return CliRunner().invoke(app, list(arguments), input=stdin)


@pytest.fixture
def book(tmp_path: Path) -> Path:
    path = tmp_path / "通讯录.vcf"
    path.write_bytes(GOOD)
    return path


def test_check_says_nothing_of_a_good_file(book: Path) -> None:
    result = run("check", str(book))
    assert (result.exit_code, result.stdout) == (0, "")
    assert "1 cards read, 0 damaged" in result.stderr


def test_check_names_file_line_reason_and_remedy_and_exits_with_1(book: Path) -> None:
    book.write_bytes(GOOD + BAD)
    result = run("check", str(book))
    assert result.exit_code == 1
    for text in ("通讯录.vcf", "11", "damaged", "':no name'", "delete the line"):
        assert text in result.stdout


def test_check_for_scripts() -> None:
    result = run(
        "check", "-", "--json", "--region", "CN", stdin=GOOD + BAD + vcard("TEL;CELL:12345678")
    )
    report = json.loads(result.stdout)
    assert (result.exit_code, report["cards"], report["damaged"]) == (1, 2, 1)
    damage = report["findings"][0]
    assert (damage["severity"], damage["file"], damage["card"], damage["line"]) == (
        "damage",
        "-",
        2,
        11,
    )
    odd = [each["reason"] for each in report["findings"] if each["severity"] == "odd"]
    assert any("version 2.1" in reason for reason in odd)
    assert any("dialled" in reason for reason in odd)
    assert "FN is missing" in odd


def test_wide_characters_line_up(book: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.vcf"
    other.write_bytes(vcard("UID:1", "FN:Jane") + vcard("UID:2", "FN:王小明", "TEL:2"))
    book.write_bytes(vcard("UID:1", "FN:Jane Doe") + vcard("UID:2", "FN:王小明", "TEL:1"))
    lines = [
        line for line in run("diff", str(book), str(other)).stdout.split("\n") if "changed" in line
    ]
    assert len(lines) == 2
    assert len({cell_len(line[: line.index("changed")]) for line in lines}) == 1


@pytest.mark.parametrize("target", ["vcard3", "vcard4"])
def test_convert_to_vcard_and_back_loses_nothing(book: Path, target: str) -> None:
    result = run("convert", str(book), "--to", target)
    assert result.exit_code == 0
    assert list(read_vcards(result.stdout_bytes)) == list(read_vcards(GOOD))


def test_convert_to_jscontact_and_back(book: Path) -> None:
    result = run("convert", str(book), "--to", "jscontact")
    (card,) = json.loads(result.stdout)
    assert card["name"]["full"] == "王小明"
    back = run("convert", "-", "--to", "vcard4", stdin=result.stdout_bytes)
    assert list(read_vcards(back.stdout_bytes)) == list(read_vcards(GOOD))


def test_convert_reports_damage_and_converts_the_rest() -> None:
    result = run("convert", "-", "--to", "vcard4", stdin=GOOD + BAD + vcard("FN:Three"))
    items = list(read_vcards(result.stdout_bytes))
    assert [display_name(item) for item in items if isinstance(item, Card)] == ["王小明", "Three"]
    assert not any(isinstance(item, Damage) for item in items)
    assert result.exit_code == 1
    assert "card 2" in result.stderr


def test_diff_exits_with_0_only_if_nothing_differs(book: Path, tmp_path: Path) -> None:
    other = tmp_path / "b.vcf"
    other.write_bytes(GOOD.replace(b"13800138000", b"13900139000") + vcard("UID:2", "FN:New"))
    assert run("diff", str(book), str(book)).exit_code == 0
    result = run("diff", str(book), str(other), "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout) == [
        {"uid": "1", "name": "王小明", "change": "changed", "fields": ["phones/tel-1/number"]},
        {"uid": "2", "name": "New", "change": "added", "fields": ["name"]},
    ]


def test_merge_keeps_both_edits_and_names_what_lost(book: Path, tmp_path: Path) -> None:
    a, b = tmp_path / "a.vcf", tmp_path / "b.vcf"
    a.write_bytes(
        GOOD.replace(b"TEL:138", b"TEL;TYPE=home:138").replace("FN:王小明".encode(), b"FN:Wang")
    )
    b.write_bytes(GOOD.replace(b"END:VCARD", b"EMAIL:w@example.com\r\nEND:VCARD"))
    result = run("merge", str(book), str(a), str(b))
    assert result.exit_code == 0
    assert "w@example.com" in result.stdout
    assert "TYPE=home" in result.stdout
    b.write_bytes(GOOD.replace("FN:王小明".encode(), b"FN:Xiaoming"))
    result = run("merge", str(book), str(a), str(b), "--json")
    assert result.exit_code == 1
    (conflict,) = json.loads(result.stdout)["conflicts"]
    assert (conflict["path"], conflict["winner"]) == ("name", "mine")
    assert run("merge", str(book), str(a), str(b), "--prefer", "b").stdout.count("Xiaoming") == 1


def test_duplicates_gives_score_and_reason_and_merges_nothing(book: Path) -> None:
    book.write_bytes(GOOD + vcard("UID:2", "FN:小明 (新)", "TEL:+86 138 0013 8000"))
    result = run("duplicates", str(book), "--region", "CN", "--json")
    assert result.exit_code == 1
    (found,) = json.loads(result.stdout)
    assert found["reasons"] == ["the same mobile number"]
    assert [each["uid"] for each in found["contacts"]] == ["1", "2"]
    assert run("duplicates", str(book)).exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "stdin", "status", "says"),
    [
        (["check", "no-such-file.vcf"], b"", 2, "cannot be opened"),
        (["convert", "-"], b"", 2, "--to"),
        (["convert", "-", "--to", "jscontact"], b"{not json", 1, "no JSON"),
        (["convert", "-", "--to", "vcard4"], b'{"uid": 5}', 1, "no JSContact: uid"),
        (["diff", "-", "-"], BAD, 1, "vcard check"),
    ],
)
def test_what_a_user_does_wrong_is_told_in_one_line(
    arguments: list[str], stdin: bytes, status: int, says: str
) -> None:
    result = run(*arguments, stdin=stdin)
    assert result.exit_code == status
    assert says in result.stderr
    assert "Traceback" not in result.output
    assert result.stderr.count("\n") == 1
