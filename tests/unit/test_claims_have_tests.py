"""Every row of the requirement table is named by a test that proves it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
ROWS = (
    *("G1", "G1a", "G1b", "G1c", "G2", "G3", "G4", "G5", "G6", "G7", "G8"),
    *("M1", "M2", "M3", "M4", "M5", "M6"),
    *("Y1", "Y2", "Y3", "Y4", "Y5", "Y6"),
)


def _claims() -> Iterator[tuple[str, str]]:
    """Each row that a `claim` marker names, with the test or class that carries it."""
    for path in TESTS.rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                for marker in node.decorator_list:
                    match marker:
                        case ast.Call(
                            func=ast.Attribute(attr="claim"), args=[ast.Constant(value=str(row))]
                        ):
                            yield row, node.name


@pytest.mark.parametrize("row", ROWS)
def test_each_row_is_proved_by_a_test(row: str) -> None:
    assert [name for claimed, name in _claims() if claimed == row], f"no test proves {row}"


def test_no_test_claims_a_row_that_does_not_exist() -> None:
    unknown = {row for row, _ in _claims() if row.startswith("G")} - set(ROWS)
    assert not unknown
