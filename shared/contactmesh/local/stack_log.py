"""The one log of a stack: what every process writes, kept in files and passed on to a reader."""

import json
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from contactmesh.local.log_file import LogFile

SUPERVISOR = "supervisor"

LogReader = Callable[[str, str], None]
"""Takes the name of the process that wrote, and the line as written."""


class StackLog:
    """Keeps the lines of each process in ``<folder>/<process>.jsonl``.

    Args:
        folder: Where the files are; it exists.
        reader: Also gets every line, for a person to read.
    """

    def __init__(self, folder: Path, reader: LogReader | None = None) -> None:
        self._folder = folder
        self._reader = reader
        self._files: dict[str, LogFile] = {}

    def path(self, process: str) -> Path:
        """Where the lines of ``process`` are kept."""
        return self._folder / f"{process}.jsonl"

    def write(self, process: str, line: str) -> None:
        """Take a line that ``process`` wrote."""
        # A full disk must not stop the process whose lines cannot be kept.
        with suppress(OSError):
            file = self._files.get(process)
            if file is None:
                file = self._files[process] = LogFile(self.path(process))
            file.write(line)
        if self._reader is not None:
            self._reader(process, line)

    def say(self, level: str, event: str, **fields: str | float) -> None:
        """Write a line of the supervisor's own, as services write theirs."""
        line = {
            "timestamp": datetime.now(UTC).isoformat(),
            "level": level,
            "event": event,
            "service": SUPERVISOR,
            **fields,
        }
        self.write(SUPERVISOR, json.dumps(line, ensure_ascii=False))

    def close(self) -> None:
        """Close the files."""
        for file in self._files.values():
            file.close()
