"""Answering commands that only ask: accounts, what a space holds, what waits for a SIM."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Final, TypeVar

from contactmesh.contracts.command import Sender
from contactmesh.contracts.envelope import Message
from contactmesh.contracts.errors import ErrorCode, Refusal
from contactmesh.contracts.multi_sim.commands import (
    MOST_SHOWN,
    AccountList,
    Entry,
    EntryList,
    ListAccounts,
    ListEntries,
    Pending,
    PendingItem,
    ShowPending,
)
from contactmesh.contracts.multi_sim.records import AccountView, SimView, SpaceKind, SpaceView
from contactmesh.contracts.reply import Result
from contactmesh.messaging.topology import MAX_BODY_BYTES
from contactmesh.runtime.commands import Request
from multi_sim_replication_service.domain.documents import Account, Sim, SimEntry, Space
from multi_sim_replication_service.domain.documents import Entry as StoredEntry
from multi_sim_replication_service.domain.state import no_account, no_sim
from multi_sim_replication_service.repository.reading import Reading

ROOM_BYTES: Final = MAX_BODY_BYTES * 3 // 4
"""How much of a message contacts may take, so that the envelope has room whatever it holds."""

Item = TypeVar("Item", bound=Message)


class Answers:
    """The reading side: each answer is about the sender alone."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading

    async def answer(self, request: Request) -> Result:
        """The result of a reading command.

        Raises:
            Refusal: `not_found`, or `permission_denied` for a private space from elsewhere.
        """
        user_id = request.sender.user_id
        match request.command:
            case ListAccounts():
                return await self._accounts(user_id)
            case ListEntries() as command:
                return await self._entries(request.sender, command)
            case ShowPending() as command:
                return await self._pending(user_id, command)
            case other:
                raise TypeError(f"not a reading command: {type(other).__name__}")

    async def _accounts(self, user_id: str) -> AccountList:
        user = await self._reading.user(user_id)
        accounts = await self._reading.accounts(user_id)
        return AccountList(
            information=user.information, accounts=tuple(_account(one) for one in accounts)
        )

    async def _entries(self, sender: Sender, command: ListEntries) -> EntryList:
        account = await self._reading.account(sender.user_id, command.carrier_id)
        if account is None:
            raise no_account(command.carrier_id)
        if command.space is SpaceKind.PRIVATE:
            _check_holder(account, sender)
        limit = min(command.limit, MOST_SHOWN) if command.cards else command.limit
        found = await self._reading.contacts(
            account.space_id(command.space),
            after=command.after,
            until=account.space(command.space).rev,
            limit=limit + 1,
            cards=command.cards,
        )
        page = _that_fit(
            [Entry(uid=one.uid, digest=one.digest, card=one.card) for one in found[:limit]]
        )
        return EntryList(
            rev=account.space(command.space).rev,
            entries=tuple(page),
            after=found[len(page) - 1].rev if len(page) < len(found) else None,
        )

    async def _pending(self, user_id: str, command: ShowPending) -> Pending:
        """What waits; a contact that changes meanwhile is shown as it is, and decided on anew."""
        account, sim = await self._sim(user_id, command.sim_id)
        found = await self._waiting(sim, command)
        shown = found[: command.limit]
        cards = await self._reading.named(
            account.space_id(SpaceKind.SHARED), [one.uid for one in shown]
        )
        page = _that_fit([_item(one, cards.get(one.uid)) for one in shown])
        return Pending(
            pending_rev=sim.pending_rev,
            waiting=sim.waiting,
            filling=sim.filling,
            items=tuple(page),
            after=found[len(page) - 1].pending_rev if len(page) < len(found) else None,
        )

    async def _waiting(self, sim: Sim, command: ShowPending) -> list[SimEntry]:
        after = command.after
        if command.uids is None:
            return await self._reading.waiting(sim, after=after, limit=command.limit + 1)
        found = await self._reading.waiting_of(sim.view_id, command.uids)
        return [one for one in found if one.pending_rev > after]

    async def _sim(self, user_id: str, sim_id: str) -> tuple[Account, Sim]:
        for account in await self._reading.accounts(user_id):
            for sim in account.sims:
                if sim.sim_id == sim_id:
                    return account, sim
        raise no_sim()


def _check_holder(account: Account, sender: Sender) -> None:
    """Refuse a private space to a terminal that has no SIM of its account (row M3)."""
    if all(sim.terminal_id != sender.terminal_id for sim in account.sims):
        raise Refusal(
            ErrorCode.PERMISSION_DENIED,
            f"No SIM of {account.carrier_id} is in this terminal, and what is private there is "
            "shown to no other. Move one here first.",
        )


def _item(one: SimEntry, entry: StoredEntry | None) -> PendingItem:
    return PendingItem(uid=one.uid, card=None if entry is None else entry.card, over=one.over)


def _that_fit(items: Sequence[Item]) -> list[Item]:
    """As many of the items as a message has room for; one at the least."""
    page: list[Item] = []
    room = ROOM_BYTES
    for item in items:
        room -= len(item.model_dump_json().encode())
        if room < 0 and page:
            break
        page.append(item)
    return page


def _account(account: Account) -> AccountView:
    return AccountView(
        carrier_id=account.carrier_id,
        account_id=account.account_id,
        identification_code=account.identification_code,
        consent=account.consent,
        follows_book=account.follows_book,
        shared=_space(account.shared),
        private=_space(account.private),
        sims=tuple(_sim(one) for one in account.sims),
    )


def _sim(sim: Sim) -> SimView:
    values = asdict(sim)
    del values["view_id"], values["settled_rev"]
    return SimView(**values)


def _space(space: Space) -> SpaceView:
    return SpaceView(rev=space.rev, contacts=space.contacts)
