"""CardDAV servers of this run's own, each on a free port with an empty book.

Each is as it comes: Radicale keeps a file a contact and waits for the disk, Xandikos a commit. Only
their logs are turned down, since writing them costs time.
"""

import os
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from xml.etree import ElementTree as ET

from aiohttp import BasicAuth, ClientSession

from contactmesh.local.ports import LOOPBACK, free_ports
from contactmesh.local.process import Process, ProcessSpec
from contactmesh.local.waiting import accepts_connections, until

NAMES = ("radicale", "xandikos")
START_SECONDS = 60
USER = "bench"
"""Whose book it is; neither server asks for the right password."""
AUTH = BasicAuth(USER, USER)
NEW_BOOK = """<?xml version="1.0" encoding="utf-8"?>
<mkcol xmlns="DAV:" xmlns:CR="urn:ietf:params:xml:ns:carddav"><set><prop>
<resourcetype><collection/><CR:addressbook/></resourcetype></prop></set></mkcol>"""


@dataclass(frozen=True)
class Server:
    """A running server; `book` is the address of the book, with a slash at its end."""

    name: str
    book: str

    async def hrefs(self) -> list[str]:
        """What lies in the book, as the server lists it."""
        async with (
            ClientSession(auth=AUTH) as http,
            http.request("PROPFIND", self.book, headers={"Depth": "1"}) as answer,
        ):
            assert answer.status == HTTPStatus.MULTI_STATUS, await answer.text()
            # What we started ourselves sends no bombs.
            listing = ET.fromstring(await answer.text())  # noqa: S314
        found = (element.text or "" for element in listing.iter("{DAV:}href"))
        return sorted({href for href in found if href.endswith(".vcf")})

    async def card(self, href: str) -> str:
        """One contact as the server gives it."""
        url = self.book[: self.book.index("/", len("http://"))] + href
        async with ClientSession(auth=AUTH) as http, http.get(url) as answer:
            assert answer.status == HTTPStatus.OK, await answer.text()
            return await answer.text()


@asynccontextmanager
async def serving(name: str, folder: Path) -> AsyncIterator[Server]:
    """Run one of `NAMES` with its data in `folder`; it ends with the block."""
    (port,) = free_ports(1)
    root = f"http://{LOOPBACK}:{port}"
    match name:
        case "radicale":
            arguments, book = _radicale(folder, port), f"{root}/{USER}/book/"
        case _:
            arguments, book = _xandikos(folder, port), f"{root}/user/contacts/addressbook/"
    spec = ProcessSpec(
        name=name,
        argv=(sys.executable, "-m", name, *arguments),
        environment=dict(os.environ),
        folder=folder,
    )
    async with AsyncExitStack() as running:
        process = await Process.start(spec, log=folder / f"{name}.log")
        running.push_async_callback(process.wait)
        running.callback(process.kill)  # its data is thrown away: nothing to stop cleanly for
        await until(lambda: accepts_connections(LOOPBACK, port), seconds=START_SECONDS)
        server = Server(name, book)
        if name == "radicale":
            await _make_book(book)
        yield server


def _radicale(folder: Path, port: int) -> tuple[str, ...]:
    return (
        f"--server-hosts={LOOPBACK}:{port}",
        "--auth-type=none",
        f"--storage-filesystem-folder={folder / 'collections'}",
        "--logging-level=error",
    )


def _xandikos(folder: Path, port: int) -> tuple[str, ...]:
    return (
        "serve",
        f"--directory={folder / 'collections'}",
        f"--state-dir={folder / 'state'}",
        f"--listen-address={LOOPBACK}",
        f"--port={port}",
        "--current-user-principal=/user/",
        "--defaults",
    )


async def _make_book(book: str) -> None:
    async with (
        ClientSession(auth=AUTH) as http,
        http.request("MKCOL", book, data=NEW_BOOK) as answer,
    ):
        assert answer.status == HTTPStatus.CREATED, await answer.text()
