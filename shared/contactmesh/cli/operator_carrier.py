"""`contactmesh operator carrier`: which carriers may feed the registry."""

from typing import Annotated

import typer

from contactmesh.cli import texts
from contactmesh.cli.operator_desk import Desk, as_wanted, at_the_desk
from contactmesh.cli.output import (
    AsJson,
    local_time,
    print_json,
    print_note,
    print_rows,
    print_text,
)
from contactmesh.contracts.identity import AddCarrier

app = typer.Typer(help=texts.HELP_CARRIERS, no_args_is_help=True)

CarrierArgument = Annotated[str, typer.Argument(help=texts.HELP_CARRIER_ID)]


@app.command("add", help=texts.HELP_CARRIER_ADD, epilog=texts.EXAMPLE_CARRIER_ADD)
@at_the_desk
async def add_carrier(
    desk: Desk,
    carrier_id: CarrierArgument,
    name: Annotated[str, typer.Option("--name", help=texts.HELP_CARRIER_NAME)],
    as_json: AsJson = False,
) -> None:
    """Add a carrier."""
    wrong = {"carrier_id": texts.BAD_CARRIER_ID, "name": texts.BAD_NAME}
    wanted = as_wanted(AddCarrier, wrong, carrier_id=carrier_id, name=name)
    async with desk.client() as client:
        row = await client.add_carrier(wanted)
    if as_json:
        print_json(row)
        return
    print_text(texts.CARRIER_ADDED.format(name=row.name, carrier_id=row.carrier_id))
    if row.terminals == 0:
        print_note(texts.CARRIER_ADD_NEXT.format(carrier_id=row.carrier_id, where=desk.where))


@app.command("list", help=texts.HELP_CARRIER_LIST, epilog=texts.EXAMPLE_CARRIER_LIST)
@at_the_desk
async def list_carriers(
    desk: Desk,
    as_json: AsJson = False,
) -> None:
    """List all carriers."""
    async with desk.client() as client:
        rows = await client.carriers()
    print_rows(
        rows,
        texts.COLUMNS_CARRIERS,
        lambda row: (row.carrier_id, row.name, str(row.terminals)),
        none=texts.NO_CARRIERS,
        as_json=as_json,
    )


@app.command("code", help=texts.HELP_CARRIER_CODE, epilog=texts.EXAMPLE_CARRIER_CODE)
@at_the_desk
async def mint_code(
    desk: Desk,
    carrier_id: CarrierArgument,
    as_json: AsJson = False,
) -> None:
    """Mint a one-time enrolment code for one of a carrier's terminals."""
    async with desk.client() as client:
        minted = await client.mint_for_carrier(carrier_id)
    if as_json:
        print_json(minted)
        return
    print_text(
        texts.CARRIER_CODE_MINTED.format(
            code=minted.code,
            carrier_id=carrier_id,
            expires_at=local_time(minted.expires_at),
            where=desk.where,
        )
    )
