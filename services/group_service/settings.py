"""What group_service is told by its environment."""

from pathlib import Path
from typing import Final

from pydantic import Field

from contactmesh.runtime.settings import ServiceSettings, read_secret
from group_service.domain.documents import Limits

CURSOR_KEY_BYTES: Final = 32


class GroupSettings(ServiceSettings):
    """Settings of group_service."""

    cursor_key_file: Path
    """A secret of 32 bytes or more that all copies share: it signs the cursors of pulls."""
    owned_groups_limit: int = Field(default=100, ge=1)
    open_invitations_limit: int = Field(default=200, ge=1)
    members_limit: int = Field(default=5_000, ge=2)
    invitation_days: int = Field(default=14, ge=1)
    card_bytes_limit: int = Field(default=256 * 1024, ge=1024)
    default_pull_seconds: int = Field(default=900, ge=10)

    def cursor_key(self) -> bytes:
        """The secret in `cursor_key_file`.

        Raises:
            ValueError: it is too short to be one.
        """
        key = read_secret(self.cursor_key_file)
        if len(key) < CURSOR_KEY_BYTES:
            raise ValueError(
                f"{self.cursor_key_file} holds {len(key)} bytes; put {CURSOR_KEY_BYTES} random "
                "ones or more into it, the same for all copies."
            )
        return key

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
