"""The embedded database: a MongoDB-compatible server in a process of its own.

Its licence is GPL-2.0-only, so it is run, never imported.
"""

import os
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from contactmesh.local import texts
from contactmesh.local.errors import NotInstalledError
from contactmesh.local.ports import LOOPBACK
from contactmesh.local.private_files import private_folder
from contactmesh.local.process import ProcessSpec

_PACKAGE = "secantus"


@dataclass(frozen=True, slots=True)
class EmbeddedDatabase:
    """A server that keeps its data in ``folder`` and listens on the loopback ``port``."""

    folder: Path
    port: int

    @property
    def url(self) -> str:
        """What clients connect to: majority and journaled writes, as production has them."""
        return f"mongodb://{LOOPBACK}:{self.port}/?directConnection=true&w=majority&journal=true"

    def prepare(self) -> None:
        """Make its folder and files.

        Raises:
            NotInstalledError: The server is not installed.
        """
        if find_spec(_PACKAGE) is None:
            raise NotInstalledError(texts.DATABASE_MISSING)
        private_folder(self.folder)
        # An empty configuration of its own keeps it from looking for one elsewhere.
        self._configuration.touch()

    def server(self) -> ProcessSpec:
        """Give the server's process."""
        argv = (
            *(sys.executable, "-m", _PACKAGE),
            *("--config", str(self._configuration)),
            *("--host", LOOPBACK, "--port", str(self.port)),
            *("--storage-path", str(self.folder / "data")),
            *("--cache-size", "256M"),
            *("--log-level", "WARNING"),
            "--sync-on-commit",  # without it a kill loses writes that were acknowledged
        )
        return ProcessSpec("database", argv, dict(os.environ), self.folder)

    @property
    def _configuration(self) -> Path:
        return self.folder / "secantusd.toml"
