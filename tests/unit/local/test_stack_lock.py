from pathlib import Path

import pytest

from contactmesh.local.errors import NoStackRunsError, StackRunsAlreadyError
from contactmesh.local.stack_info import StackInfo, find_stack, write_stack_info
from contactmesh.local.stack_lock import is_locked, stack_lock

INFO = StackInfo(
    identity_url="http://127.0.0.1:1",
    operator_token_file=Path("/token"),
    amqp_url="amqp://operator:secret@127.0.0.1:2/",
    mongodb_url="mongodb://127.0.0.1:3/",
    broker_management_url=None,
    services=[],
)


def test_one_stack_at_a_time(tmp_path: Path) -> None:
    with stack_lock(tmp_path):
        assert is_locked(tmp_path)
        with (
            pytest.raises(StackRunsAlreadyError, match=f"A stack runs on {tmp_path} already"),
            stack_lock(tmp_path),
        ):
            pass
    with stack_lock(tmp_path):
        pass
    assert not is_locked(tmp_path)


def test_a_running_stack_is_found(tmp_path: Path) -> None:
    with stack_lock(tmp_path):
        write_stack_info(tmp_path, INFO)
        assert find_stack(tmp_path) == INFO


def test_what_a_killed_stack_left_is_no_stack(tmp_path: Path) -> None:
    write_stack_info(tmp_path, INFO)
    with pytest.raises(NoStackRunsError, match="contactmesh up"):
        find_stack(tmp_path)


def test_a_folder_without_a_stack_is_said_to_be_so(tmp_path: Path) -> None:
    with pytest.raises(NoStackRunsError, match="contactmesh up"):
        find_stack(tmp_path / "nothing here")


def test_a_starting_stack_is_said_to_be_so(tmp_path: Path) -> None:
    with stack_lock(tmp_path), pytest.raises(NoStackRunsError, match="still starting"):
        find_stack(tmp_path)


def test_passwords_are_not_in_what_is_shown_of_it() -> None:
    assert "secret" not in repr(INFO)
