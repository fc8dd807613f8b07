"""Two people with a terminal each, on a system of their own."""

import logging
from collections.abc import Iterator

import pytest
import pytest_asyncio
import structlog
from tests.e2e.cli.person import Person
from tests.e2e.cli.sims import FIRST, MOBILE, SECOND, UNICOM

from contactmesh.local.stack import Stack


@pytest.fixture(autouse=True)
def _log_as_before() -> Iterator[None]:
    """What a command sets up for its process does not stay for the tests that follow."""
    configured = structlog.get_config()
    levels = {name: logging.getLogger(name).level for name in ("aio_pika", "aiormq", "mqtt")}
    yield
    structlog.configure(**configured)
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)


@pytest_asyncio.fixture
async def li_wei(stack: Stack) -> Person:
    person = Person("li-wei", stack.settings.data)
    await person.enrol("李伟", "--region", "CN")
    return person


@pytest_asyncio.fixture
async def bob(stack: Stack) -> Person:
    person = Person("bob", stack.settings.data)
    await person.enrol("Bob", "--name", "Bob's phone")
    return person


@pytest_asyncio.fixture
async def tablet(li_wei: Person) -> Person:
    """Li Wei's other terminal."""
    return await li_wei.with_another("tablet", "--region", "CN")


@pytest_asyncio.fixture
async def both(li_wei: Person, tablet: Person) -> None:
    """A SIM in each terminal, of two carriers; the second agrees to copies."""
    await li_wei.run("sim", "add", "--yes", MOBILE, FIRST)
    await tablet.run("sim", "add", "--yes", UNICOM, SECOND)
    await tablet.run("sim", "consent", UNICOM, "on")
