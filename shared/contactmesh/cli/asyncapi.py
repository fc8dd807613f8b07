"""`contactmesh asyncapi`: the wire contract for those who generate code from it."""

import json

import typer

from contactmesh.cli import texts
from contactmesh.contracts.catalogue import asyncapi as document

app = typer.Typer()


@app.command("asyncapi", help=texts.HELP_ASYNCAPI)
def asyncapi() -> None:
    """Print the wire contract as an AsyncAPI 3.0 document in JSON, schemas included."""
    typer.echo(json.dumps(document(), ensure_ascii=False, indent=2, sort_keys=True))
