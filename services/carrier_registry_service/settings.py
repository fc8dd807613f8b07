"""What carrier_registry_service is told by its environment."""

from collections.abc import Callable
from datetime import timedelta

from pydantic import Field

from carrier_registry_service.domain.budgets import Limits
from carrier_registry_service.domain.lineage import Rules
from carrier_registry_service.domain.quotas import Quotas
from carrier_registry_service.domain.state import Terms
from contactmesh.runtime.settings import ServiceSettings


class RegistrySettings(ServiceSettings):
    """Settings of carrier_registry_service."""

    identities_per_day: int = Field(default=500, ge=1)
    """How many people a viewer may ask about in a day, themselves not counted."""
    failed_references_per_hour: int = Field(default=20, ge=1)
    """How many references that are not the contact's a viewer may send in an hour."""
    inferred_replacement_hours: float = Field(default=24.0, ge=0)
    """Between the end of one registration and the begin of another of the same person, for the
    second to count as the first one's successor when no carrier says so."""
    registrations_limit: int = Field(default=500, ge=1)
    """How many registrations one person, and one number, may come to have at one carrier, ended
    ones included."""

    grants_limit: int = Field(default=10_000, ge=1)
    """How many people an owner may have granted looks to; revocations are not counted."""
    dial_orders_limit: int = Field(default=10_000, ge=1)
    """For how many people a viewer may keep a dial order of their own."""

    def terms(self, today: Callable[[str], str]) -> Terms:
        """The terms as the rules take them; `today` is as in `Rules`."""
        return Terms(
            rules=Rules(timedelta(hours=self.inferred_replacement_hours), today),
            limits=Limits(self.identities_per_day, self.failed_references_per_hour),
            registrations=self.registrations_limit,
            quotas=Quotas(self.grants_limit, self.dial_orders_limit),
        )
