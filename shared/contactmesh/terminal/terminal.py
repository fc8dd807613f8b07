"""The terminal: sends commands, receives updates, and keeps the phonebook right."""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Final, Self, TypeVar

import structlog

from contactmesh.contacts import Card
from contactmesh.contracts.command import Command
from contactmesh.contracts.envelope import Envelope
from contactmesh.contracts.errors import Refusal
from contactmesh.contracts.identity import AccessLog, Transport
from contactmesh.contracts.reply import Reply, Result
from contactmesh.terminal.book_sync import BookSync
from contactmesh.terminal.books import BookCommands
from contactmesh.terminal.carriers import CarrierCommands
from contactmesh.terminal.credentials import Enrolment, TerminalFolder
from contactmesh.terminal.entries import Contact, Imported
from contactmesh.terminal.errors import AlreadyEnrolled, NotEnrolled, TerminalError
from contactmesh.terminal.groups import GroupCommands
from contactmesh.terminal.link import Link
from contactmesh.terminal.messages import unreadable_body
from contactmesh.terminal.phonebook import Phonebook
from contactmesh.terminal.pulling import Puller
from contactmesh.terminal.requests import Requests
from contactmesh.terminal.session import Arrived, Session, SessionLost
from contactmesh.terminal.sims import SimCommands
from contactmesh.terminal.spaces import Spaces
from contactmesh.terminal.updates import UnreadableUpdate, UpdateStream, UpdateStreams

REPLY_SECONDS: Final = 5.0
"""How long a reply may take before the command is sent again under the same id."""
DEADLINE_SECONDS: Final = 60.0
"""How long a command is tried in all, over lost replies and lost connections."""

_log = structlog.get_logger(__name__)

R = TypeVar("R", bound=Result)


class Terminal(GroupCommands, CarrierCommands, SimCommands, BookCommands):
    """One terminal of a user; an async context manager.

    Inside `async with` the terminal is connected, and comes back by itself when the connection is
    lost. When the broker cannot be reached at first it is offline: the phonebook can be read, and
    commands wait for the connection until their deadline. What others change arrives by itself,
    by push and by pull (row G4), and is in the phonebook before it is told.

    Args:
        folder: where `enrol` put the credentials; the phonebook lies there too.
        pull: whether to pull at every connection and at the chosen interval, and to accept by
            itself for the SIMs for which the user chose it. Without it, only pushes and what `pull`
            is called for arrive.
        reply_seconds: how long a reply may take before the command is sent again, under the same
            id; each further wait is twice as long, up to 30 seconds.
        deadline_seconds: how long a command is tried in all.
        transport: `amqp` or `mqtt`, to speak that one from now on rather than the one before.

    Attributes:
        user_id: whose terminal it is.
        terminal_id: which of the user's terminals it is.
        phonebook: the local phonebook.

    Raises:
        NotEnrolled: no terminal lives in the folder.
    """

    def __init__(
        self,
        folder: Path | str,
        *,
        pull: bool = True,
        reply_seconds: float = REPLY_SECONDS,
        deadline_seconds: float = DEADLINE_SECONDS,
        transport: Transport | str | None = None,
    ) -> None:
        self._folder = TerminalFolder(Path(folder))
        enrolment = self._folder.read()
        if transport is not None and transport != enrolment.transport:
            enrolment = enrolment.speaking(Transport(transport))
            self._folder.write(enrolment)
        self.user_id: str = enrolment.credentials.user_id
        self.terminal_id: str = enrolment.credentials.terminal_id
        self._pulls = pull
        self._link = Link(enrolment, serve=self._serve, moved=self._folder.write)
        requests = Requests(
            self._link,
            self.terminal_id,
            reply_seconds=reply_seconds,
            deadline_seconds=deadline_seconds,
        )
        phonebook = Phonebook(self._folder.phonebook, self.user_id, enrolment.region)
        streams = UpdateStreams()
        puller = Puller(phonebook, requests.ask, streams.emit)
        spaces = Spaces(phonebook, requests.ask, streams.emit, self.terminal_id)
        book_sync = BookSync(phonebook, requests.ask, streams.emit)
        super().__init__(requests, phonebook, puller, streams, spaces, book_sync)
        self._stack = AsyncExitStack()
        self._running: asyncio.Task[None] | None = None

    @classmethod
    async def enrol(
        cls,
        folder: Path | str,
        *,
        identity_url: str,
        code: str,
        name: str,
        region: str | None = None,
        transport: Transport | str = Transport.AMQP,
    ) -> "Terminal":
        """Enrol a new terminal with a one-time code that the operator gave the user.

        Args:
            folder: where to keep its credentials (mode 0600) and its phonebook.
            identity_url: where identity_service listens, for example `http://127.0.0.1:8081`.
            code: the code.
            name: what the user calls the terminal, for example `phone`.
            region: the country (ISO 3166) of numbers that the user keeps without a country code,
                for example `CN`; without it such numbers do not match those of members.
            transport: the protocol that it speaks to the broker, `amqp` or `mqtt`.

        Returns:
            The terminal, to be entered with `async with`.

        Raises:
            AlreadyEnrolled: a terminal lives in this folder.
            FolderUnusable: it cannot be written; the code was not used.
            EnrolmentRefused: the code is wrong, used or expired, or the transport is not offered.
            IdentityUnavailable: identity_service does not answer.
        """
        place = TerminalFolder(Path(folder))
        try:
            known = place.read()
        except NotEnrolled:
            known = None
        if known is not None:
            raise AlreadyEnrolled(
                f"{folder} holds terminal {known.credentials.terminal_id}. Choose another folder."
            )
        # First, because a code works once: where nothing can be written it must not be used up.
        place.make()
        from contactmesh.terminal.identity import IdentityClient  # noqa: PLC0415 - needed once

        async with IdentityClient(identity_url) as identity:
            credentials = await identity.enrol(code, name, Transport(transport))
        place.write(
            Enrolment(
                identity_url=identity_url,
                credentials=credentials,
                region=region,
                transport=Transport(transport),
            )
        )
        return cls(folder)

    @staticmethod
    def phonebook_of(folder: Path | str) -> Phonebook:
        """The phonebook alone, to read beside a running terminal or without a connection.

        Raises:
            NotEnrolled: no terminal lives in this folder.
        """
        place = TerminalFolder(Path(folder))
        enrolment = place.read()
        return Phonebook(place.phonebook, enrolment.credentials.user_id, enrolment.region)

    async def __aenter__(self) -> Self:
        """Open the phonebook and connect.

        Raises:
            TerminalInUse: another process runs it.
            AuthenticationRefused: its credentials are not valid any more.
            TransportNotOffered: the system does not speak its protocol.
            PhonebookTooNew: a newer version wrote its phonebook.
        """
        async with AsyncExitStack() as stack:
            stack.enter_context(self._folder.locked())
            await stack.enter_async_context(self.phonebook)
            stack.push_async_callback(self._stop)
            self._running = asyncio.create_task(self._run())
            await self._link.attempted()
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._stack.aclose()

    async def request(self, command: Command, *, message_id: str | None = None) -> Result:
        """Send a command and wait for its result.

        After a lost reply or a lost connection the same message is sent again under the same id,
        so that it takes effect once.

        Args:
            command: the command.
            message_id: the id of an earlier try that ended in `NoReply`, to go on with that one.

        Returns:
            The result, of the type that the command names in `RESULT`.

        Raises:
            CommandRefused: the service says no, and why. Nothing was changed.
            NoReply: no answer within the deadline.
            AuthenticationRefused: the terminal's credentials are no longer valid.
            UnreadableReply: the reply has not the form that the command promises.
            TerminalClosed: the terminal was left meanwhile.
        """
        return await self._requests.request(command, message_id)

    # Its own credentials

    async def rotate_secret(self) -> None:
        """Change the terminal's secret; the old one is void when this returns.

        A terminal that is told by an operator to change its secret does so by itself.

        Raises:
            AuthenticationRefused: the terminal is unknown or was revoked.
            IdentityUnavailable: no answer; the secret that is kept is good, so try again.
        """
        await self._link.rotate()

    async def access_log(self) -> AccessLog:
        """What happened to the user's terminals and secrets, newest first.

        Raises:
            AuthenticationRefused: the terminal is unknown or was revoked.
            IdentityUnavailable: no answer, or not one that can be read.
        """
        return await self._link.access_log()

    # The phonebook

    def updates(self, buffer: int = 1000) -> UpdateStream:
        """What changes for the user from now on, each after it is in the phonebook.

        Args:
            buffer: how many updates wait for a slow reader; then the oldest are dropped and
                counted in the stream's `dropped`. Applying never waits for a reader.
        """
        return self._streams.open(buffer)

    async def contacts(self, search: str | None = None) -> list[Contact]:
        """The contacts, sorted by name; see `Phonebook.contacts`."""
        return await self.phonebook.contacts(search)

    async def contact(self, contact_id: str) -> Contact:
        """One contact.

        Raises:
            UnknownContact: there is none with this id.
        """
        return await self.phonebook.contact(contact_id)

    async def import_cards(
        self,
        source: BinaryIO | bytes,
        *,
        file_name: str = "-",
        progress: Callable[[int], None] | None = None,
    ) -> Imported:
        """Take the cards of a vCard file over; see `Phonebook.import_cards`."""
        imported, applied = await self.phonebook.import_cards(
            source, file_name=file_name, progress=progress
        )
        self._tell(applied)
        return imported

    async def export_cards(self, contact_ids: Iterable[str] | None = None) -> bytes:
        """The contacts as one vCard 4.0 file; see `Phonebook.export_cards`."""
        return await self.phonebook.export_cards(contact_ids)

    async def write_own(self, contact_id: str, own: Card) -> None:
        """Write the owner's part of a contact; see `Phonebook.write_own`."""
        self._tell(await self.phonebook.write_own(contact_id, own))

    async def delete(self, contact_id: str) -> None:
        """Delete the owner's entry of a contact; see `Phonebook.delete_own`."""
        self._tell(await self.phonebook.delete_own(contact_id))

    async def link(self, contact_id: str, user_id: str) -> None:
        """Say that a contact of the owner's is a member; see `Phonebook.link`."""
        self._tell(await self.phonebook.link(contact_id, user_id))

    async def unlink(self, contact_id: str) -> None:
        """Part a contact from its member; see `Phonebook.unlink`."""
        self._tell(await self.phonebook.unlink(contact_id))

    # Receiving

    async def _serve(self, session: Session) -> None:
        if self._pulls:
            self._puller.wake()
            self._spaces.accepter.wake()
            self._scheduled_sync.wake()
        try:
            while messages := await session.arrived():
                await self._receive(session, messages)
        except SessionLost:
            return

    async def _receive(self, session: Session, messages: list[Arrived]) -> None:
        pushed: list[Envelope] = []
        problems: list[UnreadableUpdate] = []
        for message in messages:
            try:
                envelope = Envelope.decode(message.body)
            except Refusal as refusal:
                problems.append(unreadable_body(refusal, message.message_id))
                continue
            if envelope.type == Reply.TYPE:
                self._requests.arrived(envelope)
            else:
                pushed.append(envelope)
        self._streams.emit(problems)
        if pushed:
            applied = await self.phonebook.apply(pushed)
            self._book_sync.arrived(applied.came)
            self._tell(applied)
        # Only now: what a crash before this line leaves unacknowledged comes again, and is then
        # known already.
        await session.acknowledge(messages[-1])

    # Running

    async def _run(self) -> None:
        failure: TerminalError | None = None
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._link.run())
                if self._pulls:
                    tasks.create_task(self._puller.run())
                    tasks.create_task(self._spaces.accepter.run())
                    tasks.create_task(self._scheduled_sync.run())
        except* TerminalError as group:
            failure = _first_error(group)
            _log.warning("terminal_stopped", reason=type(failure).__name__)
        finally:
            await self._link.end(failure)
            self._streams.end(failure)

    async def _stop(self) -> None:
        if self._running is not None:
            self._running.cancel()
            await asyncio.wait((self._running,))
            if not self._running.cancelled():
                self._running.result()


def _first_error(group: BaseExceptionGroup[TerminalError]) -> TerminalError:
    """One of the errors that ended the terminal; any of them explains it."""
    error = group.exceptions[0]
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
