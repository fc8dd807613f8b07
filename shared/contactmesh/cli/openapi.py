"""`contactmesh openapi`: the HTTP interface for those who generate code from it."""

import json

import typer

from contactmesh.cli import texts
from contactmesh.contracts.openapi import openapi as document

app = typer.Typer()


@app.command("openapi", help=texts.HELP_OPENAPI)
def openapi() -> None:
    """Print the HTTP interface as an OpenAPI 3.1 document in JSON, schemas included."""
    typer.echo(json.dumps(document(), ensure_ascii=False, indent=2, sort_keys=True))
