"""The log of a stack as people read it: a line an event, aligned, coloured."""

import json
import unicodedata
from collections.abc import Mapping
from datetime import datetime

from rich.cells import set_cell_size
from rich.console import Console
from rich.text import Text

_LEVELS = ("debug", "info", "notice", "warning", "error", "critical")
_LEVEL_STYLES = {
    "debug": "dim",
    "info": "green",
    "notice": "green",
    "warning": "yellow",
    "error": "bold red",
    "critical": "bold white on red",
}
_NAME_STYLES = ("cyan", "magenta", "blue", "bright_cyan", "bright_magenta", "bright_blue")
_NAME_CELLS = 20
_LEVEL_CELLS = 8
# Complaints about nothing that anybody could change.
_BROKER_CHATTER = (
    "HTTP listener registry could not find context",
    "Message store ",
    # asked whether it is ready before it knows its accounts
    "HTTP access denied: User 'operator' authentication failed with internal error",
    "AMQP 0-9-1 client call timeout was ",
    # terminals that are connected while it stops
    "broker forced connection closure with reason 'shutdown'",
)
# While a system starts or stops there is nobody yet, or no more, whom it could ask about terminals.
_ALONE = ("econnrefused",)

# Control characters, invisible formatting such as reversed direction, lone surrogates.
_UNPRINTABLE = frozenset({"Cc", "Cf", "Cs"})
_SHOWN_ELSEWHERE = frozenset({"timestamp", "level", "event", "service"})

# The broker tells of each connection and each step of its start; people read what it complains of.
_FROM_LEVEL = {"broker": "warning"}


class LogView:
    """Shows log lines on ``console``.

    Args:
        console: Where to.
        from_level: Lines below this level are not shown.
        chatter: Whether the broker's complaints about nothing are shown too.

    Attributes:
        settled: Whether the system has started and does not stop.
    """

    def __init__(
        self, console: Console, *, from_level: str = "debug", chatter: bool = False
    ) -> None:
        self._console = console
        self._from_level = from_level
        self._chatter = chatter
        self.settled = True

    def show(self, process: str, line: str) -> None:
        """Show what ``process`` wrote: a JSON line as a readable one, any other line as it is."""
        text = self.render(process, line)
        if text is not None:
            self._console.print(text, soft_wrap=True)

    def render(self, process: str, line: str) -> Text | None:
        """Give the readable form of a line, or ``None`` when it is not to be shown."""
        fields = _fields(line)
        level = "info" if fields is None else str(fields.get("level", "info"))
        if process == "broker" and not self._chatter and self._is_chatter(fields):
            return None
        if _rank(level) < max(_rank(self._from_level), _rank(_FROM_LEVEL.get(process, "debug"))):
            return None
        time = datetime.now().astimezone() if fields is None else _time(fields.get("timestamp"))
        text = Text()
        text.append(f"{time:%H:%M:%S}.{time.microsecond // 1000:03d} ", style="dim")
        text.append(set_cell_size(process, _NAME_CELLS) + " ", style=_name_style(process))
        if fields is None:
            text.append(" " * (_LEVEL_CELLS + 1) + _printable(line))
            return text
        text.append(f"{level:<{_LEVEL_CELLS}} ", style=_LEVEL_STYLES.get(level, ""))
        text.append(_printable(str(fields.get("event", ""))), style="bold")
        for key, value in fields.items():
            if key not in _SHOWN_ELSEWHERE:
                text.append(f" {_printable(key)}=", style="dim")
                text.append(_printable(_value(key, value)))
        return text

    def _is_chatter(self, fields: Mapping[str, object] | None) -> bool:
        event = "" if fields is None else str(fields.get("event"))
        signs = _BROKER_CHATTER if self.settled else (*_BROKER_CHATTER, *_ALONE)
        return any(sign in event for sign in signs)


def _fields(line: str) -> Mapping[str, object] | None:
    try:
        content = json.loads(line)
    except ValueError:
        return None
    return content if isinstance(content, dict) else None


def _time(timestamp: object) -> datetime:
    try:
        return datetime.fromisoformat(str(timestamp)).astimezone()
    except ValueError:
        return datetime.now().astimezone()


def _rank(level: str) -> int:
    return _LEVELS.index(level) if level in _LEVELS else _LEVELS.index("info")


def _name_style(process: str) -> str:
    # The same in every run, and the same for all copies of a service.
    service = process.partition("#")[0]
    return _NAME_STYLES[sum(service.encode()) % len(_NAME_STYLES)]


def _value(key: str, value: object) -> str:
    if key == "exception" and isinstance(value, list) and value and isinstance(value[-1], dict):
        # A traceback as data; the whole of it is in the file.
        return f"{value[-1].get('exc_type')}: {value[-1].get('exc_value')}"
    if isinstance(value, str):
        return (
            value
            if value and not any(part.isspace() for part in value)
            else json.dumps(value, ensure_ascii=False)
        )
    return json.dumps(value, ensure_ascii=False)


def _printable(text: str) -> str:
    """Show control characters rather than obey them: a log must not drive the terminal."""
    return "".join(
        ascii(char)[1:-1] if unicodedata.category(char) in _UNPRINTABLE else char
        for char in text.expandtabs()
    )
