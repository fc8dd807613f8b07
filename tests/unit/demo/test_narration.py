"""What is shown fits 80 columns when it is piped, wide characters included."""

import pytest
from rich.cells import cell_len

from contactmesh.demo.narration import WIDTH_WHEN_PIPED, Narrator


def tell(narrator: Narrator) -> None:
    narrator.title("Title")
    narrator.step("第一步")
    narrator.say("李娜 sets “do not notify” on 张伟 in all groups. " * 4)
    narrator.done("王小明换了号码" * 12)
    narrator.table(
        ("Phonebook", "Before", "After"),
        [("陈静", "+86 １５８０００００７１５", "[bold]not markup[/]"), ("Ann", "1", "2")],
    )
    narrator.figures([("Changed numbers", "13"), ("换号", "1")])
    with narrator.progress("Importing", total=2) as advance:
        advance("one")


def test_piped_lines_fit(capsys: pytest.CaptureFixture[str]) -> None:
    tell(Narrator())

    lines = capsys.readouterr().out.splitlines()
    assert max(cell_len(line) for line in lines) <= WIDTH_WHEN_PIPED
    assert not any("\x1b" in line for line in lines)
    assert any("[bold]not markup[/]" in line for line in lines)


def test_columns_line_up_with_wide_characters(capsys: pytest.CaptureFixture[str]) -> None:
    Narrator().table(("Who", "Number"), [("陈静", "one"), ("Ann Lee", "two")])

    _, _, first, second = capsys.readouterr().out.splitlines()
    assert cell_len(first.partition("one")[0]) == cell_len(second.partition("two")[0])


def test_silent_tells_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    tell(Narrator(silent=True))

    assert capsys.readouterr().out == ""
