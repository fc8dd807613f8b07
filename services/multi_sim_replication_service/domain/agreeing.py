"""What a user says of all accounts or of one: information, consent, following the book."""

from dataclasses import replace

from contactmesh.contracts.multi_sim.commands import FollowBook, SetConsent, SetInformation
from contactmesh.contracts.multi_sim.events import CatchUp
from contactmesh.deciding.decision import Decision, Told
from multi_sim_replication_service.domain.state import Asking, State


def set_information(state: State, asking: Asking, command: SetInformation) -> Decision:
    """Set what all accounts say of their user (row M1)."""
    user = state.user(asking.user_id)
    state.users.put(user.user_id, replace(user, information=command.information))
    return Decision()


def set_consent(state: State, asking: Asking, command: SetConsent) -> Decision:
    """Set the consent of the receiving carrier's account; agreed, it catches up (row M4)."""
    account = state.account(asking.user_id, command.carrier_id)
    if account.consent == command.consent:
        return Decision()
    state.put_account(replace(account, consent=command.consent))
    if not command.consent:
        return Decision()
    others = [one for one in state.accounts_of(asking.user_id) if one.key != account.key]
    return Decision(
        told=tuple(
            Told(
                CatchUp(
                    owner_id=asking.user_id,
                    from_carrier_id=other.carrier_id,
                    to_carrier_id=account.carrier_id,
                ),
                asking.user_id,
            )
            for other in others
        )
    )


def follow_book(state: State, asking: Asking, command: FollowBook) -> Decision:
    """Let an account's shared space follow the address book, or no longer."""
    account = state.account(asking.user_id, command.carrier_id)
    state.put_account(replace(account, follows_book=command.follow))
    return Decision()
