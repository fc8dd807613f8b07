from pathlib import Path
from stat import S_IMODE

import pytest

from contactmesh.local.private_files import private_folder, secret, write_private


def test_only_the_owner_may_read(tmp_path: Path) -> None:
    folder = private_folder(tmp_path / "some" / "secrets")
    write_private(folder / "file", "text")
    assert S_IMODE(folder.stat().st_mode) == 0o700
    assert S_IMODE((folder / "file").stat().st_mode) == 0o600


def test_writing_replaces_the_whole_and_leaves_nothing_beside(tmp_path: Path) -> None:
    write_private(tmp_path / "file", "a long first text")
    write_private(tmp_path / "file", "short")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["short"]


def test_a_failed_write_leaves_the_old_content_alone(tmp_path: Path) -> None:
    write_private(tmp_path / "file", "old")
    with pytest.raises(UnicodeEncodeError):
        write_private(tmp_path / "file", "\ud800")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]


def test_a_secret_is_made_once(tmp_path: Path) -> None:
    made = secret(tmp_path / "one", size=16)
    assert len(bytes.fromhex(made)) == 16
    assert secret(tmp_path / "one") == made
    assert secret(tmp_path / "two") != made


def test_an_empty_secret_is_no_secret(tmp_path: Path) -> None:
    (tmp_path / "one").touch()
    assert secret(tmp_path / "one")
