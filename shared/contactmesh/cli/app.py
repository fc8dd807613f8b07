"""The `contactmesh` command: one sub-command for each thing that people do with the system."""

from importlib.metadata import version
from typing import Annotated

import typer

from contactmesh.cli import operator, texts
from contactmesh.cli.asyncapi import asyncapi
from contactmesh.cli.demo import demo
from contactmesh.cli.openapi import openapi
from contactmesh.cli.running import OneLineErrors
from contactmesh.cli.simulate import app as simulate
from contactmesh.cli.status import status
from contactmesh.cli.terminal.app import app as terminal
from contactmesh.cli.up import up
from contactmesh.cli.vcard import app as vcard
from contactmesh.demo import texts as demo_texts

app = typer.Typer(
    name="contactmesh",
    cls=OneLineErrors,
    help=texts.HELP_APP,
    epilog=texts.HELP_APP_EXITS,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,  # they would show values, and with them contact details
)
app.command("up")(up)
app.command("demo", help=demo_texts.HELP_DEMO, epilog=demo_texts.EXAMPLE_DEMO)(demo)
app.command("status", help=texts.HELP_STATUS, epilog=texts.EXAMPLE_STATUS)(status)
app.command("asyncapi", help=texts.HELP_ASYNCAPI)(asyncapi)
app.command("openapi", help=texts.HELP_OPENAPI)(openapi)
app.add_typer(vcard, name="vcard")
app.add_typer(operator.app, name="operator")
app.add_typer(terminal, name="terminal")
app.add_typer(simulate, name="simulate")


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
