"""Lines are folded at 75 octets, however long they are (RFC 6350, section 3.2)."""

from __future__ import annotations

from itertools import pairwise

import pytest
from tests.unit.contacts.vcards import again

from contactmesh.contacts import Card, write_vcards

MANY = 32 * 74
"""How much of embedded media is cut at a time."""


@pytest.mark.parametrize("letter", ["a", "é", "王", "😀"])
@pytest.mark.parametrize(
    "size",
    [1, 20, 68, 69, 70, 71, 143, 144, 145, 218, 1000, 4089, 4090, 4092, MANY * 2, MANY * 3 + 70],
)
def test_no_line_is_too_long_and_none_could_be_longer(letter: str, size: int) -> None:
    text = letter * size
    card = Card.model_validate({"uid": "u", "notes": {"note-1": {"note": text}}})
    (data,) = write_vcards([card])
    lines = data.split(b"\r\n")
    assert all(len(line) <= 75 for line in lines)
    for line, following in pairwise(lines):
        if following.startswith(b" "):
            assert len(line) + len(following[1:].decode()[0].encode()) > 75
    assert f"\r\nNOTE:{text}\r\n".encode() in data.replace(b"\r\n ", b"")


@pytest.mark.parametrize("photos", [["A" * 8000] * 2, ["A" * 8000, "B" * 5000, "C", "D" * 9000]])
def test_photos_stand_where_they_are(photos: list[str]) -> None:
    media = {
        f"photo-{number}": {"kind": "photo", "uri": f"data:image/jpeg;base64,{content}"}
        for number, content in enumerate(photos, 1)
    }
    card = Card.model_validate({"uid": "u", "media": media})
    (data,) = write_vcards([card], version="3.0")
    heads = "".join(f"PHOTO;ENCODING=b;TYPE=JPEG:{content}\r\n" for content in photos)
    assert heads.encode() in data.replace(b"\r\n ", b"")
    assert again(card, "3.0") == card
