"""Letting others look, and no longer (row C7)."""

from carrier_registry_service.domain.access import Grant
from carrier_registry_service.domain.quotas import Kept
from carrier_registry_service.domain.state import Asking, Decision, State
from contactmesh.contracts.carrier import access as commands
from contactmesh.contracts.errors import invalid_field


def grant(state: State, asking: Asking, command: commands.Grant) -> Decision:
    """Let a viewer see what is granted, and take back a revocation.

    A grant of nothing leaves the viewer with what groups imply.

    Raises:
        Refusal: `quota_exceeded`, the owner has made as many grants to others as are allowed.
    """
    pair = _pair(asking, command.viewer_id)
    kept = _without(state, pair)
    if command.details or command.state or command.usage:
        state.kept.put(asking.sender_id, kept.with_grant(asking.terms.quotas))
        given = Grant(*pair, details=command.details, state=command.state, usage=command.usage)
        state.grants.put(pair, given)
    else:
        state.kept.put(asking.sender_id, kept)
        state.grants.drop(pair)
    return Decision()


def revoke(state: State, asking: Asking, command: commands.RevokeGrant) -> Decision:
    """Let a viewer see nothing, whatever groups the two share. No quota stands in its way."""
    pair = _pair(asking, command.viewer_id)
    state.kept.put(asking.sender_id, _without(state, pair))
    state.grants.put(pair, Grant(*pair, revoked=True))
    return Decision()


def _without(state: State, pair: tuple[str, str]) -> Kept:
    """What is kept for the owner, less the grant to this viewer if there is one."""
    kept, before = state.kept_by(pair[0]), state.grants.get(pair)
    return kept if before is None or before.revoked else kept.without_grant()


def _pair(asking: Asking, viewer_id: str) -> tuple[str, str]:
    if viewer_id == asking.sender_id:
        raise invalid_field("/data/viewer_id", "you see your own numbers in any case")
    return asking.sender_id, viewer_id
