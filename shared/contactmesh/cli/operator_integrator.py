"""`contactmesh operator integrator`: which programs get contact changes, and of which scopes."""

from typing import Annotated

import typer
from yarl import URL

from contactmesh.cli import integrator_texts as texts
from contactmesh.cli.operator_desk import Desk, as_wanted, at_the_desk
from contactmesh.cli.output import AsJson, local_time, print_json, print_rows, print_text
from contactmesh.contracts.contact import Scope
from contactmesh.contracts.identity import AddIntegrator

app = typer.Typer(help=texts.HELP_INTEGRATORS, no_args_is_help=True)

NameArgument = Annotated[str, typer.Argument(help=texts.HELP_NAME)]


@app.command("add", help=texts.HELP_ADD, epilog=texts.EXAMPLE_ADD)
@at_the_desk
async def add_integrator(
    desk: Desk,
    name: NameArgument,
    scope: Annotated[list[Scope], typer.Option("--scope", help=texts.HELP_SCOPE)],
    as_json: AsJson = False,
) -> None:
    """Add an integrator."""
    wanted = as_wanted(AddIntegrator, {"name": texts.BAD_NAME}, name=name, scopes=frozenset(scope))
    async with desk.client() as client:
        added = await client.add_integrator(wanted)
    amqp_url = str(URL(added.broker_url).with_user(added.account).with_password(added.secret))
    if as_json:
        print_json(
            {
                "name": added.name,
                "scopes": list(added.scopes),
                "queue": added.queue,
                "amqp_url": amqp_url,
            }
        )
        return
    print_text(
        texts.ADDED.format(
            name=name, scopes=", ".join(added.scopes), queue=added.queue, amqp_url=amqp_url
        )
    )


@app.command("list", help=texts.HELP_LIST, epilog=texts.EXAMPLE_LIST)
@at_the_desk
async def list_integrators(desk: Desk, as_json: AsJson = False) -> None:
    """List all integrators."""
    async with desk.client() as client:
        rows = await client.integrators()
    print_rows(
        rows,
        texts.COLUMNS,
        lambda row: (row.name, ", ".join(row.scopes), local_time(row.added_at.isoformat())),
        none=texts.NONE,
        as_json=as_json,
    )


@app.command("remove", help=texts.HELP_REMOVE, epilog=texts.EXAMPLE_REMOVE)
@at_the_desk
async def remove_integrator(desk: Desk, name: NameArgument, as_json: AsJson = False) -> None:
    """Remove an integrator."""
    async with desk.client() as client:
        await client.remove_integrator(name)
    if as_json:
        print_json({"name": name, "removed": True})
    else:
        print_text(texts.REMOVED.format(name=name))
