"""What a terminal can ask the carrier registry (rows C1 to C7)."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final

from contactmesh.contracts.carrier.access import (
    DescribeLine,
    Grant,
    Granted,
    GrantList,
    ListGrants,
    ListLooks,
    ListOwnLines,
    LookLog,
    OwnLines,
    RevokeGrant,
    SetDialOrder,
)
from contactmesh.contracts.carrier.check import Check, Checked
from contactmesh.contracts.carrier.records import RegistrationRef
from contactmesh.contracts.errors import ErrorCode
from contactmesh.contracts.reply import Done
from contactmesh.terminal.commands import ServiceCommands
from contactmesh.terminal.entries import CheckedContact
from contactmesh.terminal.errors import CommandRefused, NobodyToAskAbout
from contactmesh.terminal.rules.lines import Question, news

DOUBTED_AFTER: Final = frozenset({ErrorCode.NOT_FOUND, ErrorCode.RATE_LIMITED})
"""The refusals behind which wrong references may be."""


class CarrierCommands(ServiceCommands):
    """The commands to carrier_registry_service, each as a method.

    Every one of them raises `CommandRefused` when the service says no, `NoReply` when it does not
    answer within the deadline, and `AuthenticationRefused` when the terminal was revoked. What an
    earlier check told stays in the phonebook meanwhile: see `Phonebook.lines`.
    """

    async def check(self, contact_id: str, identity_id: str | None = None) -> CheckedContact:
        """Ask whether a contact's numbers still stand, and put right what does not (row C1).

        Numbers that were replaced, withdrawn or added are so in the phonebook when this returns;
        the user's own labels stay.

        Args:
            contact_id: the contact.
            identity_id: whose numbers they are, for a contact whom no group has told it of.

        Raises:
            UnknownContact: there is none with this id.
            NobodyToAskAbout: nothing says whom the contact is.
            CommandRefused: `not_found`, the user has no access to this contact, or there is nobody
                of this id, which look alike (row C7); `rate_limited`, the user has asked about too
                many people, or with too many references that are not theirs.
        """
        known = await self.phonebook.lines(contact_id)
        whom = known.identity_id or identity_id
        if whom is None:
            raise NobodyToAskAbout(
                "No group has told whose contact this is. Say whose it is, or share a group first."
            )
        asked, answer = await self._compared(contact_id, whom)
        self._tell(await self.phonebook.apply_check(contact_id, answer, asked, datetime.now(UTC)))
        return CheckedContact(
            contact=await self.phonebook.contact(contact_id),
            asked=asked,
            changes=news(answer, asked),
            known=await self.phonebook.lines(contact_id),
        )

    async def _compared(self, contact_id: str, whom: str) -> tuple[Question, Checked]:
        """Ask with the references that are known; once more without them, if they are not found.

        Wrong references are counted, and look like a contact who is not to be seen. So the
        phonebook holds them in doubt before anything else is tried: no reference is sent twice
        after a refusal, whatever becomes of the second question.
        """
        asked = await self.phonebook.question(contact_id)
        try:
            return asked, await self._ask(whom, asked)
        except CommandRefused as refused:
            if not asked.registrations or refused.code not in DOUBTED_AFTER:
                raise
            await self.phonebook.doubt_references(contact_id)
            if refused.code is not ErrorCode.NOT_FOUND:
                raise
        asked = await self.phonebook.question(contact_id)
        return asked, await self._ask(whom, asked)

    async def _ask(self, whom: str, asked: Question) -> Checked:
        command = Check(
            identity_id=whom, registrations=tuple(asked.registrations), numbers=asked.numbers
        )
        return await self._requests.ask(command, Checked)

    async def set_dial_order(self, contact_id: str, order: Iterable[RegistrationRef] = ()) -> None:
        """Keep one's own dial order for a contact, which wins over the contact's (row C6).

        Args:
            contact_id: the contact.
            order: the numbers' references, the first to be dialled first; none for the contact's
                order again.

        Raises:
            UnknownContact: there is none with this id.
            NobodyToAskAbout: nothing says whom the contact is.
        """
        known = await self.phonebook.lines(contact_id)
        if known.identity_id is None:
            raise NobodyToAskAbout("Check the contact first: nothing says whose numbers these are.")
        wanted = tuple(order)
        command = SetDialOrder(identity_id=known.identity_id, order=wanted)
        await self._requests.ask(command, Done)
        await self.phonebook.reorder_lines(contact_id, wanted)

    async def own_lines(self) -> OwnLines:
        """The user's own live numbers, with all that the carriers told of them."""
        return await self._requests.ask(ListOwnLines(), OwnLines)

    async def describe_line(
        self,
        ref: RegistrationRef,
        *,
        labels: Iterable[str] = (),
        dial_priority: int | None = None,
    ) -> None:
        """Set what viewers see of one of the user's own numbers (row C6).

        Args:
            ref: the number's reference.
            labels: what it is called, in place of what it was called before.
            dial_priority: 1 to be dialled first; one that is taken pushes the others down.
        """
        command = DescribeLine(ref=ref, labels=tuple(labels), dial_priority=dial_priority)
        await self._requests.ask(command, Done)

    async def grant(
        self, viewer_id: str, *, details: bool = True, state: bool = False, usage: bool = False
    ) -> None:
        """Let a viewer see the user's numbers, their state, what is left of their plans."""
        command = Grant(viewer_id=viewer_id, details=details, state=state, usage=usage)
        await self._requests.ask(command, Done)

    async def revoke_grant(self, viewer_id: str) -> None:
        """Let a viewer see nothing of the user's numbers any more, whatever groups they share."""
        await self._requests.ask(RevokeGrant(viewer_id=viewer_id), Done)

    async def grants(self) -> GrantList:
        """Whom the user lets see what: all of them."""
        found: list[Granted] = []
        page = GrantList(grants=(), has_more=True)
        while page.has_more:
            after = found[-1].viewer_id if found else None
            page = await self._requests.ask(ListGrants(after=after), GrantList)
            found += page.grants
        return GrantList(grants=tuple(found))

    async def looks(self, before: datetime | None = None, limit: int = 200) -> LookLog:
        """Who looked at the user's numbers, those of the latest hour first (row C7).

        Args:
            before: only looks of an earlier `at`, to read on while the log says `has_more`.
            limit: about how many, from 1 to 1,000.
        """
        return await self._requests.ask(ListLooks(before=before, limit=limit), LookLog)
