"""Where the parts of a running stack are, for the commands that talk to it."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from contactmesh.local import texts
from contactmesh.local.errors import NoStackRunsError
from contactmesh.local.ports import LOOPBACK, kept_ports, ports_file
from contactmesh.local.private_files import write_private
from contactmesh.local.stack_lock import is_locked

_IDENTITY = "identity_service#1"


class ServiceProcess(BaseModel):
    """One copy of a service."""

    model_config = ConfigDict(frozen=True)

    name: str
    copy_number: int = Field(alias="copy", ge=1)
    pid: int | None
    """``None`` while it does not run."""
    http_port: int


class StackInfo(BaseModel):
    """A running stack. It holds passwords: keep it to its owner."""

    model_config = ConfigDict(frozen=True)

    identity_url: str
    operator_token_file: Path
    amqp_url: str = Field(repr=False)
    mongodb_url: str = Field(repr=False)
    broker_management_url: str | None = Field(repr=False)
    services: list[ServiceProcess]


def write_stack_info(data: Path, info: StackInfo) -> None:
    """Let others find the stack that runs on ``data``."""
    write_private(_info_file(data), info.model_dump_json(by_alias=True, indent=2))


def remove_stack_info(data: Path) -> None:
    """Take back what ``write_stack_info`` wrote."""
    _info_file(data).unlink(missing_ok=True)


def find_stack(data: Path) -> StackInfo:
    """Find the stack that runs on the folder ``data``.

    Raises:
        NoStackRunsError: None does, or it is still starting.
    """
    # The lock, not the file, tells whether it runs: a kill leaves the file behind.
    if not is_locked(data):
        raise NoStackRunsError(texts.NO_STACK_RUNS.format(data=data))
    try:
        content = _info_file(data).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise NoStackRunsError(texts.STACK_STARTS.format(data=data)) from None
    return StackInfo.model_validate_json(content)


def kept_identity_url(data: Path) -> str | None:
    """Where identity_service of the stack on ``data`` is whenever it runs; nothing if it never did.

    A stack keeps its ports, so this is known also while it does not run.
    """
    port = kept_ports(ports_file(data)).get(_IDENTITY)
    return None if port is None else f"http://{LOOPBACK}:{port}"


def _info_file(data: Path) -> Path:
    return data / "stack.json"
