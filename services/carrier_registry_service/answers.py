"""Answering commands that only ask: own lines, grants, looks."""

from carrier_registry_service.domain.comparison import in_dial_order
from carrier_registry_service.domain.lineage import Lineage, Rules
from carrier_registry_service.domain.registration import Ref
from carrier_registry_service.domain.showing import state_of, usage_of
from carrier_registry_service.repository.reading import Reading
from contactmesh.contracts.carrier.access import (
    Granted,
    GrantList,
    ListGrants,
    ListLooks,
    ListOwnLines,
    Look,
    LookLog,
    OwnLine,
    OwnLines,
)
from contactmesh.contracts.reply import Result
from contactmesh.runtime.commands import Request


class Answers:
    """The reading side of carrier_registry_service: each answer is about the sender alone."""

    def __init__(self, reading: Reading, rules: Rules) -> None:
        self._reading = reading
        self._rules = rules

    async def answer(self, request: Request) -> Result:
        """The result of a reading command."""
        user_id = request.sender.user_id
        match request.command:
            case ListOwnLines():
                return await self._lines(user_id)
            case ListGrants() as command:
                return await self._grants(user_id, command)
            case ListLooks() as command:
                return await self._looks(user_id, command)
            case other:
                raise TypeError(f"not a reading command: {type(other).__name__}")

    async def _lines(self, user_id: str) -> OwnLines:
        record = await self._reading.record(user_id)
        lineage = Lineage(record.registrations.values(), self._rules)
        return OwnLines(
            lines=tuple(
                OwnLine(
                    line=line,
                    state=state_of(one),
                    network_state=one.state.value if one.state is not None else None,
                    usage=usage_of(one),
                )
                for line in in_dial_order(lineage, ())
                for one in (lineage.by_ref[Ref.of(line.ref)],)
            )
        )

    async def _grants(self, user_id: str, command: ListGrants) -> GrantList:
        grants, has_more = await self._reading.grants_of(
            user_id, command.after, limit=command.limit
        )
        return GrantList(
            grants=tuple(
                Granted(
                    viewer_id=grant.viewer_id,
                    details=grant.details,
                    state=grant.state,
                    usage=grant.usage,
                )
                for grant in grants
            ),
            has_more=has_more,
        )

    async def _looks(self, user_id: str, command: ListLooks) -> LookLog:
        looks, has_more = await self._reading.looks_at(user_id, command.before, limit=command.limit)
        return LookLog(
            looks=tuple(
                Look(
                    viewer_id=look.viewer_id,
                    at=look.at,
                    last_at=look.last_at,
                    count=look.count,
                    fields=look.fields,
                    allowed=look.allowed,
                )
                for look in looks
            ),
            has_more=has_more,
        )
