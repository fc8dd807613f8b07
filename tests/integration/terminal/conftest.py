"""A terminal of alice at a real broker with a scripted service, or people with all services."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import pytest_asyncio
from tests.backends import Backends, Broker
from tests.integration.identity_service.breakable_line import BreakableLine, breakable_line
from tests.integration.terminal.people import People
from tests.integration.terminal.scripted_identity import ScriptedIdentity, scripted_identity
from tests.integration.terminal.scripted_service import ScriptedService, scripted_service
from tests.wire import System, running_system

from contactmesh.contracts.identity import Credentials
from contactmesh.messaging.connection import declare_terminal_queue
from contactmesh.messaging.topology import terminal_queue
from contactmesh.terminal import Enrolment, Terminal, TerminalFolder

ALICE = "alice_aaaaaaaa"

MakeTerminal = Callable[..., Terminal]


@pytest_asyncio.fixture
async def service(broker: Broker) -> AsyncIterator[ScriptedService]:
    async with scripted_service(broker.url) as running:
        yield running


@pytest_asyncio.fixture
async def identity() -> AsyncIterator[ScriptedIdentity]:
    async with scripted_identity() as running:
        yield running


@pytest_asyncio.fixture
async def line(broker: Broker) -> AsyncIterator[BreakableLine]:
    async with breakable_line(broker.url) as line:
        yield line


@pytest_asyncio.fixture
async def queue(broker: Broker) -> str:
    return await declare_terminal_queue(broker.url, ALICE, "alice")


@pytest.fixture
def folder(tmp_path: Path, line: BreakableLine, identity: ScriptedIdentity) -> Path:
    """An enrolled terminal's folder; the broker is reached over the line, as an administrator."""
    credentials = Credentials(
        user_id="alice",
        display_name="Alice",
        terminal_id=ALICE,
        secret="not used: the URL has another user",
        queue=terminal_queue(ALICE),
        broker_url=line.url,
    )
    path = tmp_path / "alice's phone"
    TerminalFolder(path).write(Enrolment(identity_url=identity.url, credentials=credentials))
    return path


@pytest.fixture
def make_terminal(folder: Path) -> MakeTerminal:
    """Make the terminal, impatient, and without pulling by itself unless a test asks for it."""

    def make(**options: object) -> Terminal:
        impatient = {"pull": False, "reply_seconds": 0.3, "deadline_seconds": 20.0}
        return Terminal(folder, **{**impatient, **options})  # type: ignore[arg-type]

    return make


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def system(
    backends: Backends, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[System]:
    """Every service as a process, for one module's tests."""
    async with running_system(backends, tmp_path_factory.mktemp("system")) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="module")
async def people(system: System, tmp_path: Path) -> AsyncIterator[People]:
    """Makes users of the system, and runs their terminals until the test ends."""
    async with AsyncExitStack() as running:
        yield People(system, tmp_path, running)
