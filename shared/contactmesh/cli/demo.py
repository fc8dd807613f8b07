"""`contactmesh demo`: the main job for real, shown and checked."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from contactmesh.cli.errors import CommandError, WrongUsage
from contactmesh.cli.exit_codes import ExitCode
from contactmesh.cli.locating import operator_access
from contactmesh.cli.operator_client import OperatorClient
from contactmesh.cli.output import print_error, print_json
from contactmesh.demo import texts
from contactmesh.demo.errors import DemoFailed
from contactmesh.demo.people import LEAST_PEOPLE, MOST_PEOPLE
from contactmesh.demo.result import told
from contactmesh.demo.run import Demo, DemoOptions
from contactmesh.messaging.connection import BrokerUnavailable

app = typer.Typer()


@app.command("demo", help=texts.HELP_DEMO, epilog=texts.EXAMPLE_DEMO)
def demo(
    users: Annotated[
        int, typer.Option(help=texts.HELP_USERS, min=LEAST_PEOPLE, max=MOST_PEOPLE)
    ] = 24,
    seed: Annotated[int, typer.Option(help=texts.HELP_SEED)] = 1,
    keep: Annotated[
        Path | None, typer.Option(help=texts.HELP_KEEP, metavar="DIR", file_okay=False)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help=texts.HELP_JSON)] = False,
) -> None:
    """Play it: people in two groups change their numbers, and every phonebook is checked."""
    if keep is not None and keep.exists() and any(keep.iterdir()):
        raise WrongUsage(texts.KEEP_NOT_EMPTY.format(folder=keep))
    options = DemoOptions(people=users, seed=seed, keep=keep, silent=as_json)
    played = Demo(options, lambda url, token: OperatorClient(operator_access(None, url, token)))
    try:
        result = asyncio.run(played.run())
    except (DemoFailed, BrokerUnavailable) as error:
        raise CommandError(str(error)) from error
    if result is None:
        raise typer.Exit(ExitCode.INTERRUPTED)
    print_json(result.counted)
    if as_json:
        for difference in result.differences:
            print_error(told(difference))
    if result.differences:
        raise typer.Exit(ExitCode.FAILED)
