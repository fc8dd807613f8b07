"""One running system for each module: its tests have users, carriers and numbers of their own."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from tests.backends import Backends
from tests.wire import System, running_system

SERVICE = "carrier_registry_service"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def system(
    backends: Backends, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[System]:
    """Every service as a process, the registry as two; the terminals are the test's."""
    folder = tmp_path_factory.mktemp("system")
    async with running_system(
        backends,
        folder,
        scale={SERVICE: 2},
        environment={
            SERVICE: {
                "CONTACTMESH_IDENTITIES_PER_DAY": "25",
                "CONTACTMESH_FAILED_REFERENCES_PER_HOUR": "6",
                "CONTACTMESH_GRANTS_LIMIT": "8",
                "CONTACTMESH_DIAL_ORDERS_LIMIT": "5",
            }
        },
    ) as running:
        yield running
