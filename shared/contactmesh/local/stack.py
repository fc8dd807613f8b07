"""A whole ContactMesh on one machine: broker, database and every service, under one supervisor."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from enum import Enum
from http import HTTPStatus
from pathlib import Path
from types import TracebackType
from typing import Self

from aiohttp import ClientError, ClientSession, ClientTimeout

from contactmesh.local import texts
from contactmesh.local.backends import (
    PORT_NAMES,
    embedded_database,
    given_broker,
    private_broker,
)
from contactmesh.local.errors import StackSettingsError
from contactmesh.local.ports import LOOPBACK, is_free, kept_ports, ports_file, remembered_ports
from contactmesh.local.private_files import private_folder
from contactmesh.local.process import ProcessSpec
from contactmesh.local.secrets import StackSecrets
from contactmesh.local.services import copy_name, service_spec
from contactmesh.local.settings import SERVICE_NAMES, StackSettings
from contactmesh.local.stack_info import (
    ServiceProcess,
    StackInfo,
    find_stack,
    remove_stack_info,
    write_stack_info,
)
from contactmesh.local.stack_lock import stack_lock
from contactmesh.local.stack_log import LogReader, StackLog
from contactmesh.local.supervisor import SupervisedProcess
from contactmesh.local.waiting import until

__all__ = ["ServiceProcess", "Stack", "StackInfo", "StackSettings", "Step", "find_stack"]

_IDENTITY = "identity_service"
_SERVER_START_SECONDS = 90.0
_SERVICE_START_SECONDS = 60.0
# The broker's node takes some six seconds to close its queues in order.
_SERVER_GRACE_SECONDS = 30.0
_PROBE_SECONDS = 2.0
_LET_GO_SECONDS = 3.0


class Step(Enum):
    """How far a process is, for those who watch a stack start and stop."""

    STARTING = "starting"
    READY = "ready"
    STOPPING = "stopping"
    STOPPED = "stopped"


StepWatcher = Callable[[str, Step], None]
"""Is told the name of a process and how far it is."""


@dataclass(frozen=True, slots=True)
class _Copy:
    process: SupervisedProcess
    service: str
    number: int
    http_port: int


class Stack:
    """A running system; an async context manager that starts all of it and stops all of it.

    It must be entered in the main thread, since the kernel ties child processes to the thread that
    started them.

    Args:
        settings: How it is made up.
        log_reader: Gets each line that a process writes, as it is written.
        watcher: Is told how far each process is while the stack starts and stops.
    """

    def __init__(
        self,
        settings: StackSettings,
        *,
        log_reader: LogReader | None = None,
        watcher: StepWatcher = lambda _name, _step: None,
    ) -> None:
        self.settings = settings.model_copy(update={"data": settings.data.expanduser().absolute()})
        self._log_reader = log_reader
        self._watcher = watcher
        self._running = AsyncExitStack()
        self._supervised: list[SupervisedProcess] = []
        self._copies: dict[tuple[str, int], _Copy] = {}
        self._started = False
        self._hastened = False

    async def __aenter__(self) -> Self:
        """Start everything and wait until it is ready.

        Raises:
            LocalStackError: It could not be started; what had been is stopped again.
        """
        try:
            await self._start()
        except BaseException:
            # Cancelled or failed: what was begun is undone, and the reason passes.
            await self._running.aclose()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._started = False
        await self._running.aclose()

    @property
    def amqp_url(self) -> str:
        """The broker's virtual host, as the operator: not for logs."""
        return self._broker.url

    @property
    def terminal_amqp_url(self) -> str:
        """The broker's virtual host as terminals are told it: without credentials."""
        return self._broker.terminal_url

    @property
    def terminal_mqtt_url(self) -> str | None:
        """The same for MQTT, if the broker offers it."""
        return self._broker.mqtt_url

    @property
    def broker_management_url(self) -> str | None:
        """The broker's management API with an administrator's account: not for logs."""
        return self._broker.management_url

    @property
    def mongodb_url(self) -> str:
        """The database server."""
        return self._mongodb_url

    @property
    def identity_url(self) -> str:
        """The HTTP interface of identity_service."""
        return f"http://{LOOPBACK}:{self._identity_port}"

    @property
    def operator_token_file(self) -> Path:
        """What shows identity_service that an operator is asking."""
        return self._secrets.operator_token_file

    @property
    def services(self) -> list[ServiceProcess]:
        """Every copy of every service as it is now."""
        return [
            ServiceProcess(
                name=copy.service, copy=copy.number, pid=copy.process.pid, http_port=copy.http_port
            )
            for copy in self._copies.values()
        ]

    @property
    def info(self) -> StackInfo:
        """Where everything is."""
        return StackInfo(
            identity_url=self.identity_url,
            operator_token_file=self.operator_token_file,
            amqp_url=self.amqp_url,
            mongodb_url=self.mongodb_url,
            broker_management_url=self.broker_management_url,
            services=self.services,
        )

    def log_path(self, service: str, copy: int = 1) -> Path:
        """Where the log lines of a service's copy are kept."""
        return self._log.path(copy_name(service, copy))

    def kill(self, service: str, copy: int = 1) -> None:
        """Kill one copy as ``kill -9`` does; the supervisor starts it again after a moment."""
        self._copy(service, copy).process.kill()

    async def stop(
        self, service: str, copy: int = 1, *, grace_seconds: float | None = None
    ) -> None:
        """Stop one copy cleanly and leave it so.

        Args:
            service: Its name.
            copy: Its number, from 1.
            grace_seconds: What it gets before it is killed; 0 kills it at once.
        """
        await self._copy(service, copy).process.stop(grace_seconds=grace_seconds)
        self._write_info()

    async def start(
        self, service: str, copy: int = 1, *, environment: Mapping[str, str] | None = None
    ) -> None:
        """Start a copy that was stopped, and wait until it is ready.

        Args:
            service: Its name.
            copy: Its number, from 1.
            environment: Added to its environment for this one start: when the supervisor starts it
                again after a death, it is without it.

        Raises:
            DidNotStartError: It did not come up.
        """
        started = self._copy(service, copy)
        await started.process.start(environment)
        await self._until_ready(started)

    async def until_ready(self) -> None:
        """Wait until every copy of every service that is not stopped is ready.

        Raises:
            DidNotStartError: One died, or was not ready in time.
        """
        await _all(self._until_ready(copy) for copy in self._copies.values() if copy.process.wanted)

    def hasten(self) -> None:
        """Have done with grace: what still runs is killed, now and as the stack goes on stopping.

        Nothing that was acknowledged is lost by it.
        """
        self._hastened = True
        for process in self._supervised:
            process.kill()

    # --- starting ---------------------------------------------------------------------------------

    async def _start(self) -> None:
        settings = self.settings
        data = private_folder(settings.data)
        self._running.enter_context(stack_lock(data))
        remove_stack_info(data)  # a kill may have left it
        self._log = StackLog(private_folder(data / "logs"), self._log_reader)
        self._running.callback(self._log.close)
        self._running.callback(remove_stack_info, data)
        self._secrets = StackSecrets(data / "secrets")
        copies = [
            (service, number)
            for service in SERVICE_NAMES
            for number in range(1, settings.copies(service) + 1)
        ]
        names = (*PORT_NAMES, *(copy_name(*copy) for copy in copies))
        ports = await self._choose_ports(ports_file(data), names)
        self._identity_port = ports[copy_name(_IDENTITY, 1)]
        await self._start_backends(ports)
        self._running.push_async_callback(self._stop_services)
        await _all(
            self._start_service(service, number, ports[copy_name(service, number)])
            for service, number in copies
        )
        self._started = True
        self._write_info()

    async def _choose_ports(self, file: Path, names: Sequence[str]) -> dict[str, int]:
        kept = kept_ports(file)

        async def all_free() -> bool:
            return all(is_free(port) for name, port in kept.items() if name in names)

        # The processes of a stack that was killed may be about to let go of theirs.
        with suppress(TimeoutError):
            await until(all_free, seconds=_LET_GO_SECONDS)
        ports = remembered_ports(file, names)
        identity = copy_name(_IDENTITY, 1)
        if self.settings.identity_port is not None:
            ports[identity] = self.settings.identity_port
        for name in ("amqp", "mqtt", identity):
            if kept.get(name, ports[name]) != ports[name]:
                self._log.say("warning", texts.PORT_CHANGED, port_of=name, port=ports[name])
        return ports

    async def _start_backends(self, ports: Mapping[str, int]) -> None:
        settings = self.settings
        # Stopped in the reverse order of starting; the two start side by side, so each has a stack.
        broker_running = await self._running.enter_async_context(AsyncExitStack())
        database_running = await self._running.enter_async_context(AsyncExitStack())

        async def start_broker() -> None:
            if settings.amqp_url is not None:
                self._broker = await given_broker(settings, settings.amqp_url)
            else:
                self._broker = await private_broker(
                    settings,
                    self._secrets,
                    ports,
                    self._identity_port,
                    self._supervise_in(broker_running),
                )

        async def start_database() -> None:
            if settings.mongodb_url is not None:
                self._mongodb_url = settings.mongodb_url.get_secret_value()
            else:
                self._mongodb_url = await embedded_database(
                    settings, ports, self._supervise_in(database_running)
                )

        await _all([start_broker(), start_database()])

    def _supervise_in(
        self, running: AsyncExitStack
    ) -> Callable[[ProcessSpec, Callable[[], Awaitable[bool]]], Awaitable[None]]:
        async def supervise(spec: ProcessSpec, ready: Callable[[], Awaitable[bool]]) -> None:
            process = self._new(spec, grace_seconds=_SERVER_GRACE_SECONDS)
            self._watcher(spec.name, Step.STARTING)
            running.push_async_callback(self._stop, process)
            await process.start()
            await process.until_ready(ready, seconds=_SERVER_START_SECONDS)
            self._watcher(spec.name, Step.READY)

        return supervise

    async def _start_service(self, service: str, number: int, http_port: int) -> None:
        spec = service_spec(
            service,
            number,
            http_port=http_port,
            settings=self.settings,
            broker=self._broker,
            mongodb_url=self._mongodb_url,
            secrets=self._secrets,
        )
        process = self._new(spec, grace_seconds=self.settings.grace_seconds)
        copy = self._copies[service, number] = _Copy(process, service, number, http_port)
        self._watcher(spec.name, Step.STARTING)
        await process.start()
        await self._until_ready(copy)
        self._watcher(spec.name, Step.READY)

    def _new(self, spec: ProcessSpec, *, grace_seconds: float) -> SupervisedProcess:
        process = SupervisedProcess(
            spec, self._log, grace_seconds=grace_seconds, on_start=self._write_info
        )
        self._supervised.append(process)
        return process

    async def _until_ready(self, copy: _Copy) -> None:
        url = f"http://{LOOPBACK}:{copy.http_port}/readyz"
        async with ClientSession(timeout=ClientTimeout(total=_PROBE_SECONDS)) as session:

            async def ready() -> bool:
                try:
                    async with session.get(url) as response:
                        return response.status == HTTPStatus.OK
                except (ClientError, TimeoutError):
                    return False

            await copy.process.until_ready(ready, seconds=_SERVICE_START_SECONDS)

    def _write_info(self) -> None:
        if self._started:
            write_stack_info(self.settings.data, self.info)

    # --- stopping ---------------------------------------------------------------------------------

    async def _stop_services(self) -> None:
        await _all(self._stop(copy.process) for copy in self._copies.values())

    async def _stop(self, process: SupervisedProcess) -> None:
        self._watcher(process.name, Step.STOPPING)
        await process.stop(grace_seconds=0 if self._hastened else None)
        self._watcher(process.name, Step.STOPPED)

    def _copy(self, service: str, number: int) -> _Copy:
        try:
            return self._copies[service, number]
        except KeyError:
            raise StackSettingsError(
                texts.NO_SUCH_COPY.format(name=copy_name(service, number))
            ) from None


async def _all(work: Iterable[Coroutine[None, None, None]]) -> None:
    """Do ``work`` side by side; the first failure ends the rest and is raised as it is."""
    try:
        async with asyncio.TaskGroup() as group:
            for part in work:
                group.create_task(part)
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None
