"""A log file of bounded size."""

import os
from pathlib import Path
from typing import TextIO

_OWNER_ONLY = 0o600
_LARGEST_BYTES = 16 * 1024 * 1024


class LogFile:
    """Lines appended to ``path``; a full file becomes ``<path>.1``, and the one before it goes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = self._open()

    def write(self, line: str) -> None:
        """Append ``line``, seen at once by whoever follows the file."""
        self._file.write(line + "\n")
        self._file.flush()
        if self._file.tell() >= _LARGEST_BYTES:
            self._file.close()
            self.path.replace(self.path.with_name(f"{self.path.name}.1"))
            self._file = self._open()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _open(self) -> TextIO:
        # Who talks to whom is nobody else's business. A file of an earlier version may be wider.
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, _OWNER_ONLY)
        os.fchmod(descriptor, _OWNER_ONLY)
        return os.fdopen(descriptor, "a", encoding="utf-8", errors="replace")
