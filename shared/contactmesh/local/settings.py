"""What a local stack can be told."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from pydantic import Field, SecretStr, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from contactmesh.local import texts
from contactmesh.local.errors import StackSettingsError
from contactmesh.messaging.topology import SERVICES
from contactmesh.runtime.settings import LogLevel

SERVICE_NAMES = tuple(topology.service for topology in SERVICES)
MOST_COPIES = 32


def default_data_folder() -> Path:
    """Where a stack keeps its data unless it is told otherwise."""
    if home := os.environ.get("CONTACTMESH_HOME"):
        return Path(home)
    if data := os.environ.get("XDG_DATA_HOME"):
        return Path(data) / "contactmesh"
    return Path.home() / ".local" / "share" / "contactmesh"


class StackSettings(BaseSettings):
    """How a stack is made up; servers that exist already come from the environment.

    Raises:
        StackSettingsError: There is no such service, or the number of its copies is out of range.
    """

    model_config = SettingsConfigDict(
        env_prefix="CONTACTMESH_",
        env_ignore_empty=True,
        extra="ignore",
        frozen=True,
        populate_by_name=True,
    )

    data: Path = Field(default_factory=default_data_folder)
    """The folder of everything that stays: broker, database, secrets, logs. One stack at a time."""
    scale: Mapping[str, int] = Field(default_factory=dict)
    """Copies of each service; one of those that are not named."""
    log_level: LogLevel = LogLevel.INFO
    """From which level on services write log lines."""
    grace_seconds: float = Field(default=20.0, gt=0)
    """What a service gets to finish what it has in hand before it is killed."""
    environment: Mapping[str, Mapping[str, str]] = Field(default_factory=dict)
    """Environment variables for the copies of a service, by the service's name."""

    amqp_url: SecretStr | None = Field(default=None, alias="AMQP_URL")
    """A broker to use instead of a private node, with the virtual host."""
    service_amqp_urls: Mapping[str, SecretStr] = Field(default_factory=dict)
    """The same broker with the account of each service; ``amqp_url`` for those not named."""
    broker_management_url: SecretStr | None = None
    """The management API of that broker: with it the stack declares the topology there, without it
    the services do."""
    terminal_mqtt_url: str | None = None
    """That broker's virtual host as terminals reach it by MQTT, without credentials, if they can;
    a private node offers MQTT."""
    identity_port: int | None = Field(default=None, ge=1, le=65_535)
    """Where the broker asks identity_service; a private node is told the port that is chosen."""
    mongodb_url: SecretStr | None = Field(default=None, alias="MONGODB_URL")
    """A MongoDB replica set to use instead of the embedded database."""
    database_prefix: str = ""
    """Put before the names of the services' databases."""

    @model_validator(mode="after")
    def _known_services(self) -> Self:
        for name in (*self.scale, *self.environment, *self.service_amqp_urls):
            if name not in SERVICE_NAMES:
                raise StackSettingsError(
                    texts.UNKNOWN_SERVICE.format(name=name, names=", ".join(SERVICE_NAMES))
                )
        for name, copies in self.scale.items():
            if not 1 <= copies <= MOST_COPIES:
                raise StackSettingsError(texts.COPIES.format(name=name, most=MOST_COPIES))
        return self

    def copies(self, service: str) -> int:
        """How many processes of ``service`` run."""
        return self.scale.get(service, 1)
