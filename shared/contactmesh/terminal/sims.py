"""What a terminal can do with SIM accounts and their spaces (rows M1 to M6)."""

from collections.abc import Iterable

from contactmesh.contracts.multi_sim.commands import (
    AccountList,
    FollowBook,
    ListAccounts,
    MoveSim,
    RegisterSim,
    RemoveSim,
    ReplaceSim,
    RequestUpdate,
    SetConsent,
    SetInformation,
    SimRegistered,
)
from contactmesh.contracts.multi_sim.records import SpaceKind, UserInformation
from contactmesh.contracts.reply import Done
from contactmesh.terminal.commands import ServiceCommands
from contactmesh.terminal.decisions import Choice
from contactmesh.terminal.progress import Progress
from contactmesh.terminal.space_entries import AcceptOutcome, PendingBook, StoreOutcome
from contactmesh.terminal.space_memory import Space


class SimCommands(ServiceCommands):
    """The commands to multi_sim_replication_service, each as a method.

    Every one of them raises `CommandRefused` when the service says no, `NoReply` when it does not
    answer within the deadline, and `AuthenticationRefused` when the terminal was revoked.
    """

    async def accounts(self) -> AccountList:
        """The user's accounts at carriers, with their SIMs, and what they say of the user."""
        return await self._requests.ask(ListAccounts(), AccountList)

    async def register_sim(
        self,
        carrier_id: str,
        iccid: str,
        name: str,
        *,
        msisdn: str | None = None,
        registration_seq: str | None = None,
        information: UserInformation | None = None,
    ) -> SimRegistered:
        """Register a SIM card or eSIM profile in this terminal (row M2).

        Args:
            carrier_id: whose SIM it is; the user's account there is made if need be.
            iccid: the number on the card, as it is printed (ITU-T E.118).
            name: what the user calls it, for example `work`.
            msisdn: its phone number (E.164), if known.
            registration_seq: its registration at the carrier, if known.
            information: what all accounts say of the user, if that is to be set as well.
        """
        command = RegisterSim(
            carrier_id=carrier_id,
            iccid=iccid,
            name=name,
            msisdn=msisdn,
            registration_seq=registration_seq,
            information=information,
        )
        return await self._requests.ask(command, SimRegistered)

    async def move_sim(self, sim_id: str) -> None:
        """Say that a SIM is in this terminal now."""
        await self._requests.ask(MoveSim(sim_id=sim_id), Done)

    async def replace_sim(self, sim_id: str, iccid: str) -> None:
        """Say that the carrier replaced the card; what waits for the SIM goes on waiting."""
        await self._requests.ask(ReplaceSim(sim_id=sim_id, iccid=iccid), Done)

    async def remove_sim(self, sim_id: str) -> None:
        """Remove a SIM with what waits for it; the account and its spaces stay."""
        await self._requests.ask(RemoveSim(sim_id=sim_id), Done)
        await self._spaces.accepter.choose(sim_id, accept=False)

    async def set_information(self, information: UserInformation) -> None:
        """Set what all accounts say of the user (row M1)."""
        await self._requests.ask(SetInformation(information=information), Done)

    async def set_consent(self, carrier_id: str, consent: bool) -> None:
        """Agree, or no longer, that other carriers' shared contacts are copied there (row M4)."""
        await self._requests.ask(SetConsent(carrier_id=carrier_id, consent=consent), Done)

    async def follow_book(self, carrier_id: str, follow: bool) -> None:
        """Let an account's shared space follow the user's address book, or no longer."""
        await self._requests.ask(FollowBook(carrier_id=carrier_id, follow=follow), Done)

    async def request_update(self, sim_id: str, from_carrier_id: str | None = None) -> None:
        """Ask that a shared space be laid ready for a SIM in this terminal (row M5).

        Args:
            sim_id: the SIM.
            from_carrier_id: the account that it comes from; the SIM's own if not given. That of
                another carrier needs the consent.
        """
        command = RequestUpdate(sim_id=sim_id, from_carrier_id=from_carrier_id)
        await self._requests.ask(command, Done)

    async def store(
        self,
        sim_id: str,
        space: SpaceKind = SpaceKind.SHARED,
        contact_ids: Iterable[str] | None = None,
        *,
        removals: bool = False,
        progress: Progress | None = None,
    ) -> StoreOutcome:
        """Store the phonebook's entries in a space of a SIM's account (rows M3, M4).

        What changed is sent, against what this terminal last stored there or accepted from there.
        Entries are stored as the owner wrote them; what groups alone brought never is. A contact
        of which the shared space holds something that this terminal has not seen is not stored,
        whatever the space: that waits for this SIM, to be decided on first. Accepting merges both.

        Storing named contacts as private makes them so: they go to the private space, leave the
        account's shared one, and no shared space of any carrier is given them any more; those that
        this terminal stored them in are told so at their next store. Storing them as shared ends
        that for this carrier, and for those at which the user has no SIM any more.

        Args:
            sim_id: a SIM in this terminal.
            space: which space of its account.
            contact_ids: which contacts. If not given, all that belong in the space: in a shared
                one all that are not private, in a private one those that are private there; what
                was stored before and belongs there no more is removed.
            removals: whether it is meant when more than half of the space's contacts, and more than
                ten, would be removed.
            progress: told how many contacts are done, and of how many.

        Raises:
            UnknownContact: there is none with one of the ids.
            UnknownSim: the user has no such SIM.
            SimElsewhere: it is in another terminal.
            LargeRemoval: so much would be removed; nothing was stored.
        """
        carrier_id = await self._spaces.carrier_of(sim_id, here=True)
        return await self._spaces.storing.store(
            sim_id, Space(carrier_id, space), contact_ids, removals=removals, progress=progress
        )

    async def pending(self, sim_id: str, uids: Iterable[str] | None = None) -> PendingBook:
        """What waits for a SIM, or which of some contacts do, against the phonebook (row M5).

        Raises:
            UnknownSim: the user has no such SIM.
        """
        carrier_id = await self._spaces.carrier_of(sim_id, here=False)
        chosen = None if uids is None else frozenset(uids)
        return await self._spaces.accepting.pending(Choice(sim_id, carrier_id, chosen))

    async def accept_contacts(
        self,
        sim_id: str,
        uids: Iterable[str] | None = None,
        *,
        pending_rev: int | None = None,
        removals: bool = False,
        progress: Progress | None = None,
    ) -> AcceptOutcome:
        """Take over what waits for a SIM (row M6).

        What was changed here as well is merged, field by field; where both changed one, what waits
        wins and the lost value is in the outcome. What was changed here and is to be removed stays.

        Whatever error ends it says in `accepted` what was accepted until then, with the values that
        were lost; if it is cancelled, it is `AcceptingCancelled` that does.

        Args:
            sim_id: a SIM in this terminal.
            uids: which contacts; all that wait if not given.
            pending_rev: the revision that was looked at. Without it, what waits now is accepted.
            removals: whether it is meant when more than half of the entries, and more than ten,
                would be removed.
            progress: told how many contacts are done, and of how many.

        Raises:
            UnknownSim: the user has no such SIM.
            SimElsewhere: it is in another terminal.
            LargeRemoval: so much would be removed; all but the removals was accepted.
            RevisionConflict: what waits is not what was looked at any more; look again.
        """
        choice = await self._choice(sim_id, uids, pending_rev)
        return await self._spaces.accepting.accept(choice, removals=removals, progress=progress)

    async def decline_contacts(
        self,
        sim_id: str,
        uids: Iterable[str] | None = None,
        *,
        pending_rev: int | None = None,
        progress: Progress | None = None,
    ) -> int:
        """Decline what waits for a SIM: the phonebook stays, and it does not come back (row M6).

        What was declined stays in the space until an edit made here is stored over it.

        Args:
            sim_id: a SIM in this terminal.
            uids: which contacts; all that wait if not given.
            pending_rev: the revision that was looked at. Without it, what waits now is declined.
            progress: told how many contacts are done, and of how many.

        Returns:
            How many contacts were declined.

        Raises:
            UnknownSim: the user has no such SIM.
            SimElsewhere: it is in another terminal.
            RevisionConflict: what waits is not what was looked at any more; look again.
        """
        choice = await self._choice(sim_id, uids, pending_rev)
        return await self._spaces.accepting.decline(choice, progress=progress)

    async def _choice(
        self, sim_id: str, uids: Iterable[str] | None, pending_rev: int | None
    ) -> Choice:
        carrier_id = await self._spaces.carrier_of(sim_id, here=True)
        return Choice(sim_id, carrier_id, None if uids is None else frozenset(uids), pending_rev)

    async def set_auto_accept(self, sim_id: str, accept: bool) -> None:
        """Accept what waits for a SIM by itself from now on, or no longer.

        It is done when something is told to wait and at every connection, by a terminal that runs
        with `pull`. Large removals, with those of one day counted together, are left waiting and
        told as `LargeRemovalWaiting`. A value that was edited here and is lost is told with the
        update, `ContactUpdated.overwritten`.

        Raises:
            UnknownSim: the user has no such SIM.
        """
        if accept:
            await self._spaces.carrier_of(sim_id, here=False)
        await self._spaces.accepter.choose(sim_id, accept=accept)

    async def auto_accepts(self) -> frozenset[str]:
        """The SIMs for which what waits is accepted by itself."""
        return frozenset(await self.phonebook.accepting())
