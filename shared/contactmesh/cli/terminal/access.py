"""A terminal's secret, and what happened to the terminals of its user."""

import typer

from contactmesh.cli.output import AsJson, local_time, print_json, print_rows, print_text
from contactmesh.cli.terminal import access_texts, texts
from contactmesh.cli.terminal.connecting import connected
from contactmesh.cli.terminal.place import Place, at_a_terminal

app = typer.Typer()


@app.command("rotate-secret", help=access_texts.HELP_ROTATE, rich_help_panel=texts.PANEL_TERMINAL)
@at_a_terminal
async def rotate_secret(place: Place, as_json: AsJson = False) -> None:
    """Change the terminal's secret."""
    async with connected(place) as terminal:
        await terminal.rotate_secret()
        terminal_id = terminal.terminal_id
    if as_json:
        print_json({"terminal_id": terminal_id, "rotated": True})
    else:
        print_text(access_texts.ROTATED.format(terminal_id=terminal_id))


@app.command("access-log", help=access_texts.HELP_ACCESS_LOG, rich_help_panel=texts.PANEL_TERMINAL)
@at_a_terminal
async def access_log(place: Place, as_json: AsJson = False) -> None:
    """Show what happened to the user's terminals."""
    async with connected(place) as terminal:
        log = await terminal.access_log()
    if as_json:
        print_json(log)
        return
    print_rows(
        log.entries,
        access_texts.COLUMNS_ACCESS,
        lambda row: (
            local_time(row.at.isoformat()),
            local_time(row.last_at.isoformat()),
            str(row.count),
            access_texts.KINDS[row.kind],
            row.terminal_id or "",
        ),
        none=access_texts.NO_ACCESS,
        as_json=False,
    )
    for program in log.integrators:
        print_text(
            access_texts.INTEGRATOR.format(
                name=program.name,
                scopes=", ".join(program.scopes),
                since=local_time(program.added_at.isoformat()),
            )
        )
