"""Reading message properties that no honest client writes.

The client library gives the whole connection up over a timestamp beyond the year 9999, a text that
is not UTF-8 or headers that it cannot read, and takes seconds over headers that fill a frame. The
broker passes all of them on, so one message of one terminal would keep a service from all the
others. Services read nothing but routing key and message id: what cannot be read becomes something
harmless, and the message is judged by its body.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final

from pamqp import decode

Decoder = Callable[..., tuple[int, Any]]

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
LENGTH_BYTES: Final = 4
MOST_TABLE_BYTES: Final = 4096
"""What the broker tells of itself and what a parked message says of itself fit in. The library's
time grows with the square of a table's length."""


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


def _table(value: bytes) -> tuple[int, Any]:
    end = LENGTH_BYTES + int.from_bytes(value[:LENGTH_BYTES])
    if end > MOST_TABLE_BYTES:
        return end, {}
    try:
        return end, decode.field_table(value)[1]
    except (ValueError, ArithmeticError, RecursionError):
        return end, {}


def read_forgivingly() -> None:
    """Have the client library read what it would otherwise break off at."""
    decode.METHODS["timestamp"] = _timestamp
    decode.METHODS["shortstr"] = _short_text
    decode.METHODS["table"] = _table
    decode.TABLE_MAPPING[b"T"] = _timestamp
