"""`contactmesh operator carrier`: which carriers may feed the registry."""

from typing import Annotated

import typer
from pydantic import ValidationError

from contactmesh.cli import texts
from contactmesh.cli.errors import WrongUsage
from contactmesh.cli.locating import (
    DataFolder,
    IdentityUrl,
    OperatorTokenFile,
    operator_access,
    where_options,
)
from contactmesh.cli.operator_client import OperatorClient
from contactmesh.cli.output import (
    AsJson,
    local_time,
    print_json,
    print_note,
    print_table,
    print_text,
)
from contactmesh.cli.running import async_command
from contactmesh.contracts.identity import AddCarrier

app = typer.Typer(help=texts.HELP_CARRIERS, no_args_is_help=True)

CarrierArgument = Annotated[str, typer.Argument(help=texts.HELP_CARRIER_ID)]


@app.command("add", help=texts.HELP_CARRIER_ADD, epilog=texts.EXAMPLE_CARRIER_ADD)
@async_command
async def add_carrier(
    carrier_id: CarrierArgument,
    name: Annotated[str, typer.Option("--name", help=texts.HELP_CARRIER_NAME)],
    as_json: AsJson = False,
    data: DataFolder = None,
    identity_url: IdentityUrl = None,
    operator_token_file: OperatorTokenFile = None,
) -> None:
    """Add a carrier."""
    wanted = _carrier_to_add(carrier_id, name)
    async with OperatorClient(operator_access(data, identity_url, operator_token_file)) as client:
        row = await client.add_carrier(wanted)
    if as_json:
        print_json(row)
        return
    print_text(texts.CARRIER_ADDED.format(name=row.name, carrier_id=row.carrier_id))
    if row.terminals == 0:
        where = where_options(data, identity_url)
        print_note(texts.CARRIER_ADD_NEXT.format(carrier_id=row.carrier_id, where=where))


@app.command("list", help=texts.HELP_CARRIER_LIST, epilog=texts.EXAMPLE_CARRIER_LIST)
@async_command
async def list_carriers(
    as_json: AsJson = False,
    data: DataFolder = None,
    identity_url: IdentityUrl = None,
    operator_token_file: OperatorTokenFile = None,
) -> None:
    """List all carriers."""
    async with OperatorClient(operator_access(data, identity_url, operator_token_file)) as client:
        rows = await client.carriers()
    if as_json:
        print_json(rows)
    elif rows:
        print_table(
            texts.COLUMNS_CARRIERS,
            [(row.carrier_id, row.name, str(row.terminals)) for row in rows],
        )
    else:
        print_note(texts.NO_CARRIERS)


@app.command("code", help=texts.HELP_CARRIER_CODE, epilog=texts.EXAMPLE_CARRIER_CODE)
@async_command
async def mint_code(
    carrier_id: CarrierArgument,
    as_json: AsJson = False,
    data: DataFolder = None,
    identity_url: IdentityUrl = None,
    operator_token_file: OperatorTokenFile = None,
) -> None:
    """Mint a one-time enrolment code for one of a carrier's terminals."""
    async with OperatorClient(operator_access(data, identity_url, operator_token_file)) as client:
        minted = await client.mint_for_carrier(carrier_id)
    if as_json:
        print_json(minted)
        return
    print_text(
        texts.CARRIER_CODE_MINTED.format(
            code=minted.code,
            carrier_id=carrier_id,
            expires_at=local_time(minted.expires_at),
            where=where_options(data, identity_url),
        )
    )


def _carrier_to_add(carrier_id: str, name: str) -> AddCarrier:
    try:
        return AddCarrier(carrier_id=carrier_id, name=name)
    except ValidationError as error:
        wrong = {item["loc"][0] for item in error.errors(include_input=False)}
        raise WrongUsage(
            texts.BAD_CARRIER_ID if "carrier_id" in wrong else texts.BAD_NAME
        ) from None
