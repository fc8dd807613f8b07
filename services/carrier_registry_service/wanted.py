"""Which documents a command's rules look at, so that a batch loads them together."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from carrier_registry_service.domain.facts import milliseconds
from carrier_registry_service.domain.holding import Holder
from carrier_registry_service.domain.registration import Ref
from contactmesh.contracts.carrier.access import DescribeLine, Grant, RevokeGrant, SetDialOrder
from contactmesh.contracts.carrier.check import Check
from contactmesh.contracts.carrier.feed import Began, Feed
from contactmesh.contracts.command import Command
from contactmesh.runtime.commands import Request


@dataclass(slots=True)
class Wanted:
    """What to load."""

    refs: set[Ref] = field(default_factory=set)
    """Sequence numbers, and the records that they lead to."""
    begins: set[tuple[str, Holder]] = field(default_factory=set)
    """Numbers, and who comes to hold them: they lead to the record of the holder before."""
    identities: set[str] = field(default_factory=set)
    """Records that are looked at in any case."""
    looks: set[tuple[str, str]] = field(default_factory=set)
    """(owner, viewer): access and budget, and the record where there is access"""
    granted: set[tuple[str, str]] = field(default_factory=set)
    """(owner, viewer): the batch changes this access, so that what is stored decides nothing yet"""
    ordered: set[tuple[str, str]] = field(default_factory=set)
    """(owner, viewer): the batch changes the viewer's dial order"""


def wanted(requests: Sequence[Request]) -> Wanted:
    """What a batch of commands looks at."""
    all_wanted = Wanted()
    for request in requests:
        WANTS[type(request.command)](all_wanted, request, request.command)
    return all_wanted


def _feed(want: Wanted, request: Request, command: Feed) -> None:
    carrier_id = request.sender.carrier_id
    for entry in command.entries:
        ref = Ref(carrier_id, int(entry.registration_seq))
        want.refs.add(ref)
        if isinstance(entry, Began):
            holder = Holder(milliseconds(entry.valid_from), ref, entry.identity_id)
            want.begins.add((entry.msisdn, holder))
            want.identities.add(entry.identity_id)
            if entry.replaces is not None and entry.replaces.carrier_id == carrier_id:
                want.refs.add(Ref.of(entry.replaces))


def _check(want: Wanted, request: Request, command: Check) -> None:
    if command.identity_id == request.sender.user_id:
        want.identities.add(command.identity_id)
    else:
        want.looks.add((command.identity_id, request.sender.user_id))


def _grant(want: Wanted, request: Request, command: Grant | RevokeGrant) -> None:
    want.granted.add((request.sender.user_id, command.viewer_id))


def _own(want: Wanted, request: Request, command: DescribeLine) -> None:
    want.identities.add(request.sender.user_id)


def _order(want: Wanted, request: Request, command: SetDialOrder) -> None:
    want.ordered.add((command.identity_id, request.sender.user_id))


WANTS: Final[Mapping[type[Command], Callable[[Wanted, Request, Any], None]]] = {
    Feed: _feed,
    Check: _check,
    Grant: _grant,
    RevokeGrant: _grant,
    DescribeLine: _own,
    SetDialOrder: _order,
}
