"""Files of any size are read in bounded memory, and one bad card costs no other."""

from __future__ import annotations

import io
import time
import tracemalloc
from collections.abc import Iterator
from itertools import islice

import pytest
from tests.unit.contacts.vcards import vcard

from contactmesh.contacts import Card, CardLimits, Damage, display_name, read_vcards, write_vcards
from contactmesh.contacts.vcard import register
from contactmesh.contacts.vcard.register import Holder, UidRegister


class Stream(io.RawIOBase):
    """A file that is made while it is read."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        return next(self._pieces, b"")


def people(count: int) -> Iterator[bytes]:
    for number in range(count):
        yield vcard(f"UID:urn:uuid:{number}", f"FN:Person {number}", "NOTE:" + "long " * 400)


def peak_bytes(pieces: Iterator[bytes]) -> int:
    tracemalloc.start()
    for item in read_vcards(Stream(pieces)):  # type: ignore[arg-type]
        assert isinstance(item, Card)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


def test_memory_does_not_grow_with_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(register, "_MOST_IN_MEMORY", 50)
    peak_bytes(people(10))
    assert peak_bytes(people(1200)) < peak_bytes(people(300)) + 64 * 1024


def test_a_card_is_given_out_before_the_next_is_read() -> None:
    taken = 0

    def counted() -> Iterator[bytes]:
        nonlocal taken
        for piece in people(1_000_000):
            taken += 1
            yield piece

    items = read_vcards(Stream(counted()))  # type: ignore[arg-type]
    assert [display_name(item) for item in islice(items, 2) if isinstance(item, Card)] == [
        "Person 0",
        "Person 1",
    ]
    assert taken < 10


MIXED = (
    *people(2),
    b"junk\r\n",
    vcard("FN:王小明", "NOTE:a", b" b", b"\tc", "TEL:1"),
    vcard("FN;ENCODING=QUOTED-PRINTABLE:=E7=8E=8B=", "=E5=B0=8F", version="2.1"),
    vcard("FN:A", "no property", "TEL:1"),
    vcard("FN:B", "AGENT:", "BEGIN:VCARD", "FN:C", "END:VCARD", "TEL:1"),
    b"BEGIN : vcard\r\nVERSION:3.0\r\nFN:D\r\nend:VCARD",
)


@pytest.mark.parametrize("end", [b"\r\n", b"\n", b"\r", b"\r\r\n"], ids=repr)
@pytest.mark.parametrize("size", [1, 7, 64, 1 << 20])
def test_it_matters_neither_how_lines_end_nor_where_the_pieces_of_a_stream_end(
    size: int, end: bytes
) -> None:
    data = b"".join(MIXED).replace(b"\r\n", end)
    pieces = iter([data[at : at + size] for at in range(0, len(data), size)])
    items = list(read_vcards(Stream(pieces)))  # type: ignore[arg-type]
    assert items == list(read_vcards(b"".join(MIXED)))
    assert [item.line for item in items if isinstance(item, Damage)] == [13, 30]


@pytest.mark.parametrize("other", [b"\n", b"\r", b"\r\r\n"], ids=repr)
@pytest.mark.parametrize("every", [2, 3, 5])
def test_line_ends_may_be_mixed(other: bytes, every: int) -> None:
    lines = b"".join(MIXED).split(b"\r\n")
    data = lines[0] + b"".join(
        (other if number % every == 0 else b"\r\n") + line
        for number, line in enumerate(lines[1:], start=1)
    )
    assert list(read_vcards(data)) == list(read_vcards(b"".join(MIXED)))


@pytest.mark.parametrize("noise", [b"NOTE:" + b"x" * 4000 + b"\r\n", b"x" * 4000])
def test_a_card_over_the_limit_is_skipped_in_bounded_memory(noise: bytes) -> None:
    limits = CardLimits(card_bytes=20_000, media_bytes=10_000)

    def pieces() -> Iterator[bytes]:
        yield vcard("FN:First")
        yield b"BEGIN:VCARD\r\nVERSION:3.0\r\n"
        for _ in range(500):
            yield noise
        yield b"\r\nEND:VCARD\r\n"
        yield vcard("FN:Last")

    tracemalloc.start()
    items = list(read_vcards(Stream(pieces()), limits=limits))  # type: ignore[arg-type]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [display_name(item) for item in items if isinstance(item, Card)] == ["First", "Last"]
    (damage,) = [item for item in items if isinstance(item, Damage)]
    assert "larger than the limit" in damage.reason
    assert peak < 1_000_000


def test_writing_takes_one_card_at_a_time() -> None:
    taken = 0

    def cards() -> Iterator[Card]:
        nonlocal taken
        while True:
            taken += 1
            yield Card(uid=str(taken))

    written = write_vcards(cards())
    assert b"UID:2" in list(islice(written, 2))[1]
    assert taken == 2


def test_the_first_holder_of_a_uid_is_known_however_long_ago(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(register, "_MOST_IN_MEMORY", 10)
    uids = UidRegister()
    for number in range(100):
        assert uids.first_holder(f"u{number}", Holder(number, f"P{number}")) is None
    assert uids.first_holder("u3", Holder(200, "Other")) == Holder(3, "P3")
    assert uids.first_holder("u99", Holder(201, "Other")) == Holder(99, "P99")
    uids.close()
    uids.close()


def test_reading_stops_when_nobody_wants_more() -> None:
    items = read_vcards(b"".join(people(3)))
    next(items)
    items.close()  # type: ignore[attr-defined]
    assert list(items) == []


HOSTILE = {
    "many entries with chosen keys": b"\r\n".join(
        b"TEL;PROP-ID=tel-%d:1" % number for number in range(9000, 0, -1)
    ),
    "many entries with the same key": b"TEL;PROP-ID=a:1\r\n" * 9000,
    "a long head": b"TEL" + b";A=b" * 50_000 + b":1",
    "quotes that do not pair": b'TEL;A="' * 30_000 + b":1",
    "escapes without end": b"N:" + b"\\" * 200_001,
    "fields without end": b"N:" + b";," * 100_000,
    "labels without end": b"item1.X-ABLabel:a\r\nitem1.TEL:1\r\n" * 5000,
    "soft line breaks without end": b"NOTE;ENCODING=QUOTED-PRINTABLE:a=\r\n" * 6000,
    "folds without end": b"NOTE:a" + b"\r\n x" * 50_000,
    "cards inside cards": b"AGENT:\r\nBEGIN:VCARD\r\n" * 5000,
    "brackets without end": b"JSPROP;JSPTR=a:" + b"[" * 200_000,
    "patches without end": b"JSPROP;JSPTR=notes:{}\r\n" * 2000,
    "blank lines without end": b"\r\n" * 100_000,
}


@pytest.mark.parametrize("lines", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_card_takes_no_longer_than_its_size_allows(lines: bytes) -> None:
    start = time.process_time()
    items = list(read_vcards(vcard(lines) + vcard("FN:Last")))
    for item in items:
        if isinstance(item, Card):
            b"".join(write_vcards([item]))
    assert time.process_time() - start < 5
    assert isinstance(items[-1], Card | Damage)
