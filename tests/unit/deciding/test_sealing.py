"""Cursors and tokens come back as they were given, or not at all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contactmesh.deciding.sealing import NotSealedHere, seal, unseal

PURPOSE = ("pull", "group", "lin")
TEXT = "AAZHSEYgQADHSZgUlMvNJbVhd7eGLpTD"


@given(st.binary(max_size=100))
def test_what_was_sealed_is_read_again(content: bytes) -> None:
    assert unseal(b"key", PURPOSE, seal(b"key", PURPOSE, content)) == content


def test_the_form_is_one_that_given_texts_already_have() -> None:
    content = (1_767_225_600_000_000).to_bytes(8, "big")
    assert seal(b"key", PURPOSE, content) == TEXT


@pytest.mark.parametrize(
    ("key", "purpose", "text"),
    [
        (b"other", PURPOSE, TEXT),
        (b"key", ("pull", "group", "bo"), TEXT),
        (b"key", ("sync", "group", "lin"), TEXT),
        (b"key", PURPOSE, "B" + TEXT[1:]),
        (b"key", PURPOSE, TEXT[:-1] + "b"),
        (b"key", PURPOSE, TEXT[:-4]),
        (b"key", PURPOSE, TEXT[4:]),
        (b"key", PURPOSE, TEXT + TEXT),
        (b"key", PURPOSE, "A"),
        (b"key", PURPOSE, ""),
        (b"key", PURPOSE, "林晓雨"),
    ],
)
def test_all_else_is_refused(key: bytes, purpose: tuple[str, ...], text: str) -> None:
    with pytest.raises(NotSealedHere):
        unseal(key, purpose, text)


@given(st.text(max_size=300))
def test_text_of_others_is_refused(text: str) -> None:
    with pytest.raises(NotSealedHere):
        unseal(b"key", PURPOSE, text)
