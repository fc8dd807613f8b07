"""`contactmesh asyncapi`: the wire contract for those who generate code from it."""

import json

import typer

from contactmesh.contracts.catalogue import asyncapi as document


def asyncapi() -> None:
    """Print the wire contract as an AsyncAPI 3.0 document in JSON, schemas included."""
    typer.echo(json.dumps(document(), ensure_ascii=False, indent=2, sort_keys=True))
