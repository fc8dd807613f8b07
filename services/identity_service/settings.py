"""What identity_service is told by its environment."""

from datetime import timedelta
from pathlib import Path
from urllib.parse import unquote, urlsplit

from pydantic import Field, SecretStr, field_validator

from contactmesh.runtime.settings import ServiceSettings
from identity_service.domain.user import Limits


class IdentitySettings(ServiceSettings):
    """Settings beside the common ones; each is a variable that begins with `CONTACTMESH_`."""

    operator_token_file: Path
    """A file that holds the token with which operators identify themselves."""
    terminal_amqp_url: str
    """Host, port and virtual host as terminals reach the broker; no user, no password."""
    terminal_mqtt_url: str | None = None
    """The same for MQTT; none where the broker offers none."""
    broker_management_url: SecretStr | None = None
    """`http://user:password@host:port` of the broker's management API.

    Without it a revoked terminal's open connection lasts until it ends by itself, without a queue
    to read from.
    """
    enrolment_code_lifetime: timedelta = timedelta(hours=24)
    """How long a code can be used: seconds, or an ISO 8601 duration like `PT24H`."""
    max_terminals_per_user: int = Field(default=20, ge=1)
    max_open_codes_per_user: int = Field(default=5, ge=1)
    broker_cache_lifetime: timedelta = timedelta(seconds=15)
    """At least the `auth_cache.cache_ttl` of the broker."""

    @field_validator("terminal_amqp_url")
    @classmethod
    def _amqp_without_credentials(cls, url: str) -> str:
        return _without_credentials(url, "amqp")

    @field_validator("terminal_mqtt_url")
    @classmethod
    def _mqtt_without_credentials(cls, url: str | None) -> str | None:
        return None if url is None else _without_credentials(url, "mqtt")

    @property
    def vhost(self) -> str:
        """The one virtual host of the whole system."""
        return unquote(urlsplit(self.amqp_url.get_secret_value()).path[1:]) or "/"

    @property
    def limits(self) -> Limits:
        """How much of everything one user may have."""
        return Limits(self.max_terminals_per_user, self.max_open_codes_per_user)


def _without_credentials(url: str, scheme: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in {scheme, f"{scheme}s"} or parts.hostname is None:
        raise ValueError(f"no {scheme.upper()} URL")
    if parts.username is not None or parts.password is not None:
        raise ValueError("it must not hold credentials: every terminal has its own")
    return url
