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
from multi_sim_replication_service.domain.pending import tell_anew, tell_gone
from multi_sim_replication_service.domain.state import Asking, State

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
        sim = Sim(_id("sim", asking), command.iccid, command.name, asking.terminal_id)
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
    account, told = _in_terminal(account, sim, asking.terminal_id)
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
    """Take note that a SIM is in the sending terminal now, which is told what waits for it."""
    account, told = _in_terminal(*state.sim(asking.user_id, command.sim_id), asking.terminal_id)
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


def _in_terminal(account: Account, sim: Sim, terminal_id: str) -> tuple[Account, tuple[Told, ...]]:
    """The account with a SIM in a terminal; told is what waits, to it and to the one before."""
    here = replace(sim, terminal_id=terminal_id)
    gone = tell_gone(account, sim) if sim.terminal_id != terminal_id else ()
    if not gone:
        return account.with_sim(here), ()
    account, told = tell_anew(account, here)
    return account, (*gone, *told)


def _without(state: State, account: Account, gone: Sequence[Sim]) -> tuple[Told, ...]:
    if not gone:
        return ()
    left = tuple(sim for sim in account.sims if sim not in gone)
    state.put_account(replace(account, sims=left))
    removed = tuple(
        Told(
            SimRemoved(owner_id=account.user_id, carrier_id=account.carrier_id, sim_id=sim.sim_id),
            account.user_id,
        )
        for sim in gone
    )
    return (*removed, *(told for sim in gone for told in tell_gone(account, sim)))


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
