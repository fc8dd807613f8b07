"""All commands of `contactmesh terminal`, in the order in which help lists them."""

from collections.abc import Mapping
from typing import Final

import typer

from contactmesh.cli.loading import LoadingGroup, Part
from contactmesh.cli.terminal import sim_texts, texts

_HERE: Final = "contactmesh.cli.terminal"


def _parts(commands: Mapping[str, tuple[str, ...]]) -> dict[str, Part]:
    """Where each command is, of those that modules here have."""
    return {name: Part(f"{_HERE}.{module}") for module, names in commands.items() for name in names}


_TERMINAL: Final = _parts(
    {
        "enrolling": ("enrol",),
        "access": ("rotate-secret", "access-log"),
        "page": ("show",),
        "receiving": ("pull", "watch"),
        "contacts": ("contacts", "contact"),
        "transfer": ("import", "export"),
        "own_part": ("link", "unlink", "note", "label", "delete"),
        "syncing": ("sync",),
        "history": ("history", "erase"),
        "restoring": ("restore",),
        "conflicts": ("conflicts",),
        "duplicates": ("duplicates",),
        "book": ("sync-policy", "own-card"),
        "publishing": ("publish",),
        "blocking": ("block", "lift", "blocks"),
        "looking": ("grant", "revoke", "grants", "looks", "dial-order"),
    }
)
_GROUP: Final = _parts(
    {
        "groups": (
            "create",
            "list",
            "show",
            "leave",
            "remove",
            "hand-over",
            "dissolve",
            "subscribe",
            "unsubscribe",
        ),
        "invitations": ("invite", "invitations", "accept", "decline", "withdraw"),
    }
)
_SIM: Final = _parts(
    {
        "sims": ("add", "move", "replace", "remove"),
        "sim_accounts": ("list", "info", "consent", "follow-book"),
        "sim_spaces": ("store", "update"),
        "sim_pending": ("pending",),
        "sim_deciding": ("accept", "decline", "auto-accept"),
    }
)
_GROUPS: Final = {
    "group": Part(f"{_HERE}.app", group="group", panel=texts.PANEL_SHARING),
    "line": Part(f"{_HERE}.lines", group="app", panel=texts.PANEL_NUMBERS),
    "sim": Part(f"{_HERE}.app", group="sim", panel=texts.PANEL_NUMBERS),
}


class _Terminal(LoadingGroup):
    PARTS = {**_TERMINAL, **_GROUPS}  # noqa: RUF012 - a constant of the class


class _Group(LoadingGroup):
    PARTS = _GROUP


class _Sim(LoadingGroup):
    PARTS = _SIM


app = typer.Typer(
    help=texts.HELP_TERMINAL,
    epilog=texts.EXAMPLES_TERMINAL,
    no_args_is_help=True,
    cls=_Terminal,
)
group = typer.Typer(
    help=texts.HELP_GROUPS,
    epilog=texts.EXAMPLES_GROUPS,
    no_args_is_help=True,
    cls=_Group,
)
sim = typer.Typer(
    help=sim_texts.HELP_SIMS,
    epilog=sim_texts.EXAMPLES_SIMS,
    no_args_is_help=True,
    cls=_Sim,
)
