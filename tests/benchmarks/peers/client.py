"""vdirsyncer by its command line, between a folder of .vcf files and a CardDAV book."""

import asyncio
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.peers.servers import USER

CONFIGURATION = """\
[general]
status_path = "{status}"

[pair book]
a = "here"
b = "there"
collections = null

[storage here]
type = "filesystem"
path = "{contacts}"
fileext = ".vcf"

[storage there]
type = "carddav"
url = "{url}"
username = "{user}"
password = "{user}"
"""


@dataclass(frozen=True)
class Client:
    """vdirsyncer, set up in a folder of its own."""

    configuration: Path
    contacts: Path

    @classmethod
    async def set_up(cls, folder: Path, url: str) -> "Client":
        """Have the pair of folder and book discovered, as its user does once."""
        client = cls(folder / "config", folder / "contacts")
        client.contacts.mkdir()
        client.configuration.write_text(
            CONFIGURATION.format(
                status=folder / "status", contacts=client.contacts, url=url, user=USER
            )
        )
        await client._run("discover")
        return client

    async def sync(self) -> float:
        """Sync; returns the seconds from its start as a process to its end."""
        start = time.perf_counter()
        await self._run("sync")
        return time.perf_counter() - start

    async def _run(self, command: str) -> None:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "vdirsyncer", "--verbosity=WARNING"),
            *(f"--config={self.configuration}", command),
            env=dict(os.environ),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        output, _ = await process.communicate()
        if process.returncode:
            raise SystemExit(f"vdirsyncer {command} failed:\n{output.decode()}")
