"""Secrets from files: the line end goes, all else stays."""

from pathlib import Path

import pytest

from contactmesh.runtime.settings import SecretTooShort, read_secret


@pytest.mark.parametrize(
    ("content", "secret"),
    [
        (b"secret", b"secret"),
        (b"secret\n", b"secret"),
        (b"secret\r\n", b"secret"),
        (b"\tsecret \n\n", b"\tsecret \n"),
        (b"secret\r", b"secret\r"),
        (b"\n", b""),
    ],
)
def test_only_the_line_end_is_taken_away(tmp_path: Path, content: bytes, secret: bytes) -> None:
    path = tmp_path / "secret"
    path.write_bytes(content)
    assert read_secret(path) == secret


def test_a_secret_that_is_too_short_is_told_without_it(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.write_bytes(b"hunter2\n")
    assert read_secret(path, minimum=7) == b"hunter2"
    with pytest.raises(SecretTooShort, match="needs 8 bytes and has 7") as caught:
        read_secret(path, minimum=8)
    assert "hunter2" not in str(caught.value)
