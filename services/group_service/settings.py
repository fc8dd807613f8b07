"""What group_service is told by its environment."""

from pydantic import Field

from contactmesh.runtime.settings import SealingSettings
from group_service.domain.documents import Limits


class GroupSettings(SealingSettings):
    """Settings of group_service."""

    owned_groups_limit: int = Field(default=100, ge=1)
    open_invitations_limit: int = Field(default=200, ge=1)
    members_limit: int = Field(default=5_000, ge=2)
    invitation_days: int = Field(default=14, ge=1)
    card_bytes_limit: int = Field(default=256 * 1024, ge=1024)
    default_pull_seconds: int = Field(default=900, ge=10)

    def limits(self) -> Limits:
        """The limits as the rules take them."""
        return Limits(
            owned_groups=self.owned_groups_limit,
            open_invitations=self.open_invitations_limit,
            members=self.members_limit,
            invitation_days=self.invitation_days,
            card_bytes=self.card_bytes_limit,
            default_pull_seconds=self.default_pull_seconds,
        )
