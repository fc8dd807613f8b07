"""`contactmesh vcard`: look at, convert, compare and merge contact files."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from enum import StrEnum
from itertools import chain
from typing import Annotated

import typer

from contactmesh.cli.exit_codes import ExitCode
from contactmesh.cli.output import AsJson, print_json, print_note, print_table
from contactmesh.cli.running import OneLineErrors
from contactmesh.cli.vcard_files import cards_of, items_of
from contactmesh.contacts import (
    Card,
    Damage,
    Merge,
    Oddity,
    changed_fields,
    digest,
    display_name,
    find_duplicates,
    merge,
    write_vcards,
)

app = typer.Typer(
    name="vcard",
    cls=OneLineErrors,
    help=(
        "Look at, convert, compare and merge contact files: vCard 2.1, 3.0, 4.0 and JSContact. "
        "A file named [bold]-[/] is standard input."
    ),
    epilog=(
        "Exit status: 0 all is well · 1 something is damaged, different or in conflict · "
        "2 wrong usage."
    ),
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)

File = Annotated[str, typer.Argument(show_default=False)]
Region = Annotated[
    str | None,
    typer.Option(
        "--region",
        metavar="CC",
        help="The country of phone numbers without a country code, for example CN.",
    ),
]
Charset = Annotated[
    str | None,
    typer.Option(help="The character set of cards that are not UTF-8 and name none: gb18030, …"),
]


class Target(StrEnum):
    """What `convert` and `merge` write."""

    VCARD3 = "vcard3"
    VCARD4 = "vcard4"
    JSCONTACT = "jscontact"


class Groups(StrEnum):
    """How groups are written into a vCard."""

    KIND = "kind"
    CATEGORIES = "categories"
    APPLE = "apple"


class Preferred(StrEnum):
    """Who wins a conflict."""

    A = "a"
    B = "b"


@app.command()
def check(
    files: Annotated[list[str], typer.Argument(show_default=False)],
    region: Region = None,
    charset: Charset = None,
    as_json: AsJson = False,
) -> None:
    """Show what is damaged or odd in vCard files; exit with 1 if something is damaged."""
    found: list[Damage | Oddity] = []
    cards = 0
    for name in files:
        for item in items_of(name, region=region, charset=charset, on_oddity=found.append):
            if isinstance(item, Damage):
                found.append(item)
            else:
                cards += 1
    damaged = sum(isinstance(each, Damage) for each in found)
    if as_json:
        findings = [
            {"severity": "damage" if isinstance(each, Damage) else "odd", **asdict(each)}
            for each in found
        ]
        print_json({"cards": cards, "damaged": damaged, "findings": findings})
    else:
        if found:
            print_table(
                ["file", "line", "card", "is", "because", "what to do"],
                [
                    [
                        each.file,
                        str(each.line),
                        str(each.card),
                        "damaged" if isinstance(each, Damage) else "odd",
                        each.reason,
                        each.hint,
                    ]
                    for each in found
                ],
            )
        print_note(f"{cards} cards read, {damaged} damaged, {len(found) - damaged} oddities")
    raise typer.Exit(ExitCode.FAILED if damaged else ExitCode.OK)


@app.command()
def convert(
    files: Annotated[list[str], typer.Argument(show_default=False)],
    to: Annotated[Target, typer.Option(help="What to write.", show_default=False)],
    groups: Annotated[Groups, typer.Option(help="How to write groups.")] = Groups.KIND,
    region: Region = None,
    charset: Charset = None,
) -> None:
    """Convert contact files; the result goes to standard output, card by card."""
    damages: list[Damage] = []

    def cards() -> Iterator[Card]:
        for item in chain.from_iterable(
            items_of(name, region=region, charset=charset) for name in files
        ):
            if isinstance(item, Damage):
                damages.append(item)
                print_note(str(item))
            else:
                yield item

    _write(cards(), to, groups)
    raise typer.Exit(ExitCode.FAILED if damages else ExitCode.OK)


@app.command()
def diff(
    a: File, b: File, region: Region = None, charset: Charset = None, as_json: AsJson = False
) -> None:
    """Show what differs between two contact files; exit with 1 if anything does."""
    before, after = (cards_of(name, region=region, charset=charset) for name in (a, b))
    differences = [
        (old if old is not None else new, change, paths)
        for old, new in _paired(before, after)
        for change, paths in [_change(old, new)]
        if paths
    ]
    if as_json:
        print_json(
            [
                {"uid": card.uid, "name": display_name(card), "change": change, "fields": paths}
                for card, change, paths in differences
                if card is not None
            ]
        )
    elif differences:
        print_table(
            ["contact", "change", "fields"],
            [
                [display_name(card) or card.uid, change, ", ".join(paths)]
                for card, change, paths in differences
                if card is not None
            ],
        )
    raise typer.Exit(ExitCode.FAILED if differences else ExitCode.OK)


@app.command("merge")
def merge_files(
    base: File,
    a: File,
    b: File,
    prefer: Annotated[Preferred, typer.Option(help="Who wins a conflict.")] = Preferred.A,
    to: Annotated[Target, typer.Option(help="What to write.")] = Target.VCARD4,
    region: Region = None,
    charset: Charset = None,
    as_json: AsJson = False,
) -> None:
    """Merge two contact files that both come from BASE.

    The merged contacts go to standard output and conflicts to standard error; with --json both
    go to standard output. Exits with 1 if there are conflicts.
    """
    old, left, right = (cards_of(name, region=region, charset=charset) for name in (base, a, b))
    by_uid = {card.uid: card for card in old}
    merges = [
        merge(
            next((by_uid.get(card.uid) for card in (mine, theirs) if card is not None), None),
            mine,
            theirs,
            prefer="mine" if prefer is Preferred.A else "theirs",
            default_region=region,
        )
        for mine, theirs in _paired(left, right)
        if mine is not None or theirs is not None
    ]
    conflicts = [(each, conflict) for each in merges for conflict in each.conflicts]
    if as_json:
        print_json(
            {
                "cards": [each.card.to_json() for each in merges if each.card is not None],
                "conflicts": [
                    {"contact": _shown(each), **asdict(conflict), "lost": conflict.lost}
                    for each, conflict in conflicts
                ],
            }
        )
    else:
        _write((each.card for each in merges if each.card is not None), to, Groups.KIND)
        for each, conflict in conflicts:
            winner = "A" if conflict.winner == "mine" else "B"
            lost = json.dumps(conflict.lost, ensure_ascii=False)
            print_note(f"{_shown(each)}: {conflict.path or 'contact'}: {winner} wins, lost: {lost}")
    raise typer.Exit(ExitCode.FAILED if conflicts else ExitCode.OK)


@app.command()
def duplicates(
    file: File,
    least_score: Annotated[
        float, typer.Option(min=0, max=1, help="How sure to be, from 0 to 1.")
    ] = 0.5,
    region: Region = None,
    charset: Charset = None,
    as_json: AsJson = False,
) -> None:
    """Show contacts that may be of one person; exit with 1 if there are any. Nothing is merged."""
    found = find_duplicates(
        cards_of(file, region=region, charset=charset),
        default_region=region,
        least_score=least_score,
    )
    if as_json:
        print_json(
            [
                {
                    "score": each.score,
                    "reasons": each.reasons,
                    "contacts": [
                        {"uid": card.uid, "name": display_name(card)}
                        for card in (each.first, each.second)
                    ],
                }
                for each in found
            ]
        )
    elif found:
        print_table(
            ["score", "contact", "and", "because they share"],
            [
                [
                    f"{each.score:.2f}",
                    display_name(each.first) or each.first.uid,
                    display_name(each.second) or each.second.uid,
                    ", ".join(each.reasons),
                ]
                for each in found
            ],
        )
    raise typer.Exit(ExitCode.FAILED if found else ExitCode.OK)


def _write(cards: Iterable[Card], to: Target, groups: Groups) -> None:
    out = sys.stdout.buffer
    if to is not Target.JSCONTACT:
        version = "3.0" if to is Target.VCARD3 else "4.0"
        for data in write_vcards(cards, version=version, group_style=groups.value):  # type: ignore[arg-type]
            out.write(data)
    else:
        out.write(b"[")
        for number, card in enumerate(cards):
            text = json.dumps(card.to_json(), ensure_ascii=False)
            out.write((",\n" if number else "\n").encode() + text.encode("utf-8", "replace"))
        out.write(b"\n]\n")
    out.flush()


def _paired(before: list[Card], after: list[Card]) -> Iterator[tuple[Card | None, Card | None]]:
    """Pair cards by UID; those left over, by contents (a card may have got a UID meanwhile)."""
    by_uid = {card.uid: card for card in after}
    by_contents = {digest(card): card for card in after}
    paired: set[int] = set()
    for old in before:
        new = by_uid.get(old.uid)
        if new is None:
            new = by_contents.get(digest(old))
        if new is not None and id(new) in paired:
            new = None
        if new is not None:
            paired.add(id(new))
        yield old, new
    yield from ((None, new) for new in after if id(new) not in paired)


def _change(old: Card | None, new: Card | None) -> tuple[str, tuple[str, ...]]:
    paths = changed_fields(old, new)
    if old is None:
        return "added", paths or ("uid",)
    return ("removed", paths or ("uid",)) if new is None else ("changed", paths)


def _shown(merged: Merge) -> str:
    return display_name(merged.card) or merged.card.uid if merged.card is not None else ""
