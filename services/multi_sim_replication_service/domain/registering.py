"""SIM cards come, move, are replaced, and go (rows M1, M2)."""

from base64 import b32encode
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Final
from uuid import NAMESPACE_OID, uuid5

from contactmesh.contracts.carrier.events import RegistrationRecycled
from contactmesh.contracts.errors import ErrorCode, Refusal
from contactmesh.contracts.multi_sim.commands import (
    MoveSim,
    RegisterSim,
    RemoveSim,
    ReplaceSim,
    SimRegistered,
)
from contactmesh.contracts.multi_sim.events import SimRemoved
from contactmesh.deciding.decision import Decision, Told
from multi_sim_replication_service.domain.documents import Account, Sim
from multi_sim_replication_service.domain.pending import tell_gone
from multi_sim_replication_service.domain.state import Asking, State
from multi_sim_replication_service.domain.updating import begin

CODE_LETTERS: Final = 12


def register(state: State, asking: Asking, command: RegisterSim) -> Decision:
    """Add a SIM to the user's account at its carrier, which is made where there is none."""
    known = state.accounts.get((asking.user_id, command.carrier_id))
    _check_free(state, asking, command.iccid, at=command.carrier_id)
    account = known or _new_account(state, asking, command.carrier_id)
    sim = next((one for one in account.sims if one.iccid == command.iccid), None)
    if sim is None:
        _check_number(
            len(account.sims), asking.limits.sims, "SIMs at this carrier. Remove one first."
        )
        sim = Sim(
            _id("sim", asking),
            command.iccid,
            command.name,
            asking.terminal_id,
            _id("view", asking),
        )
    sim = replace(
        sim,
        name=command.name,
        msisdn=command.msisdn or sim.msisdn,
        registration_seq=command.registration_seq or sim.registration_seq,
    )
    user = state.user(asking.user_id)
    state.users.put(
        user.user_id, replace(user, information=command.information or user.information)
    )
    account, told = _in_terminal(account, sim, asking)
    state.put_account(account)
    return Decision(
        SimRegistered(
            sim_id=sim.sim_id,
            account_id=account.account_id,
            identification_code=account.identification_code,
            created=known is None,
        ),
        told,
    )


def move(state: State, asking: Asking, command: MoveSim) -> Decision:
    """Take note that a SIM is in the sending terminal now, for which all is laid ready."""
    account, told = _in_terminal(*state.sim(asking.user_id, command.sim_id), asking)
    state.put_account(account)
    return Decision(told=told)


def replace_card(state: State, asking: Asking, command: ReplaceSim) -> Decision:
    """Give a SIM the number of the card that its carrier replaced it by."""
    account, sim = state.sim(asking.user_id, command.sim_id)
    if sim.iccid == command.iccid:
        return Decision()
    _check_free(state, asking, command.iccid, at=None)
    state.guard(asking.user_id)
    state.put_account(account.with_sim(replace(sim, iccid=command.iccid)))
    return Decision()


def remove(state: State, asking: Asking, command: RemoveSim) -> Decision:
    """Remove a SIM and what waits for it."""
    account, sim = state.sim(asking.user_id, command.sim_id)
    return Decision(told=_without(state, account, (sim,)))


def recycled(state: State, event: RegistrationRecycled) -> tuple[Told, ...]:
    """Remove the SIMs of a registration whose number was given on to somebody else."""
    account = state.accounts.get((event.owner_id, event.ref.carrier_id))
    if account is None:
        return ()
    gone = [sim for sim in account.sims if sim.registration_seq == event.ref.registration_seq]
    return _without(state, account, gone)


def _in_terminal(account: Account, sim: Sim, asking: Asking) -> tuple[Account, tuple[Told, ...]]:
    """The account with a SIM in the terminal that asks.

    If it was in another one, what that one has seen counts no longer: all that the shared space
    holds is laid ready, and the other terminal is told that nothing waits for it there.
    """
    if sim.terminal_id == asking.terminal_id and account.sim(sim.sim_id) is not None:
        return account.with_sim(sim), ()
    told: tuple[Told, ...] = ()
    if sim.terminal_id != asking.terminal_id:
        told = (_left(account, sim, moved=True), *tell_gone(account, sim))
        sim = replace(
            sim,
            terminal_id=asking.terminal_id,
            view_id=_id("view", asking),
            pending_rev=sim.pending_rev + 1,
        ).with_waiting(0)
    account = account.with_sim(sim)
    if account.shared.contacts or sim.filling:
        account, begun = begin(account, account.carrier_id, sim.sim_id, anew=True)
        told = (*told, begun)
    return account, told


def _without(state: State, account: Account, gone: Sequence[Sim]) -> tuple[Told, ...]:
    if not gone:
        return ()
    ids = {sim.sim_id for sim in gone}
    left = tuple(sim for sim in account.sims if sim.sim_id not in ids)
    updates = tuple(one for one in account.updates if one.sim_id not in ids)
    state.put_account(replace(account, sims=left, updates=updates))
    removed = tuple(_left(account, sim, moved=False) for sim in gone)
    return (*removed, *(told for sim in gone for told in tell_gone(account, sim)))


def _left(account: Account, sim: Sim, *, moved: bool) -> Told:
    event = SimRemoved(
        owner_id=account.user_id,
        carrier_id=account.carrier_id,
        sim_id=sim.sim_id,
        view_id=sim.view_id,
        moved=moved,
    )
    return Told(event, account.user_id)


def _new_account(state: State, asking: Asking, carrier_id: str) -> Account:
    _check_number(
        len(state.accounts_of(asking.user_id)), asking.limits.accounts, "accounts, and have them."
    )
    letters = b32encode(_digest("code", asking)).decode()[:CODE_LETTERS]
    return Account(
        user_id=asking.user_id,
        carrier_id=carrier_id,
        account_id=_id("account", asking),
        identification_code="-".join(letters[at : at + 4] for at in range(0, CODE_LETTERS, 4)),
    )


def _check_free(state: State, asking: Asking, iccid: str, *, at: str | None) -> None:
    """Refuse an ICCID that another SIM of the user has; `at` is a carrier where it may be known."""
    for account in state.accounts_of(asking.user_id):
        if account.carrier_id != at and any(sim.iccid == iccid for sim in account.sims):
            raise Refusal(
                ErrorCode.CONFLICT,
                f"Your SIM with this ICCID is registered at {account.carrier_id}. Remove it there "
                "first, or correct the carrier.",
            )


def _check_number(there: int, limit: int, what: str) -> None:
    if there >= limit:
        raise Refusal(ErrorCode.QUOTA_EXCEEDED, f"You may have {limit} {what}", limit=limit)


def _id(what: str, asking: Asking) -> str:
    return str(uuid5(NAMESPACE_OID, _digest(what, asking).hex()))


def _digest(what: str, asking: Asking) -> bytes:
    return sha256(what.encode() + b"\0" + asking.minted).digest()
