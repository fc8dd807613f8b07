"""The terminal: sends commands, receives updates, and keeps the phonebook right."""

import asyncio
import secrets
from collections.abc import Callable, Iterable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Final, Self, TypeVar

import structlog
import uuid_utils
from aio_pika.abc import AbstractIncomingMessage
from pydantic import ValidationError

from contactmesh.contacts import Card
from contactmesh.contracts.command import Command
from contactmesh.contracts.envelope import Envelope
from contactmesh.contracts.errors import ErrorCode, Refusal
from contactmesh.contracts.group.commands import (
    Accepted,
    AcceptInvitation,
    Block,
    BlockList,
    CardPublished,
    Created,
    CreateGroup,
    DeclineInvitation,
    DissolveGroup,
    GroupList,
    GroupShown,
    HandOver,
    Invite,
    Invited,
    LeaveGroup,
    Lift,
    ListBlocks,
    ListGroups,
    PublishCard,
    RemoveMember,
    SetPullInterval,
    ShowGroup,
    Subscribe,
    Unsubscribe,
    WithdrawInvitation,
)
from contactmesh.contracts.reply import Done, Reply, Result
from contactmesh.terminal.changes import unreadable
from contactmesh.terminal.credentials import Enrolment, TerminalFolder
from contactmesh.terminal.errors import (
    AlreadyEnrolled,
    CommandRefused,
    NoReply,
    NotEnrolled,
    TerminalError,
    UnreadableReply,
    refusal_of,
)
from contactmesh.terminal.identity import IdentityClient
from contactmesh.terminal.link import Link
from contactmesh.terminal.phonebook import (
    Applied,
    Contact,
    Imported,
    Phonebook,
    unreadable_body,
)
from contactmesh.terminal.pulling import Puller
from contactmesh.terminal.replies import Replies
from contactmesh.terminal.session import NotDelivered, Session, SessionLost
from contactmesh.terminal.updates import (
    Departure,
    UnreadableUpdate,
    Update,
    UpdateStream,
    UpdateStreams,
)

REPLY_SECONDS: Final = 5.0
"""How long a reply may take before the command is sent again under the same id."""
LONGEST_REPLY_SECONDS: Final = 30.0
"""What that time grows to, as it doubles with each try."""
DEADLINE_SECONDS: Final = 60.0
"""How long a command is tried in all, over lost replies and lost connections."""

_log = structlog.get_logger(__name__)

R = TypeVar("R", bound=Result)


@dataclass(frozen=True, slots=True)
class Publication:
    """What came of publishing the user's own card to one group.

    Attributes:
        group_id: the group.
        rev: the card's revision there now, none if the group refused it.
        error: why it was refused; a `RevisionConflict` names the revision that stands.
    """

    group_id: str
    rev: int | None
    error: CommandRefused | None = None


class Terminal:
    """One terminal of a user; an async context manager.

    Inside `async with` the terminal is connected, and comes back by itself when the connection is
    lost. When the broker cannot be reached at first it is offline: the phonebook can be read, and
    commands wait for the connection until their deadline. What others change arrives by itself,
    by push and by pull (row G4), and is in the phonebook before it is told.

    Args:
        folder: where `enrol` put the credentials; the phonebook lies there too.
        pull: whether to pull at every connection and at the chosen interval. Without it, only
            pushes and what `pull` is called for arrive.
        reply_seconds: how long a reply may take before the command is sent again, under the same
            id; each further wait is twice as long, up to 30 seconds.
        deadline_seconds: how long a command is tried in all.

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
    ) -> None:
        self._folder = TerminalFolder(Path(folder))
        enrolment = self._folder.read()
        self.user_id: str = enrolment.credentials.user_id
        self.terminal_id: str = enrolment.credentials.terminal_id
        self.phonebook = Phonebook(self._folder.phonebook, self.user_id, enrolment.region)
        self._pulls = pull
        self._reply_seconds = reply_seconds
        self._deadline_seconds = deadline_seconds
        self._replies = Replies()
        self._streams = UpdateStreams()
        self._link = Link(enrolment, serve=self._serve, moved=self._folder.write)
        self._puller = Puller(self.phonebook, self._ask, self._streams.emit)
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
    ) -> "Terminal":
        """Enrol a new terminal with a one-time code that the operator gave the user.

        Args:
            folder: where to keep its credentials (mode 0600) and its phonebook.
            identity_url: where identity_service listens, for example `http://127.0.0.1:8081`.
            code: the code.
            name: what the user calls the terminal, for example `phone`.
            region: the country (ISO 3166) of numbers that the user keeps without a country code,
                for example `CN`; without it such numbers do not match those of members.

        Returns:
            The terminal, to be entered with `async with`.

        Raises:
            AlreadyEnrolled: a terminal lives in this folder.
            EnrolmentRefused: the code is wrong, used or expired.
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
        async with IdentityClient(identity_url) as identity:
            credentials = await identity.enrol(code, name)
        place.write(Enrolment(identity_url=identity_url, credentials=credentials, region=region))
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

    # Commands

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
        envelope = self._envelope(command, message_id or str(uuid_utils.uuid7()))
        try:
            async with asyncio.timeout(self._deadline_seconds):
                reply = await self._exchange(envelope, command.routing_key(self.terminal_id))
        except TimeoutError as error:
            raise NoReply(command.TYPE, envelope.id, self._deadline_seconds) from error
        if reply.error is not None:
            raise refusal_of(reply.error)
        try:
            return command.RESULT.model_validate(reply.result)
        except ValidationError as error:
            raise UnreadableReply(
                f"The reply to {command.TYPE} cannot be read ({unreadable(error)}). "
                "Update the terminal."
            ) from error

    def _envelope(self, command: Command, message_id: str) -> Envelope:
        envelope = Envelope.of(
            command,
            id=message_id,
            source=f"/terminals/{self.terminal_id}",
            time=datetime.now(UTC),
        )
        trace = f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-01"
        return envelope.model_copy(update={"traceparent": trace})

    async def _exchange(self, envelope: Envelope, routing_key: str) -> Reply:
        patience = self._reply_seconds
        with self._replies.expected(envelope.id) as expected:
            while True:
                session = await self._link.session()
                try:
                    await session.publish(envelope, routing_key)
                except SessionLost:
                    continue
                except NotDelivered as error:
                    _log.info("command_not_delivered", type=envelope.type, reason=str(error))
                reply = await expected.wait(session.lost, patience)
                if reply is not None:
                    if reply.error is None or reply.error.code is not ErrorCode.UNAVAILABLE:
                        return reply
                    # The service invites to send the same again, later.
                    expected.forget()
                    await asyncio.sleep(patience)
                patience = min(patience * 2, LONGEST_REPLY_SECONDS)

    async def _ask(self, command: Command, result: type[R]) -> R:
        answer = await self.request(command)
        if not isinstance(answer, result):
            raise TypeError(f"{command.TYPE} answers {type(answer).__name__}")
        return answer

    # Groups

    async def create_group(self, name: str, members: Iterable[str] = ()) -> str:
        """Create a group with the user as owner and `members` as initial members (rows G2, G3).

        Returns:
            The group's id.
        """
        created = await self._ask(CreateGroup(name=name, members=tuple(members)), Created)
        await self._pull_now(created.group_id)
        return created.group_id

    async def groups(self) -> GroupList:
        """The user's groups and the invitations that wait, as the service knows them now."""
        return await self._ask(ListGroups(), GroupList)

    async def show(self, group_id: str) -> GroupShown:
        """A group with all its members, the user's own blocks there and the open invitations."""
        shown = await self._ask(ShowGroup(group_id=group_id), GroupShown)
        members = list(shown.members)
        while shown.after is not None:
            shown = await self._ask(ShowGroup(group_id=group_id, after=shown.after), GroupShown)
            members.extend(shown.members)
        return shown.model_copy(update={"members": tuple(members)})

    async def invite(self, group_id: str, user_id: str) -> str:
        """Invite a user to a group (row G3).

        Returns:
            The invitation's id.
        """
        invited = await self._ask(Invite(group_id=group_id, user_id=user_id), Invited)
        return invited.invitation_id

    async def accept(self, invitation_id: str) -> str:
        """Accept an invitation; the group is pulled at once.

        Returns:
            The id of the group that the user is in now.
        """
        accepted = await self._ask(AcceptInvitation(invitation_id=invitation_id), Accepted)
        self._tell(await self.phonebook.invitation_answered(invitation_id, "accepted"))
        await self._pull_now(accepted.group_id)
        return accepted.group_id

    async def decline(self, invitation_id: str) -> None:
        """Decline an invitation."""
        await self._ask(DeclineInvitation(invitation_id=invitation_id), Done)
        self._tell(await self.phonebook.invitation_answered(invitation_id, "declined"))

    async def withdraw(self, invitation_id: str) -> None:
        """Take an invitation back that the user sent, or that anyone sent to the user's group."""
        await self._ask(WithdrawInvitation(invitation_id=invitation_id), Done)

    async def leave(self, group_id: str) -> None:
        """Leave a group; an owner with other members left has to hand over first."""
        await self._ask(LeaveGroup(group_id=group_id), Done)
        self._tell(await self.phonebook.drop_group(group_id, Departure.LEFT))

    async def remove(self, group_id: str, user_id: str) -> None:
        """Remove a member from the user's own group."""
        await self._ask(RemoveMember(group_id=group_id, user_id=user_id), Done)

    async def hand_over(self, group_id: str, user_id: str) -> None:
        """Make another member the group's owner."""
        await self._ask(HandOver(group_id=group_id, user_id=user_id), Done)

    async def dissolve(self, group_id: str) -> None:
        """End the user's own group for everyone."""
        await self._ask(DissolveGroup(group_id=group_id), Done)
        self._tell(await self.phonebook.drop_group(group_id, Departure.DISSOLVED))

    async def publish(
        self, card: Card, groups: Iterable[str] | None = None
    ) -> tuple[Publication, ...]:
        """Publish the user's own card, so that every member who is not blocked gets it (row G1c).

        Groups are independent of each other: one that refuses does not hold up the rest, so what
        a group says is returned and not raised.

        Args:
            card: the card, whole.
            groups: the groups; all of the user's if not given.

        Returns:
            One publication per group. A `RevisionConflict` means that another of the user's
            terminals has published since: pull, look at `phonebook.own_cards()`, publish again.

        Raises:
            NoReply: the service did not answer in time.
        """
        if groups is None:
            groups = [group.group_id for group in (await self.groups()).groups]
        base = {own.group_id: own.rev for own in await self.phonebook.own_cards()}
        return tuple([await self._publish(group, card, base.get(group)) for group in groups])

    async def _publish(self, group_id: str, card: Card, base_rev: int | None) -> Publication:
        command = PublishCard(group_id=group_id, card=card, base_rev=base_rev)
        try:
            published = await self._ask(command, CardPublished)
        except CommandRefused as error:
            return Publication(group_id, None, error)
        await self.phonebook.published(group_id, published.rev, card)
        return Publication(group_id, published.rev)

    async def block(self, user_id: str, group_id: str | None = None) -> None:
        """Set "do not notify" on a user, in one group or in all (row G1b). They are not told."""
        await self._ask(Block(user_id=user_id, group_id=group_id), Done)

    async def lift(self, user_id: str, group_id: str | None = None) -> None:
        """Take a block back; the user then gets the current card."""
        await self._ask(Lift(user_id=user_id, group_id=group_id), Done)

    async def blocks(self) -> BlockList:
        """Whom the user blocks, in all groups and group by group."""
        return await self._ask(ListBlocks(), BlockList)

    async def pull(self, group_id: str | None = None) -> tuple[Update, ...]:
        """Ask now for what changed, in one group or in all (row G4).

        Returns:
            What changed for the user; the update streams give it too.
        """
        if group_id is None:
            return await self._puller.pull_all()
        return await self._puller.pull_group(group_id)

    async def set_pull_interval(self, seconds: int) -> None:
        """Choose how often this terminal pulls: 10 seconds to 7 days (row G8)."""
        await self._ask(SetPullInterval(seconds=seconds), Done)
        await self.phonebook.save_pull_interval(seconds)
        self._puller.rearm()

    async def subscribe(self, group_id: str) -> None:
        """Receive the group's pushes on this terminal; so it is to begin with."""
        await self._ask(Subscribe(group_id=group_id), Done)

    async def unsubscribe(self, group_id: str) -> None:
        """Receive no pushes of the group on this terminal; pulling goes on."""
        await self._ask(Unsubscribe(group_id=group_id), Done)

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
        lost = asyncio.create_task(session.lost.wait())
        try:
            while not session.lost.is_set():
                first = asyncio.create_task(session.inbox.get())
                await asyncio.wait((first, lost), return_when=asyncio.FIRST_COMPLETED)
                if not first.done():
                    first.cancel()
                    return
                messages = [first.result()]
                while not session.inbox.empty():
                    messages.append(session.inbox.get_nowait())
                await self._receive(session, messages)
        except SessionLost:
            return
        finally:
            lost.cancel()

    async def _receive(self, session: Session, messages: list[AbstractIncomingMessage]) -> None:
        pushed: list[Envelope] = []
        problems: list[UnreadableUpdate] = []
        for message in messages:
            try:
                envelope = Envelope.decode(message.body)
            except Refusal as refusal:
                problems.append(unreadable_body(refusal, message.message_id))
                continue
            if envelope.type == Reply.TYPE:
                self._replies.arrived(envelope)
            else:
                pushed.append(envelope)
        self._streams.emit(problems)
        if pushed:
            self._tell(await self.phonebook.apply(pushed))
        # Only now: what a crash before this line leaves unacknowledged comes again, and is then
        # known already.
        await session.acknowledge(messages[-1], and_before=True)

    def _tell(self, applied: Applied) -> None:
        self._streams.emit(applied.updates)
        if applied.groups_to_pull:
            self._puller.wake(applied.groups_to_pull)

    async def _pull_now(self, group_id: str) -> None:
        try:
            await self._puller.pull_group(group_id)
        except (CommandRefused, NoReply) as error:
            # The command itself took effect; the pull is made up for as soon as possible.
            _log.info("pull_after_command_failed", reason=str(error))
            self._puller.wake((group_id,))

    # Running

    async def _run(self) -> None:
        failure: TerminalError | None = None
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._link.run())
                if self._pulls:
                    tasks.create_task(self._puller.run())
        except* TerminalError as group:
            failure = _first_error(group)
            _log.warning("terminal_stopped", reason=type(failure).__name__)
        finally:
            await self._link.end(failure)
            self._streams.end(failure)

    async def _stop(self) -> None:
        if self._running is not None:
            self._running.cancel()
            with suppress(asyncio.CancelledError):
                await self._running


def _first_error(group: BaseExceptionGroup[TerminalError]) -> TerminalError:
    """One of the errors that ended the terminal; any of them explains it."""
    error = group.exceptions[0]
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
