"""Integrators: programs that an operator lets have the contact changes of some scopes."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from contactmesh.contracts.contact import Scope
from contactmesh.contracts.errors import ErrorCode, Refusal
from identity_service.domain.secret import SecretHash


@dataclass(frozen=True, slots=True)
class Integrator:
    """An integrator with what it was granted; it has one queue, which it reads and nothing else."""

    name: str
    scopes: tuple[Scope, ...]
    secret: SecretHash
    added_at: datetime
    etag: int = 0


def add(
    existing: Integrator | None,
    name: str,
    scopes: Iterable[Scope],
    secret: SecretHash,
    now: datetime,
) -> Integrator:
    """A new integrator.

    Raises:
        Refusal: `conflict`, there is one of this name: its secret cannot be shown again, and what
            it was granted is not widened in passing.
    """
    if existing is not None:
        granted = ", ".join(existing.scopes)
        raise Refusal(
            ErrorCode.CONFLICT,
            f"There is an integrator {name} already, for {granted}. Remove it first, or choose "
            "another name.",
        )
    return Integrator(name, tuple(sorted(set(scopes))), secret, now)
