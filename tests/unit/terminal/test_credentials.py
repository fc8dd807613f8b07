"""The terminal's folder keeps its secret."""

import asyncio
import gc
from pathlib import Path

import pytest

from contactmesh.contracts.identity import Credentials
from contactmesh.messaging.connection import BROKER_FAILURES
from contactmesh.terminal import (
    AlreadyEnrolled,
    Enrolment,
    FolderUnusable,
    NotEnrolled,
    Terminal,
    TerminalFolder,
    TerminalInUse,
)
from contactmesh.terminal.broker import broker_address, connect

SECRET = "s3cret/with@signs:"
CREDENTIALS = Credentials(
    user_id="alice",
    display_name="爱丽丝",
    terminal_id="alice_aaaaaaaa",
    secret=SECRET,
    queue="terminal.alice_aaaaaaaa",
    broker_url="amqp://broker.example:5672/contacts",
)
ENROLMENT = Enrolment(identity_url="http://identity.example", credentials=CREDENTIALS, region="CN")


def test_what_is_written_is_read_and_nobody_else_can(tmp_path: Path) -> None:
    folder = TerminalFolder(tmp_path / "a phone")
    folder.write(ENROLMENT)
    folder.write(ENROLMENT)
    assert folder.read() == ENROLMENT
    assert folder.path.stat().st_mode & 0o777 == 0o700
    (file,) = folder.path.iterdir()
    assert file.stat().st_mode & 0o777 == 0o600


def test_an_empty_folder_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(NotEnrolled, match="Enrol one with a code"):
        Terminal(tmp_path)


@pytest.mark.parametrize("content", [f'{{"secret": "{SECRET}"', f'{{"credentials": "{SECRET}"}}'])
def test_a_damaged_file_is_told_without_the_secret(tmp_path: Path, content: str) -> None:
    (tmp_path / "credentials.json").write_text(content)
    with pytest.raises(NotEnrolled, match="damaged") as raised:
        TerminalFolder(tmp_path).read()
    assert raised.value.__cause__ is None
    assert raised.value.__suppress_context__
    assert SECRET not in str(raised.value)


async def test_a_terminal_is_not_enrolled_over(tmp_path: Path) -> None:
    TerminalFolder(tmp_path).write(ENROLMENT)
    with pytest.raises(AlreadyEnrolled, match="another folder"):
        await Terminal.enrol(tmp_path, identity_url="http://127.0.0.1:9", code="x" * 8, name="x")


async def test_a_folder_that_cannot_be_used_is_told_before_the_code_is_used(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(FolderUnusable, match="choose another"):
        await Terminal.enrol(
            tmp_path / "file" / "phone", identity_url="http://127.0.0.1:9", code="x" * 8, name="x"
        )


def test_one_process_at_a_time(tmp_path: Path) -> None:
    folder = TerminalFolder(tmp_path)
    with folder.locked(), pytest.raises(TerminalInUse), TerminalFolder(tmp_path).locked():
        pass
    with folder.locked():
        pass


def test_the_terminal_is_the_brokers_user_unless_the_url_names_another() -> None:
    assert broker_address(CREDENTIALS) == (
        "amqp://alice_aaaaaaaa:s3cret%2Fwith%40signs%3A@broker.example:5672/contacts"
    )
    other = CREDENTIALS.model_copy(update={"broker_url": "amqp://guest:guest@localhost/"})
    assert broker_address(other) == "amqp://guest:guest@localhost/"


async def test_a_connection_that_cannot_be_opened_leaves_nothing_behind() -> None:
    nobody = CREDENTIALS.model_copy(update={"broker_url": "amqp://127.0.0.1:9/"})
    with pytest.raises(BROKER_FAILURES):
        await connect(nobody, "test")
    gc.collect()
    assert asyncio.all_tasks() == {asyncio.current_task()}
