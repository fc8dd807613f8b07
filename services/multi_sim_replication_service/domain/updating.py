"""Updates under way: what is as large as a book goes page by page (rows M4, M5).

An account says where each of its updates stands, and the page that is next is taken alone. So an
event that comes again goes nowhere, and asking once more costs one event.
"""

from contactmesh.contracts.multi_sim.events import CatchUp
from contactmesh.deciding.decision import Told
from multi_sim_replication_service.domain.documents import Account, Update


def begin(
    account: Account, source: str, sim_id: str | None, *, anew: bool = False
) -> tuple[Account, Told]:
    """Begin an update of an account, or join the one that is under way.

    Args:
        account: the account that receives.
        source: the carrier whose account is copied; its own, to lay its space ready for a SIM.
        sim_id: the SIM that it is for, if it is for one.
        anew: whether one that is under way goes back to its first page.

    Returns:
        The account, not yet put, and the event that asks for the next page.
    """
    update = account.update(source, sim_id)
    if update is None or anew:
        update = Update(source, sim_id)
    return account.with_update(update), next_page(account, update)


def next_page(account: Account, update: Update) -> Told:
    """The event that asks for the page at which an update stands."""
    event = CatchUp(
        owner_id=account.user_id,
        from_carrier_id=update.from_carrier_id,
        to_carrier_id=account.carrier_id,
        sim_id=update.sim_id,
        after=update.after,
    )
    return Told(event, account.user_id)
