"""Blocks: whom one's own changes are not told."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

import typer

from contactmesh.cli.output import AsJson, print_json, print_note, print_table, print_text
from contactmesh.cli.terminal import texts
from contactmesh.cli.terminal.connecting import connected
from contactmesh.cli.terminal.naming import (
    NamedGroup,
    UserName,
    find_group,
    group_named,
    user_named,
)
from contactmesh.cli.terminal.people import People
from contactmesh.cli.terminal.place import Place, at_a_terminal
from contactmesh.cli.terminal.suggesting import suggested
from contactmesh.contracts.group.commands import BlockList
from contactmesh.contracts.group.views import GroupSummary

app = typer.Typer()

InGroup = Annotated[
    str | None, typer.Option("--group", metavar="GROUP", help=texts.HELP_BLOCK_GROUP)
]


@app.command(
    "block",
    help=texts.HELP_BLOCK,
    epilog=texts.EXAMPLE_BLOCK,
    rich_help_panel=texts.PANEL_SHARING,
)
@at_a_terminal
async def block(
    place: Place, user: UserName, group: InGroup = None, as_json: AsJson = False
) -> None:
    """Do not notify a user of one's changes."""
    async with connected(place) as terminal:
        user_id = await user_named(terminal.phonebook, user)
        found = None if group is None else await group_named(terminal, group)
        await terminal.block(user_id, None if found is None else found.group_id)
    where = texts.EVERYWHERE if found is None else found.name
    if as_json:
        print_json(
            {
                "user_id": user_id,
                "group_id": None if found is None else found.group_id,
                "blocked": True,
            }
        )
    else:
        print_text(texts.NOW_BLOCKED.format(user_id=user_id, where=where))


@app.command(
    "lift",
    help=texts.HELP_LIFT,
    epilog=texts.EXAMPLE_LIFT,
    rich_help_panel=texts.PANEL_SHARING,
)
@at_a_terminal
async def lift(
    place: Place, user: UserName, group: InGroup = None, as_json: AsJson = False
) -> None:
    """Take a block back."""
    async with connected(place) as terminal:
        user_id = await user_named(terminal.phonebook, user)
        groups = (await terminal.groups()).groups
        standing = await terminal.blocks()
        found = None if group is None else find_group(_where(groups, standing), group)
        before = _of(standing, user_id)
        await terminal.lift(user_id, None if found is None else found.group_id)
        left = _of(await terminal.blocks(), user_id)
    lifted = [where for where in before if where not in left]
    if as_json:
        print_json(
            {
                "user_id": user_id,
                "group_id": None if found is None else found.group_id,
                "lifted": [where for where in lifted if where is not None],
                "lifted_everywhere": None in lifted,
                "blocked": bool(left),
            }
        )
        return
    names = {each.group_id: each.name for each in groups}
    if lifted:
        places = (
            texts.GROUPS_TO_COME if each is None else names.get(each, each) for each in lifted
        )
        print_text(texts.LIFTED.format(user_id=user_id, where=", ".join(places)))
    elif found is None:
        print_note(texts.NOT_BLOCKED.format(user_id=user_id))
    else:
        print_note(texts.NOT_BLOCKED_THERE.format(user_id=user_id, group=found.name))
    if left:
        print_note(suggested(texts.STILL_BLOCKED, user_id=user_id))


@app.command(
    "blocks",
    help=texts.HELP_BLOCKS,
    epilog=texts.EXAMPLE_BLOCKS,
    rich_help_panel=texts.PANEL_SHARING,
)
@at_a_terminal
async def blocks(place: Place, as_json: AsJson = False) -> None:
    """List whom one blocks."""
    async with connected(place) as terminal:
        standing = await terminal.blocks()
        names = {group.group_id: group.name for group in (await terminal.groups()).groups}
        people = await People.known(terminal.phonebook, terminal.user_id)
    if as_json:
        print_json(standing)
        return
    rows: list[tuple[str, str, str]] = []
    for group_id, users in standing.in_groups.items():
        rows.extend(_rows(names.get(group_id, group_id), users, people))
    # A block everywhere was set in each group, where it may have been lifted since.
    rows.extend(_rows(texts.GROUPS_TO_COME, standing.everywhere, people))
    if rows:
        print_table(texts.COLUMNS_BLOCKS, rows)
    else:
        print_note(texts.NO_BLOCKS)


@dataclass(frozen=True, slots=True)
class _FormerGroup:
    """A group that one has left, or that is no more: a block outlives it, its name does not."""

    group_id: str

    @property
    def name(self) -> str:
        return self.group_id


def _where(groups: Iterable[GroupSummary], blocks: BlockList) -> list[NamedGroup]:
    """The groups in which blocks can be lifted: one's own, and all others where one stands."""
    own: dict[str, NamedGroup] = {group.group_id: group for group in groups}
    former = (_FormerGroup(group_id) for group_id in blocks.in_groups if group_id not in own)
    return [*own.values(), *former]


def _of(blocks: BlockList, user_id: str) -> list[str | None]:
    """Where a user is blocked: the groups' ids, and none for every group to come."""
    groups: list[str | None] = [
        group_id for group_id, users in blocks.in_groups.items() if user_id in users
    ]
    return [*groups, None] if user_id in blocks.everywhere else groups


def _rows(where: str, users: Iterable[str], people: People) -> Iterable[tuple[str, str, str]]:
    return ((user_id, people.display_name(user_id), where) for user_id in users)
