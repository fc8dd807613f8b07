"""The `contactmesh` command: one sub-command for each thing that people do with the system."""

from importlib.metadata import version
from typing import Annotated

import typer

from contactmesh.cli import texts
from contactmesh.cli.loading import LoadingGroup, Part
from contactmesh.cli.running import OneLineErrors


class _Contactmesh(OneLineErrors, LoadingGroup):
    PARTS = {  # noqa: RUF012 - a constant of the class
        "up": Part("contactmesh.cli.up"),
        "demo": Part("contactmesh.cli.demo"),
        "status": Part("contactmesh.cli.status"),
        "asyncapi": Part("contactmesh.cli.asyncapi"),
        "openapi": Part("contactmesh.cli.openapi"),
        "vcard": Part("contactmesh.cli.vcard", group="app"),
        "operator": Part("contactmesh.cli.operator", group="app"),
        "terminal": Part("contactmesh.cli.terminal.app", group="app"),
        "simulate": Part("contactmesh.cli.simulate", group="app"),
    }


app = typer.Typer(
    name="contactmesh",
    cls=_Contactmesh,
    help=texts.HELP_APP,
    epilog=texts.HELP_APP_EXITS,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,  # they would show values, and with them contact details
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(version("contactmesh"))
        raise typer.Exit


@app.callback()
def contactmesh(
    _: Annotated[
        bool,
        typer.Option("--version", help=texts.HELP_VERSION, callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """Take the options that stand before the sub-command."""
