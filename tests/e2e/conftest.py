"""A running system with people and carriers, for each module."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest
import pytest_asyncio
from tests.backends import Backends
from tests.e2e.town import Carrier, Town
from tests.wire import running_system


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def town(backends: Backends, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Town]:
    folder = tmp_path_factory.mktemp("town")
    async with running_system(backends, folder) as system, AsyncExitStack() as running:
        yield Town(system, folder / "terminals", running)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def mobile(town: Town) -> Carrier:
    return await town.carrier("cn-mobile")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def unicom(town: Town) -> Carrier:
    return await town.carrier("cn-unicom")
