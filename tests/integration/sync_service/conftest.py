"""One running system for each module: its tests have users and address books of their own."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from tests.backends import Backends
from tests.wire import System, running_system

SERVICE = "sync_service"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def system(
    backends: Backends, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[System]:
    """Every service as a process, this one as two."""
    folder = tmp_path_factory.mktemp("system")
    async with running_system(backends, folder, scale={SERVICE: 2}) as running:
        yield running
