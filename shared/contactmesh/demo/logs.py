"""Where the terminals' own log lines go: they run in this process and are no part of the story."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import structlog


@contextmanager
def logging_to(path: Path) -> Iterator[None]:
    """Send every log line of this process to a file."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    root = logging.getLogger()
    with path.open("a", encoding="utf-8") as file:
        handler = logging.StreamHandler(file)
        root.addHandler(handler)
        structlog.configure(logger_factory=structlog.WriteLoggerFactory(file=file))
        try:
            yield
        finally:
            structlog.reset_defaults()
            root.removeHandler(handler)
