"""What a terminal can do with groups (rows G1 to G8)."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass

import structlog

from contactmesh.contacts import Card
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
from contactmesh.contracts.reply import Done
from contactmesh.terminal.commands import ServiceCommands
from contactmesh.terminal.entries import OwnCard
from contactmesh.terminal.errors import CommandRefused, NoReply
from contactmesh.terminal.pulling import REFUSED
from contactmesh.terminal.updates import Departure, Update

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Publication:
    """What came of publishing the user's own card to one group.

    Attributes:
        group_id: the group.
        rev: the card's revision there now, none if the group refused it.
        error: why not; a `RevisionConflict` names the revision that stands, after a `NoReply` the
            card may be there or not.
    """

    group_id: str
    rev: int | None
    error: CommandRefused | NoReply | None = None


class GroupCommands(ServiceCommands):
    """The commands to group_service, each as a method; what they change is in the phonebook.

    Every one of them raises `CommandRefused` when the service says no, `NoReply` when it does not
    answer within the deadline, and `AuthenticationRefused` when the terminal was revoked.
    """

    async def create_group(self, name: str, members: Iterable[str] = ()) -> str:
        """Create a group with the user as owner and `members` as initial members (rows G2, G3).

        Returns:
            The group's id.
        """
        created = await self._requests.ask(CreateGroup(name=name, members=tuple(members)), Created)
        await self._pull_now(created.group_id)
        return created.group_id

    async def groups(self) -> GroupList:
        """The user's groups and the invitations that wait, as the service knows them now."""
        return await self._requests.ask(ListGroups(), GroupList)

    async def show(self, group_id: str) -> GroupShown:
        """A group with all its members, the user's own blocks there and the open invitations."""
        shown = await self._requests.ask(ShowGroup(group_id=group_id), GroupShown)
        members = list(shown.members)
        while shown.after is not None:
            shown = await self._requests.ask(
                ShowGroup(group_id=group_id, after=shown.after), GroupShown
            )
            members.extend(shown.members)
        return shown.model_copy(update={"members": tuple(members)})

    async def invite(self, group_id: str, user_id: str) -> str:
        """Invite a user to a group (row G3).

        Returns:
            The invitation's id.
        """
        invited = await self._requests.ask(Invite(group_id=group_id, user_id=user_id), Invited)
        return invited.invitation_id

    async def accept(self, invitation_id: str) -> str:
        """Accept an invitation; the group is pulled at once.

        Returns:
            The id of the group that the user is in now.
        """
        accepted = await self._requests.ask(AcceptInvitation(invitation_id=invitation_id), Accepted)
        self._tell(await self.phonebook.invitation_answered(invitation_id, "accepted"))
        await self._pull_now(accepted.group_id)
        return accepted.group_id

    async def decline(self, invitation_id: str) -> None:
        """Decline an invitation."""
        await self._requests.ask(DeclineInvitation(invitation_id=invitation_id), Done)
        self._tell(await self.phonebook.invitation_answered(invitation_id, "declined"))

    async def withdraw(self, invitation_id: str) -> None:
        """Take an invitation back that the user sent, or that anyone sent to the user's group."""
        await self._requests.ask(WithdrawInvitation(invitation_id=invitation_id), Done)

    async def leave(self, group_id: str) -> None:
        """Leave a group; an owner with other members left has to hand over first."""
        await self._requests.ask(LeaveGroup(group_id=group_id), Done)
        self._tell(await self.phonebook.drop_group(group_id, Departure.LEFT))

    async def remove(self, group_id: str, user_id: str) -> None:
        """Remove a member from the user's own group."""
        await self._requests.ask(RemoveMember(group_id=group_id, user_id=user_id), Done)

    async def hand_over(self, group_id: str, user_id: str) -> None:
        """Make another member the group's owner."""
        await self._requests.ask(HandOver(group_id=group_id, user_id=user_id), Done)

    async def dissolve(self, group_id: str) -> None:
        """End the user's own group for everyone."""
        await self._requests.ask(DissolveGroup(group_id=group_id), Done)
        self._tell(await self.phonebook.drop_group(group_id, Departure.DISSOLVED))

    async def publish(
        self, card: Card, groups: Iterable[str] | None = None
    ) -> tuple[Publication, ...]:
        """Publish the user's own card, so that every member who is not blocked gets it (row G1c).

        Groups are independent of each other: one that refuses does not hold up the rest, so what
        came of each is returned and not raised.

        Args:
            card: the card, whole. It goes out under the uid that the user's card has already, so
                that a file without one, or with another, is still the same person's card.
            groups: the groups; all of the user's if not given.

        Returns:
            One publication per group. A `RevisionConflict` means that another of the user's
            terminals has published since: pull, look at `phonebook.own_cards()`, publish again.

        Raises:
            NoReply: the service did not say which groups there are.
            AuthenticationRefused: the terminal's credentials are no longer valid.
        """
        if groups is None:
            groups = [group.group_id for group in (await self.groups()).groups]
        known = {own.group_id: own for own in await self.phonebook.own_cards()}
        uid = next((own.card.uid for own in known.values()), card.uid)
        return tuple(
            await asyncio.gather(
                *(self._publish(group_id, card, uid, known.get(group_id)) for group_id in groups)
            )
        )

    async def _publish(
        self, group_id: str, card: Card, uid: str, before: OwnCard | None
    ) -> Publication:
        if before is not None:
            uid = before.card.uid
        card = card.model_copy(update={"uid": uid})
        command = PublishCard(
            group_id=group_id, card=card, base_rev=None if before is None else before.rev
        )
        try:
            published = await self._requests.ask(command, CardPublished)
        except (CommandRefused, NoReply) as error:
            return Publication(group_id, None, error)
        await self.phonebook.published(group_id, published.rev, card)
        return Publication(group_id, published.rev)

    async def block(self, user_id: str, group_id: str | None = None) -> None:
        """Set "do not notify" on a user, in one group or in all (row G1b). They are not told."""
        await self._requests.ask(Block(user_id=user_id, group_id=group_id), Done)

    async def lift(self, user_id: str, group_id: str | None = None) -> None:
        """Take a block back; the user then gets the current card."""
        await self._requests.ask(Lift(user_id=user_id, group_id=group_id), Done)

    async def blocks(self) -> BlockList:
        """Whom the user blocks, in all groups and group by group."""
        return await self._requests.ask(ListBlocks(), BlockList)

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
        await self._requests.ask(SetPullInterval(seconds=seconds), Done)
        await self.phonebook.save_pull_interval(seconds)
        self._puller.rearm()

    async def subscribe(self, group_id: str) -> None:
        """Receive the group's pushes on this terminal; so it is to begin with."""
        await self._requests.ask(Subscribe(group_id=group_id), Done)

    async def unsubscribe(self, group_id: str) -> None:
        """Receive no pushes of the group on this terminal; pulling goes on."""
        await self._requests.ask(Unsubscribe(group_id=group_id), Done)

    async def _pull_now(self, group_id: str) -> None:
        try:
            await self._puller.pull_group(group_id)
        except (*REFUSED, NoReply) as error:
            # The command itself took effect; the pull is made up for as soon as possible.
            _log.info("pull_after_command_failed", reason=str(error))
            self._puller.wake((group_id,))
