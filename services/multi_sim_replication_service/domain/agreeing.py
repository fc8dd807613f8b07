"""What a user says of all accounts or of one: information, consent, following the book."""

from dataclasses import replace

from contactmesh.contracts.multi_sim.commands import FollowBook, SetConsent, SetInformation
from contactmesh.deciding.decision import Decision, Told
from multi_sim_replication_service.domain.following import next_of_book
from multi_sim_replication_service.domain.state import Asking, State
from multi_sim_replication_service.domain.updating import begin


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
    account = replace(account, consent=command.consent)
    told: list[Told] = []
    others = state.accounts_of(asking.user_id) if command.consent else ()
    for other in others:
        if other.key != account.key:
            account, begun = begin(account, other.carrier_id, None, anew=True)
            told.append(begun)
    state.put_account(account)
    return Decision(told=tuple(told))


def follow_book(state: State, asking: Asking, command: FollowBook) -> Decision:
    """Let an account's shared space follow the address book, or no longer.

    It begins with what the book holds, page by page. Said again meanwhile, the page that is next is
    asked for once more.
    """
    account = state.account(asking.user_id, command.carrier_id)
    after = account.book_after if account.follows_book else 0
    if not command.follow:
        after = None
    account = replace(account, follows_book=command.follow, book_after=after)
    state.put_account(account)
    return Decision(told=next_of_book(account, asking.limits.page))
