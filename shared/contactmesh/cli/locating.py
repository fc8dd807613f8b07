"""Finding the system that a command is about: the stack on this machine, or one elsewhere."""

import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from contactmesh.cli import texts
from contactmesh.cli.errors import WrongUsage
from contactmesh.local.settings import default_data_folder
from contactmesh.local.stack_info import find_stack
from contactmesh.runtime.settings import read_secret

DataFolder = Annotated[
    Path | None,
    typer.Option("--data", help=texts.HELP_DATA, show_default=str(default_data_folder())),
]
IdentityUrl = Annotated[
    str | None,
    typer.Option("--identity-url", envvar="CONTACTMESH_IDENTITY_URL", help=texts.HELP_IDENTITY_URL),
]
OperatorTokenFile = Annotated[
    Path | None,
    typer.Option(
        "--operator-token-file",
        envvar="CONTACTMESH_OPERATOR_TOKEN_FILE",
        help=texts.HELP_OPERATOR_FILE,
    ),
]


@dataclass(frozen=True, slots=True)
class OperatorAccess:
    """Where identity_service is, and what shows it that an operator is asking."""

    identity_url: str
    token: str = field(repr=False)


def where_options(data: Path | None, url: str | None) -> str:
    """What a command that is suggested needs to reach the same system; empty for the usual one."""
    options = (("--data", data), ("--identity-url", url))
    return "".join(f" {name} {shlex.quote(str(value))}" for name, value in options if value)


def identity_url(given: str | None, data: Path | None) -> str:
    """Where identity_service is: as given, or in the stack that runs on the data folder.

    Raises:
        NoStackRunsError: nothing is given and no stack runs.
    """
    return given or find_stack(data or default_data_folder()).identity_url


def operator_access(data: Path | None, url: str | None, token_file: Path | None) -> OperatorAccess:
    """How an operator reaches identity_service.

    Raises:
        NoStackRunsError: it is not all given and no stack runs on the data folder.
        WrongUsage: an address without a token, or a file that holds none.
        OSError: the file with the token cannot be read.
    """
    if url is None:
        stack = find_stack(data or default_data_folder())
        url, token_file = stack.identity_url, token_file or stack.operator_token_file
    if token_file is None:
        raise WrongUsage(texts.OPERATOR_FILE_MISSING)
    token = read_secret(token_file).decode(errors="replace")
    if not token:
        raise WrongUsage(texts.OPERATOR_FILE_EMPTY.format(file=token_file))
    return OperatorAccess(url.rstrip("/"), token)
