"""What multi_sim_replication_service is told by its environment."""

from pydantic import Field

from contactmesh.runtime.settings import ServiceSettings
from multi_sim_replication_service.domain.documents import Limits


class SimSettings(ServiceSettings):
    """Settings of multi_sim_replication_service."""

    sim_accounts_limit: int = Field(default=32, ge=1)
    """Accounts of one user."""
    sims_limit: int = Field(default=16, ge=1)
    """SIM cards of one account."""
    space_contacts_limit: int = Field(default=50_000, ge=1)
    """Contacts of one space, for those that its owner stores there."""
    card_bytes_limit: int = Field(default=256 * 1024, ge=1024)
    catch_up_page: int = Field(default=200, ge=1, le=1_000)
    """How many contacts one step of catching up takes over."""

    def limits(self) -> Limits:
        """The limits as the rules take them."""
        return Limits(
            accounts=self.sim_accounts_limit,
            sims=self.sims_limit,
            contacts=self.space_contacts_limit,
            card_bytes=self.card_bytes_limit,
            page=self.catch_up_page,
        )
