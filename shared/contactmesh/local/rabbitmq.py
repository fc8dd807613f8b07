"""A private RabbitMQ node: own data folder, own ports on the loopback interface, own epmd.

Nothing of it is shared with a RabbitMQ that the system may run: neither the node's name server
(epmd) nor the Erlang cookie nor the configuration. It runs as whoever starts it.
"""

import asyncio
import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from contactmesh.local import texts
from contactmesh.local.docker import engine_has_image
from contactmesh.local.errors import NotInstalledError
from contactmesh.local.ports import LOOPBACK
from contactmesh.local.private_files import private_folder, write_private
from contactmesh.local.process import ProcessSpec
from contactmesh.messaging.topology import (
    BROKER_MAX_MESSAGE_BYTES,
    MQTT,
    MQTT_PREFETCH,
    TERMINAL_QUEUE_EXPIRY_MS,
)

IMAGE = "rabbitmq:4-management"

# The command in the system's path is on Debian a wrapper that switches to the user "rabbitmq";
# this one runs as whoever starts it.
_DEBIAN_SERVER = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")

_PLUGINS = (
    "rabbitmq_management",
    "rabbitmq_auth_backend_http",
    "rabbitmq_auth_backend_cache",
    "rabbitmq_mqtt",
)

# "Which nodes do you know?": two bytes of length, then the request. It answers with its own port.
_EPMD_NAMES_REQUEST = b"\x00\x01n"

# How long the broker believes an answer of identity_service, in milliseconds. It bounds how long a
# revoked terminal that slips through could still act; its connections are closed at once.
_AUTHORISATION_CACHE_MS = 10_000

# How long a session outlives its connection: 3.10 knows the first name, 4.0 the second, and each
# refuses a configuration file with the other. The default, a day, is too short for a phone. By MQTT
# 4.0 has a limit of its own for what is too large; 3.10 keeps to that for all messages.
_MQTT_LIMITS = (
    f"-rabbitmq_mqtt subscription_ttl {TERMINAL_QUEUE_EXPIRY_MS}"
    f" -rabbitmq_mqtt max_session_expiry_interval_seconds {TERMINAL_QUEUE_EXPIRY_MS // 1000}"
    f" -rabbitmq_mqtt max_packet_size_authenticated {BROKER_MAX_MESSAGE_BYTES}"
)

# Its own epmd makes the name unique enough, and a constant name lets the data folder be moved.
_NODE_NAME = "contactmesh@localhost"

_CONFIGURATION = """\
# Written at every start; changes made here are lost.
listeners.tcp.1 = {host}:{amqp}
management.tcp.ip = {host}
management.tcp.port = {management}
max_message_size = {max_message_bytes}

# Newer brokers offer an anonymous mechanism too.
auth_mechanisms.1 = PLAIN

mqtt.listeners.tcp.1 = {host}:{mqtt}
mqtt.exchange = {mqtt_exchange}
mqtt.allow_anonymous = false
mqtt.prefetch = {prefetch}
# What is retained would stay in memory for good, and nobody may read it.
mqtt.retained_message_store = rabbit_mqtt_retained_msg_store_noop

# Service accounts are internal; for everybody else identity_service is asked.
auth_backends.1 = internal
auth_backends.2 = cache
auth_cache.cached_backend = http
auth_cache.cache_ttl = {cache_ms}
auth_http.http_method = post
auth_http.user_path = http://{host}:{identity}/broker/user
auth_http.vhost_path = http://{host}:{identity}/broker/vhost
auth_http.resource_path = http://{host}:{identity}/broker/resource
auth_http.topic_path = http://{host}:{identity}/broker/topic

# Definitions that are loaded at the start also keep the account "guest" from being made.
load_definitions = {definitions}

log.file = false
log.console = true
log.console.level = info
log.console.formatter = json
log.console.formatter.time_format = rfc3339_T
log.console.formatter.json.field_map = time:timestamp level msg:event *:-
"""


@dataclass(frozen=True, slots=True)
class BrokerPorts:
    """Where the node listens, all on the loopback interface."""

    amqp: int
    management: int
    distribution: int
    epmd: int
    mqtt: int


@dataclass(frozen=True, slots=True)
class RabbitMQNode:
    """A node in ``folder``; its data stays there between runs.

    Attributes:
        folder: Data, configuration and the node's home folder; made by ``prepare``.
        ports: Where it listens.
        identity_port: Where identity_service answers the node's questions about terminals.
        server: The ``rabbitmq-server`` script, or ``None`` to run it in a container.
    """

    folder: Path
    ports: BrokerPorts
    identity_port: int
    server: Path | None

    def prepare(self, definitions: Mapping[str, JsonValue]) -> None:
        """Write the node's files. ``definitions`` are imported at each of its starts."""
        for folder in (self.folder, self._home):
            private_folder(folder)
        (self.folder / "enabled_plugins").write_text(f"[{','.join(_PLUGINS)}].\n", encoding="utf-8")
        # They hold the accounts' passwords.
        write_private(self._definitions, json.dumps(definitions))
        configuration = _CONFIGURATION.format(
            host=LOOPBACK,
            amqp=self.ports.amqp,
            mqtt=self.ports.mqtt,
            mqtt_exchange=MQTT,
            prefetch=MQTT_PREFETCH,
            management=self.ports.management,
            identity=self.identity_port,
            cache_ms=_AUTHORISATION_CACHE_MS,
            max_message_bytes=BROKER_MAX_MESSAGE_BYTES,
            definitions=self._definitions,
        )
        (self.folder / "rabbitmq.conf").write_text(configuration, encoding="utf-8")

    def epmd(self) -> ProcessSpec | None:
        """Give the node's name server, to be started first; ``None`` when a container has its own.

        Left to itself the node would start one as a daemon that outlives it.

        Raises:
            NotInstalledError: Erlang's ``epmd`` is not where RabbitMQ would find it.
        """
        if self.server is None:
            return None
        program = shutil.which("epmd")
        if program is None:
            raise NotInstalledError(texts.EPMD_MISSING)
        argv = (program, "-port", str(self.ports.epmd), "-address", LOOPBACK)
        return ProcessSpec("epmd", argv, self._environment(), self.folder)

    def broker(self) -> ProcessSpec:
        """Give the node itself. Its process is the Erlang machine: SIGTERM stops it cleanly."""
        environment = self._environment()
        if self.server is not None:
            return ProcessSpec("broker", (str(self.server),), environment, self.folder)
        return ProcessSpec("broker", self._container(), environment, self.folder)

    def environment(self) -> dict[str, str]:
        """Give what tells the node about itself, to be added to an environment free of others'."""
        return {
            "HOME": str(self._home),  # the Erlang cookie lies there
            "LC_ALL": "C.UTF-8",
            "ERL_EPMD_ADDRESS": LOOPBACK,
            "ERL_EPMD_PORT": str(self.ports.epmd),
            "RABBITMQ_NODENAME": _NODE_NAME,
            "RABBITMQ_DIST_PORT": str(self.ports.distribution),
            "RABBITMQ_MNESIA_BASE": self._database_folder,
            "RABBITMQ_LOG_BASE": str(self.folder / "log"),
            "RABBITMQ_PID_FILE": str(self.folder / "pid"),
            "RABBITMQ_CONFIG_FILE": str(self.folder / "rabbitmq.conf"),
            "RABBITMQ_CONF_ENV_FILE": os.devnull,
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(self.folder / "enabled_plugins"),
            # "Input allowed" makes the start script become the Erlang machine rather than stay as
            # its parent, so that signals, also the kernel's at our death, reach the machine itself.
            "RABBITMQ_ALLOW_INPUT": "1",
            "RABBITMQ_SERVER_START_ARGS": "-noinput",
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": (
                f"-kernel inet_dist_use_interface {{127,0,0,1}} {_MQTT_LIMITS}"
            ),
        }

    @property
    def _home(self) -> Path:
        return self.folder / "home"

    @property
    def _database_folder(self) -> str:
        folder = str(self.folder / "mnesia")
        # The broker asks the shell for the free disk space without quoting the path. The same
        # folder by another name, seen from the node and from what it starts, has no space in it.
        return "/proc/self/cwd/mnesia" if any(char.isspace() for char in folder) else folder

    @property
    def _definitions(self) -> Path:
        return self.folder / "definitions.json"

    def _environment(self) -> dict[str, str]:
        # What the system's own RabbitMQ or another Erlang program was told must not reach this one.
        inherited = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("RABBITMQ_", "ERL_")) and name != "NOTIFY_SOCKET"
        }
        return inherited | self.environment()

    def _container(self) -> tuple[str, ...]:
        # The host's network and user, and the folder at the same path: everything is as it is
        # without a container. Docker's client cannot take its container along when it is killed,
        # so one that was left is removed first.
        name = f"contactmesh-{hashlib.sha256(str(self.folder).encode()).hexdigest()[:12]}"
        return (
            *("sh", "-c", 'docker rm -f "$0" >/dev/null 2>&1; exec docker "$@"', name),
            *("run", "--rm", "--name", name, "--network", "host"),
            *("--user", f"{os.getuid()}:{os.getgid()}"),
            *("--volume", f"{self.folder}:{self.folder}", "--workdir", str(self.folder)),
            *(word for passed in self.environment() for word in ("--env", passed)),
            *(IMAGE, "rabbitmq-server"),
        )


async def epmd_answers(port: int) -> bool:
    """Tell whether the name server on the loopback ``port`` answers."""
    try:
        reader, writer = await asyncio.open_connection(LOOPBACK, port)
    except OSError:
        return False
    try:
        writer.write(_EPMD_NAMES_REQUEST)
        return int.from_bytes(await reader.readexactly(4)) == port
    except (OSError, asyncio.IncompleteReadError):
        return False
    finally:
        writer.close()


def find_rabbitmq() -> Path | None:
    """Find the server to run: its script, or ``None`` for a container of ``IMAGE``.

    Raises:
        NotInstalledError: There is neither RabbitMQ nor a Docker Engine that has the image.
    """
    if _DEBIAN_SERVER.exists():
        return _DEBIAN_SERVER
    on_path = shutil.which("rabbitmq-server")
    if on_path is not None:
        return Path(on_path)
    if engine_has_image(IMAGE):
        return None
    raise NotInstalledError(texts.RABBITMQ_MISSING.format(image=IMAGE))
