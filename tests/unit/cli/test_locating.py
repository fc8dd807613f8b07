"""Where the system is, and how a suggested command finds the same one."""

from pathlib import Path

import pytest

from contactmesh.cli.errors import WrongUsage
from contactmesh.cli.locating import OperatorAccess, identity_url, operator_access, where_options
from contactmesh.local.errors import NoStackRunsError

URL = "http://identity.example:8080"


def test_what_is_given_is_used_without_a_stack(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("t0ken\n")
    assert identity_url(URL, tmp_path) == URL
    assert operator_access(tmp_path, f"{URL}/", token) == OperatorAccess(URL, "t0ken")


def test_nothing_given_and_no_stack_is_told(tmp_path: Path) -> None:
    with pytest.raises(NoStackRunsError):
        identity_url(None, tmp_path)
    with pytest.raises(NoStackRunsError):
        operator_access(tmp_path, None, None)


def test_address_without_a_token_is_wrong_usage(tmp_path: Path) -> None:
    with pytest.raises(WrongUsage, match="--operator-token-file"):
        operator_access(tmp_path, URL, None)


def test_token_is_not_shown(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("t0ken")
    assert "t0ken" not in repr(operator_access(None, URL, token))


def test_suggested_command_reaches_the_same_system() -> None:
    assert where_options(None, None) == ""
    assert where_options(Path("/home/li wei/mesh"), None) == " --data '/home/li wei/mesh'"
    assert where_options(None, URL) == f" --identity-url {URL}"
