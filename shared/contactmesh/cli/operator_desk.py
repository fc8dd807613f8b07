"""The operator's desk: where the commands of `contactmesh operator` go, and what they share."""

from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from contactmesh.cli.errors import WrongUsage
from contactmesh.cli.locating import (
    DataFolder,
    IdentityUrl,
    OperatorTokenFile,
    operator_access,
    where_options,
)
from contactmesh.cli.operator_client import OperatorClient
from contactmesh.cli.running import with_options

Wanted = TypeVar("Wanted", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Desk:
    """The system that an operator's command is about."""

    data: Path | None
    identity_url: str | None
    operator_token_file: Path | None

    def client(self) -> OperatorClient:
        """To ask its identity_service.

        Raises:
            NoStackRunsError: it is not all given and no stack runs on the data folder.
            WrongUsage: an address without a token, or a file that holds none.
            OSError: the file with the token cannot be read.
        """
        return OperatorClient(
            operator_access(self.data, self.identity_url, self.operator_token_file)
        )

    @property
    def where(self) -> str:
        """What a command that is suggested needs to reach it; empty for the usual one."""
        return where_options(self.data, self.identity_url)


def at_the_desk(function: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Let a coroutine function be a command, with the options that say which system it is about.

    Args:
        function: takes a `Desk`, and then what the command's own arguments and options give.
    """
    options = {
        "data": DataFolder,
        "identity_url": IdentityUrl,
        "operator_token_file": OperatorTokenFile,
    }
    return with_options(function, options, _desk)


@contextmanager
def _desk(
    data: Path | None, identity_url: str | None, operator_token_file: Path | None
) -> Iterator[Desk]:
    yield Desk(data, identity_url, operator_token_file)


def as_wanted(kind: type[Wanted], wrong: Mapping[str, str], **given: object) -> Wanted:
    """What was given, if it can be so.

    Args:
        kind: the request that it makes up.
        wrong: what to say of each field that cannot be as given, the first one first.
        given: the fields.

    Raises:
        WrongUsage: it cannot.
    """
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        fields = {item["loc"][0] for item in error.errors(include_input=False)}
        raise WrongUsage(next(text for name, text in wrong.items() if name in fields)) from None
