"""What every service is told by its environment."""

from enum import StrEnum
from pathlib import Path
from typing import Final

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

CURSOR_KEY_BYTES: Final = 32


class LogFormat(StrEnum):
    """How log lines are written."""

    JSON = "json"
    READABLE = "readable"


class LogLevel(StrEnum):
    """From which level on log lines are written."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class ServiceSettings(BaseSettings):
    """Settings common to all services, each from the environment variable of its name.

    `AMQP_URL` and `MONGODB_URL` are named as everywhere; the others begin with `CONTACTMESH_`.
    """

    model_config = SettingsConfigDict(
        env_prefix="CONTACTMESH_", extra="ignore", frozen=True, populate_by_name=True
    )

    amqp_url: SecretStr = Field(alias="AMQP_URL")
    """The broker, with this service's own account."""
    mongodb_url: SecretStr = Field(alias="MONGODB_URL")
    """A replica set, since units of work are transactions."""
    database_prefix: str = ""
    """Put before the service's name to make the name of its database."""
    http_host: str = "127.0.0.1"
    http_port: int = Field(default=8080, ge=0, le=65535)
    """Where probes, metrics and the service's own HTTP interface are served; 0: any free port."""
    log_format: LogFormat = LogFormat.JSON
    log_level: LogLevel = LogLevel.INFO
    grace_seconds: float = Field(default=20.0, gt=0)
    """How long a stopping service may take to finish what it has in hand."""


class SealingSettings(ServiceSettings):
    """Settings of a service that gives cursors or tokens away and wants them back unchanged."""

    cursor_key_file: Path
    """A secret of 32 bytes or more that all copies share: cursors and tokens are sealed with it."""

    def cursor_key(self) -> bytes:
        """The secret in `cursor_key_file`.

        Raises:
            OSError: the file cannot be read.
            SecretTooShort: it is too short to be one.
        """
        return read_secret(self.cursor_key_file, minimum=CURSOR_KEY_BYTES)


class SecretTooShort(ValueError):
    """A secret has fewer bytes than it has to have. The message names the file, not the secret."""


def read_secret(path: Path, *, minimum: int = 0) -> bytes:
    """A secret from a file, without the line end that editors add; nothing else is taken away.

    Raises:
        OSError: the file cannot be read.
        SecretTooShort: it has fewer than `minimum` bytes.
    """
    content = path.read_bytes()
    line_end = b"\r\n" if content.endswith(b"\r\n") else b"\n"
    secret = content.removesuffix(line_end)
    if len(secret) < minimum:
        raise SecretTooShort(f"The secret in {path} needs {minimum} bytes and has {len(secret)}.")
    return secret
