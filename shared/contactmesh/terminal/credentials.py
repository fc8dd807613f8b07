"""A terminal's folder: its credentials, its phonebook, and the lock for one process."""

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, ValidationError

from contactmesh.contracts.identity import Credentials, Transport
from contactmesh.messaging.topology import subscription_queue, terminal_queue
from contactmesh.terminal.errors import FolderUnusable, NotEnrolled, TerminalInUse

_CREDENTIALS: Final = "credentials.json"
_PHONEBOOK: Final = "phonebook.sqlite3"
_LOCK: Final = "terminal.lock"


class Enrolment(BaseModel):
    """What a terminal keeps of its enrolment.

    Attributes:
        identity_url: where identity_service listens.
        credentials: who the terminal is.
        region: the country (ISO 3166) of numbers without a country code in this phonebook.
        transport: the protocol that it speaks to the broker.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    identity_url: str
    credentials: Credentials
    region: str | None = None
    transport: Transport = Transport.AMQP

    def speaking(self, transport: Transport) -> "Enrolment":
        """The enrolment of a terminal that speaks this protocol from now on."""
        queue_of = subscription_queue if transport is Transport.MQTT else terminal_queue
        queue = queue_of(self.credentials.terminal_id)
        credentials = self.credentials.model_copy(update={"queue": queue})
        return self.model_copy(update={"credentials": credentials, "transport": transport})


class TerminalFolder:
    """The folder of one terminal. Readable by its owner alone, since it holds a secret."""

    def __init__(self, path: Path) -> None:
        self.path = path.expanduser()

    @property
    def phonebook(self) -> Path:
        """The phonebook's SQLite file."""
        return self.path / _PHONEBOOK

    def read(self) -> Enrolment:
        """Read the enrolment.

        Raises:
            NotEnrolled: there is none, or the file is damaged.
            FolderUnusable: it cannot be read.
        """
        file = self.path / _CREDENTIALS
        try:
            return Enrolment.model_validate_json(file.read_bytes())
        except FileNotFoundError as error:
            raise NotEnrolled(
                f"No terminal is enrolled in {self.path}. Enrol one with a code from the operator."
            ) from error
        except OSError as error:
            raise self._unusable(error) from error
        except ValidationError:
            # The cause is left out: it would quote the file, and with it the secret.
            raise NotEnrolled(f"{file} is damaged. Enrol again with a new code.") from None

    def make(self) -> None:
        """Make the folder, if it is not there.

        Raises:
            FolderUnusable: it cannot be made, or not be written to.
        """
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.path):
                return
        except OSError as error:
            raise self._unusable(error) from error

    def write(self, enrolment: Enrolment) -> None:
        """Write the enrolment, mode 0600: a reader sees the old one or the new, never half.

        Raises:
            FolderUnusable: it cannot be written.
        """
        self.make()
        try:
            self._replace(enrolment)
        except OSError as error:
            raise self._unusable(error) from error

    def _replace(self, enrolment: Enrolment) -> None:
        # mkstemp makes the file with mode 0600, so it is never readable by others, however briefly.
        descriptor, temporary = tempfile.mkstemp(dir=self.path, prefix=f".{_CREDENTIALS}.")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(enrolment.model_dump_json(indent=2) + "\n")
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).replace(self.path / _CREDENTIALS)
        except BaseException:
            # Cancelled or failed: what was begun is undone, and the reason passes.
            Path(temporary).unlink(missing_ok=True)
            raise

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep the terminal to this process. Reading the phonebook needs no lock.

        Raises:
            TerminalInUse: another process has it.
            FolderUnusable: the lock cannot be made.
        """
        try:
            descriptor = os.open(self.path / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise self._unusable(error) from error
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise TerminalInUse(
                    f"Another process runs the terminal in {self.path}. Stop it first, or enrol a "
                    "second terminal; reading contacts works beside it."
                ) from error
            yield
        finally:
            os.close(descriptor)

    def _unusable(self, error: OSError) -> FolderUnusable:
        return FolderUnusable(
            f"The folder {self.path} cannot be used ({error.strerror}). Check its rights and the "
            "disk, or choose another."
        )
