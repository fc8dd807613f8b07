"""One running system for each module: its tests have users and groups of their own."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from tests.backends import Backends
from tests.wire import System, running_system


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def system(
    backends: Backends, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[System]:
    """Every service as a process; the terminals are the test's."""
    async with running_system(backends, tmp_path_factory.mktemp("system")) as running:
        yield running
