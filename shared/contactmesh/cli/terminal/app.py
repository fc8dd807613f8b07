"""All commands of `contactmesh terminal`, in the order in which help lists them."""

import typer

from contactmesh.cli.terminal import (
    access,
    blocking,
    book,
    conflicts,
    contacts,
    duplicates,
    enrolling,
    groups,
    history,
    invitations,
    lines,
    looking,
    own_part,
    page,
    publishing,
    receiving,
    restoring,
    sim_accounts,
    sim_deciding,
    sim_pending,
    sim_spaces,
    sim_texts,
    sims,
    syncing,
    texts,
    transfer,
)

app = typer.Typer(help=texts.HELP_TERMINAL, epilog=texts.EXAMPLES_TERMINAL, no_args_is_help=True)
for _part in (
    enrolling,
    access,
    page,
    receiving,
    contacts,
    transfer,
    own_part,
    syncing,
    history,
    restoring,
    conflicts,
    duplicates,
    book,
    publishing,
    blocking,
    looking,
):
    app.add_typer(_part.app)

group = typer.Typer(help=texts.HELP_GROUPS, epilog=texts.EXAMPLES_GROUPS, no_args_is_help=True)
for _part in (groups, invitations):
    group.add_typer(_part.app)
app.add_typer(group, name="group", rich_help_panel=texts.PANEL_SHARING)
app.add_typer(lines.app, name="line", rich_help_panel=texts.PANEL_NUMBERS)

sim = typer.Typer(help=sim_texts.HELP_SIMS, epilog=sim_texts.EXAMPLES_SIMS, no_args_is_help=True)
for _part in (sims, sim_accounts, sim_spaces, sim_pending, sim_deciding):
    sim.add_typer(_part.app)
app.add_typer(sim, name="sim", rich_help_panel=texts.PANEL_NUMBERS)
