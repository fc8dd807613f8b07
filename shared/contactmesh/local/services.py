"""How each service of a stack is started, and what it is told."""

import os
import sys

from contactmesh.local.backends import Broker
from contactmesh.local.ports import LOOPBACK
from contactmesh.local.process import ProcessSpec
from contactmesh.local.secrets import StackSecrets
from contactmesh.local.settings import StackSettings


def service_spec(
    service: str,
    copy: int,
    *,
    http_port: int,
    settings: StackSettings,
    broker: Broker,
    mongodb_url: str,
    secrets: StackSecrets,
) -> ProcessSpec:
    """Give the process of copy number ``copy`` of ``service``.

    Passwords travel in the environment, which only the same user can read.
    """
    # What another stack or service was told in this environment must not reach this one.
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith("CONTACTMESH_")
    }
    told = {
        "AMQP_URL": broker.service_url(service),
        "MONGODB_URL": mongodb_url,
        "CONTACTMESH_DATABASE_PREFIX": settings.database_prefix,
        "CONTACTMESH_HTTP_HOST": LOOPBACK,
        "CONTACTMESH_HTTP_PORT": str(http_port),
        "CONTACTMESH_LOG_FORMAT": "json",
        "CONTACTMESH_LOG_LEVEL": settings.log_level,
        "CONTACTMESH_GRACE_SECONDS": str(settings.grace_seconds / 2),
        "PYTHONUNBUFFERED": "1",
    }
    if service == "identity_service":
        told["CONTACTMESH_OPERATOR_TOKEN_FILE"] = str(secrets.operator_token_file)
        told["CONTACTMESH_TERMINAL_AMQP_URL"] = broker.terminal_url
        if broker.mqtt_url is not None:
            told["CONTACTMESH_TERMINAL_MQTT_URL"] = broker.mqtt_url
        if broker.management_url is not None:
            told["CONTACTMESH_BROKER_MANAGEMENT_URL"] = broker.management_url
    elif service in ("group_service", "sync_service"):
        told["CONTACTMESH_CURSOR_KEY_FILE"] = str(secrets.cursor_key_file)
    return ProcessSpec(
        name=copy_name(service, copy),
        # -P: the working folder is not searched for modules
        argv=(sys.executable, "-P", "-m", service),
        environment=inherited | told | dict(settings.environment.get(service, {})),
        folder=settings.data,
    )


def copy_name(service: str, copy: int) -> str:
    """What people call copy number ``copy`` of ``service``."""
    return f"{service}#{copy}"
