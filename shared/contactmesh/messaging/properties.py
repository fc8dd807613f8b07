"""Reading message properties that no honest client writes.

The client library gives the whole connection up over a timestamp beyond the year 9999 or a text
that is not UTF-8. The broker passes both on, so one message of one terminal would keep a service
from all the others. We read nothing but routing key and message id: what cannot be read becomes
something harmless, and the message is judged by its body.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final

from pamqp import decode

Decoder = Callable[..., tuple[int, Any]]

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def _timestamp(value: bytes) -> tuple[int, Any]:
    try:
        return decode.timestamp(value)
    except (ValueError, OverflowError, OSError):
        return 8, EPOCH


def _short_text(value: bytes) -> tuple[int, Any]:
    try:
        return decode.short_str(value)
    except UnicodeDecodeError:
        end = value[0] + 1
        return end, value[1:end].decode(errors="replace")


def read_forgivingly() -> None:
    """Have the client library read what it would otherwise break off at."""
    decode.METHODS["timestamp"] = _timestamp
    decode.METHODS["shortstr"] = _short_text
    decode.TABLE_MAPPING[b"T"] = _timestamp
