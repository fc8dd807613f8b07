"""Files that only their owner may read: secrets, and what points to them."""

import os
import secrets
import tempfile
from pathlib import Path

_OWNER_ONLY = 0o700


def private_folder(path: Path) -> Path:
    """Make the folder ``path``, readable by its owner alone, if it is not there; give it back."""
    path.mkdir(mode=_OWNER_ONLY, parents=True, exist_ok=True)
    return path


def write_private(path: Path, text: str) -> None:
    """Write ``text`` to ``path`` with mode 0600, atomically: a reader sees the old or the new."""
    # mkstemp makes the file with mode 0600, so it is never readable by others, however briefly.
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        # Cancelled or failed: what was begun is undone, and the reason passes.
        Path(temporary).unlink(missing_ok=True)
        raise


def secret(path: Path, *, size: int = 32) -> str:
    """Read the secret kept in ``path``, made of ``size`` random bytes (as hex) the first time."""
    try:
        kept = path.read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        kept = ""
    if kept:
        return kept
    made = secrets.token_hex(size)
    write_private(path, made)
    return made
