"""Finding the system that a command is about: the stack on this machine, or one elsewhere."""

import os
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated
from urllib.parse import unquote, urlsplit

import typer

from contactmesh.cli import texts
from contactmesh.cli.errors import WrongUsage
from contactmesh.local.settings import default_data_folder
from contactmesh.local.stack_info import find_stack
from contactmesh.runtime.settings import read_secret

DataFolder = Annotated[
    Path | None,
    typer.Option("--data", help=texts.HELP_DATA),
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


@dataclass(frozen=True, slots=True)
class BrokerAccess:
    """The broker's management API, credentials included, and the system's virtual host."""

    management_url: str = field(repr=False)
    vhost: str


def broker_access(data: Path | None) -> BrokerAccess:
    """How an operator reaches the broker's management API.

    The environment tells for a system that runs elsewhere: there is no option, because whoever may
    list processes would see the password.

    Raises:
        NoStackRunsError: the environment tells nothing and no stack runs on the data folder.
        WrongUsage: the system was started without the API.
    """
    if management_url := os.environ.get("CONTACTMESH_BROKER_MANAGEMENT_URL"):
        return BrokerAccess(management_url, _vhost(os.environ.get("AMQP_URL", "")))
    stack = find_stack(data or default_data_folder())
    if stack.broker_management_url is None:
        raise WrongUsage(texts.MANAGEMENT_MISSING)
    return BrokerAccess(stack.broker_management_url, _vhost(stack.amqp_url))


def _vhost(amqp_url: str) -> str:
    return unquote(urlsplit(amqp_url).path[1:]) or "/"


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
