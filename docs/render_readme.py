"""Puts the examples and the table of claims into the README: `python docs/render_readme.py`.

With `--check` it only says whether they are as they should be, by its exit status.
"""

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TESTS_SHOWN = 4
LANGUAGES = {".py": "python", ".sh": "sh"}

ROWS = {
    "G1": "Phonebooks are updated when a terminal joins the group or a member's details change",
    "G1a": "A group holds its creator, the initial members, and those who accepted an invitation",
    "G1b": "Any member may keep any other from learning of changes, on every path",
    "G1c": "A change is uploaded, detected in the database, and pushed to the members",
    "G2": "Creating: request, authentication, and creation only if that passed",
    "G3": "Initial members are named; first and second members invite third ones, who accept",
    "G4": "Pull: after the interval that a terminal chose, it asks for what changed",
    "G5": "The system of server and terminals, with its modules",
    "G6": "The server receives, authenticates, and creates",
    "G7": "The terminal requests, names members, and receives invitations",
    "G8": "The terminal sets its interval, invites, and asks for updates",
    "C1": "Opening a contact's page asks the registry, and puts right what changed",
    "C2": "A carrier or sequence no longer live means that carrier or number changed",
    "C3": "A live number at a carrier that the viewer does not know was added there",
    "C4": "A live number beside a known one of the same carrier was added there",
    "C5": "State and plan usage are told with their time, each if granted",
    "C6": "Added numbers come with shared labels and dial priority, which order dialling",
    "C7": "Without access the answer is that of an unknown contact; budgets and a log of looks",
    "M1": "One account per carrier; all say the same of their user; a shared space, pending spaces",
    "M2": "The first SIM at a carrier makes the account with its code; the next ones join it",
    "M3": "A private upload goes to the account's private space and nowhere else",
    "M4": "A shared upload comes to the user's other accounts that agree; what is new waits there",
    "M5": "An update is laid ready for a SIM, from its own account or over it from another one",
    "M6": "The terminal accepts or declines; either way it is gone and does not come back",
    "Y1": "Every contact has its update time; what was updated since the last sync is sent",
    "Y2": "An update says whether it deletes or modifies",
    "Y3": "The server finds what it changed; if nobody else has synced, changes are applied",
    "Y4": "Otherwise edits are joined, or the later one wins; what lost is kept, and restorable",
    "Y5": "A deletion deletes what its author had seen; a modification overwrites, or creates",
    "Y6": "The end of a sync is the account's last sync; a token in its place says from where on",
}


def claims(tests: Path) -> dict[str, list[tuple[str, str]]]:
    """The tests that carry `claim` markers, by row, each with its file."""
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for file in sorted(tests.rglob("test_*.py")):
        for name, row in _marked(ast.parse(file.read_text(encoding="utf-8"))):
            found[row].append((name, file.relative_to(ROOT).as_posix()))
    return found


def _marked(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                for decorator in node.decorator_list:
                    yield from ((node.name, row) for row in _rows(decorator))
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=marker)):
                yield from ((name, row) for row in _rows(marker))


def _rows(marker: ast.expr) -> list[str]:
    match marker:
        case ast.Call(func=ast.Attribute(attr="claim"), args=arguments):
            return [str(one.value) for one in arguments if isinstance(one, ast.Constant)]
    return []


def claims_table() -> str:
    """The table of claims, as Markdown."""
    found = claims(ROOT / "tests")
    lines = ["| row | requirement | proved by |", "|---|---|---|"]
    for row, requirement in ROWS.items():
        proofs = found.get(row, [])
        shown = [f"[`{name}`]({file})" for name, file in proofs[:TESTS_SHOWN]]
        if len(proofs) > TESTS_SHOWN:
            shown.append(f"and {len(proofs) - TESTS_SHOWN} more")
        lines.append(f"| {row} | {requirement} | {', '.join(shown)} |")
    return "\n".join(lines)


def rendered(readme: str) -> str:
    """The README with every block between its markers made anew."""

    def block(match: re.Match[str]) -> str:
        opening, what = match.group(1), match.group(2)
        if what == "claims":
            content = claims_table()
        else:
            path = what.removeprefix("include ")
            text = (ROOT / path).read_text(encoding="utf-8").strip()
            content = f"```{LANGUAGES[Path(path).suffix]}\n{text}\n```"
        return f"{opening}\n{content}\n<!-- end -->"

    marker = re.compile(r"(<!-- (claims|include [^ ]+) -->)\n.*?<!-- end -->", re.DOTALL)
    return marker.sub(block, readme)


def main(arguments: list[str]) -> int:
    """Render the README, or check it; the exit status."""
    file = ROOT / "README.md"
    before = file.read_text(encoding="utf-8")
    after = rendered(before)
    if arguments == ["--check"]:
        if before != after:
            sys.stderr.write("README.md is not up to date: run python docs/render_readme.py\n")
        return int(before != after)
    file.write_text(after, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
