"""How much a user may have the registry keep (rows C6 and C7)."""

from dataclasses import dataclass, replace

from contactmesh.contracts.errors import ErrorCode, Refusal


@dataclass(frozen=True, slots=True)
class Quotas:
    """Grants of an owner, revocations not counted, and dial orders of a viewer."""

    grants: int = 10_000
    dial_orders: int = 10_000


@dataclass(frozen=True, slots=True)
class Kept:
    """How much is kept for a user; `etag` guards it against another process that counts too."""

    user_id: str
    grants: int = 0
    dial_orders: int = 0
    etag: int = 0

    def with_grant(self, quotas: Quotas) -> "Kept":
        """With one more grant.

        Raises:
            Refusal: `quota_exceeded`, there are as many as are allowed.
        """
        if self.grants >= quotas.grants:
            raise _too_many(
                f"You have granted looks to {quotas.grants} people, as many as are allowed. Revoke "
                "one of the grants first.",
                quotas.grants,
            )
        return replace(self, grants=self.grants + 1)

    def without_grant(self) -> "Kept":
        """With one grant less."""
        return replace(self, grants=self.grants - 1)

    def with_dial_order(self, quotas: Quotas) -> "Kept":
        """With one more dial order.

        Raises:
            Refusal: `quota_exceeded`, there are as many as are allowed.
        """
        if self.dial_orders >= quotas.dial_orders:
            raise _too_many(
                f"You have dial orders of your own for {quotas.dial_orders} people, as many as are "
                "allowed. Give one of them up first, by an empty order.",
                quotas.dial_orders,
            )
        return replace(self, dial_orders=self.dial_orders + 1)

    def without_dial_order(self) -> "Kept":
        """With one dial order less."""
        return replace(self, dial_orders=self.dial_orders - 1)


def _too_many(why: str, limit: int) -> Refusal:
    return Refusal(ErrorCode.QUOTA_EXCEEDED, why, limit=limit)
