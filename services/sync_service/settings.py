"""What sync_service is told by its environment."""

from datetime import timedelta

from pydantic import Field

from contactmesh.runtime.settings import SealingSettings
from sync_service.domain.documents import Limits


class SyncSettings(SealingSettings):
    """Settings of sync_service."""

    books_limit: int = Field(default=32, ge=1)
    """Address books of one user."""
    book_entries_limit: int = Field(default=50_000, ge=1)
    """Entries of one address book."""
    card_bytes_limit: int = Field(default=256 * 1024, ge=1024)
    history_days: int = Field(default=30, ge=1, le=60)
    """How long versions and conflicts are kept, and tokens are good for; deletions are kept 90."""

    def limits(self) -> Limits:
        """The limits as the rules take them."""
        return Limits(
            books=self.books_limit,
            entries=self.book_entries_limit,
            card_bytes=self.card_bytes_limit,
            kept=timedelta(days=self.history_days),
        )
